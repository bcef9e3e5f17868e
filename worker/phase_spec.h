// What a phase asks of every lane of a worker, worked out once from the Prepare request.
#ifndef WORKER_PHASE_SPEC_H_
#define WORKER_PHASE_SPEC_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/operation.h"
#include "iobench/v1/control.pb.h"
#include "worker/binding.h"
#include "worker/engine/io_engine.h"
#include "worker/file_set.h"
#include "worker/pattern/op_stream.h"
#include "worker/trace_file.h"

namespace iobench {

using LanePlans = google::protobuf::RepeatedPtrField<v1::LanePlan>;

inline std::string TraceFileOf(const v1::Trace& trace, const v1::LanePlan& lane) {
  return absl::StrCat(trace.write_file(), ".", lane.lane());
}

// Values only; shared by the lanes' threads, which do not change it.
struct PhaseSpec {
  const OperationSpec* operation = nullptr;  // a row of the table: lives as long as the program
  std::string engine;
  bool uses_files = true;  // false: null engine
  StreamShape shape;       // lane and mix are the lane's
  OpenMode mode;           // read and write are the lane's
  EngineOptions engine_options;
  v1::Tree tree;  // metadata operations
  v1::DataContent data;
  v1::DataStamp stamp;  // data.verify
  v1::Between between;
  Places places;  // that lanes are bound to; empty: they are not
  v1::Trace trace;
  std::shared_ptr<const TraceOps> replayed;  // the ops of trace.read_file; null: the operation's own
  size_t most_traced_ops = 0;                // of a lane, for trace.write_file
  v1::TimedRegion region;
  v1::StopRule stop;
  bool shared_file = false;
  bool drops_caches = false;
  bool preallocates = false;
  bool keeps_existing = false;              // new files are made only where there are none
  bool truncates = false;                   // lanes that write begin with an empty file
  std::vector<std::string> existing_files;  // of the user's: read in place of ours
  bool interleaved = false;                 // shared file: the lanes' records take turns
  double rest_s = 0;                        // before anything else
  bool data_must_exist = false;
  std::vector<v1::DataClaim> claims;  // index = target: whose data are to be there
  WorkerClock clock;
  TickSource ticks = TickSource::kMonotonic;
  double loop_ns = 0;  // what the timed loop itself takes per op, for tool_s

  bool works_on_tree() const { return uses_files && operation->is_metadata(); }
  v1::DataClaim ClaimOf(const v1::LanePlan& lane) const {
    return lane.target() < claims.size() ? claims[lane.target()] : v1::DataClaim();
  }
  bool creates_files() const { return uses_files && operation->creates_files; }
  bool needs_data() const { return uses_files && operation->needs_data; }

  // Reads the trace that is to be replayed. InvalidArgument: unknown operation, engine or step, no lanes, sizes that do
  // not fit, a bad line of a trace. AlreadyExists: a file of a trace that is to be written.
  static absl::StatusOr<PhaseSpec> From(const v1::Prepare& prepare, const WorkerClock& clock, double loop_ns);

 private:
  absl::Status TakeTrace(const v1::Trace& asked, const LanePlans& lanes);
};

}  // namespace iobench

#endif  // WORKER_PHASE_SPEC_H_
