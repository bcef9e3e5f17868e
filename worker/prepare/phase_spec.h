// The parts of a Prepare request that apply to all lanes of a worker, evaluated once.
#ifndef WORKER_PREPARE_PHASE_SPEC_H_
#define WORKER_PREPARE_PHASE_SPEC_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/model/engine.h"
#include "common/model/operation.h"
#include "iobench/v1/control.pb.h"
#include "worker/client/binding.h"
#include "worker/engine/io_engine.h"
#include "worker/loop/file_set.h"
#include "worker/pattern/interleaved.h"
#include "worker/pattern/op_stream.h"
#include "worker/prepare/trace_file.h"

namespace iobench {

using LanePlans = google::protobuf::RepeatedPtrField<v1::LanePlan>;

// Returns the file that a lane writes its trace to: FILE.LANE, by the lane's number within the run.
inline std::string TraceFileOf(const v1::Trace& trace, const v1::LanePlan& lane) {
  return absl::StrCat(trace.write_file(), ".", lane.lane());
}

// Returns the part of a stream's shape that says where its ops begin: the files, and the size of an op. REQUIRES:
// object_count > 0.
StreamShape GridOf(Call call, uint64_t record_bytes, uint64_t bytes_per_lane, uint32_t object_count);

// This rank's part in a phase with collective I/O; null: each lane works alone. With --fsync-every, a round of ops ends with
// each flush, which all ranks make together.
std::shared_ptr<RanksTogether> RanksTogetherFor(const v1::Operation& operation);

// Returns the rate at which ops of this worker are due. REQUIRES: the operation has arrivals.
ArrivalRate ArrivalRateOf(const v1::Prepare& prepare);

// Plain values. The lanes' threads share the object and do not change it.
struct PhaseSpec {
  // A row of the operation table, valid forever.
  const OperationSpec* operation = nullptr;
  // The name of the engine that really runs the operation, never an alias or a stand-in.
  std::string engine;
  bool uses_files = true;  // false for the null engine
  // The parts of these two that differ between lanes are set by LaneWork: lane and mix, read and write.
  StreamShape shape;
  OpenMode mode;
  EngineOptions engine_options;
  v1::Tree tree;  // metadata operations
  v1::DataContent data;
  v1::DataStamp stamp;  // used if data.verify is set
  v1::Between between;
  BindingSlots binding_slots;  // slots that lanes are bound to; empty: no binding
  v1::Trace trace;
  OldTrace old_traces = OldTrace::kRefused;  // where trace.write_file is written
  // The ops of trace.read_file, shared by all lanes; null: the operation's own.
  std::shared_ptr<const TraceOps> replayed;
  // When ops begin, for all lanes; null: each lane begins an op when its previous one has ended.
  std::shared_ptr<Arrivals> arrivals;
  // How many ops a lane records for trace.write_file, and for trace.offset_latency: its share of kMaxTraceOps.
  size_t max_traced_ops = 0;
  bool only_lane = false;   // the run has no other lane
  uint32_t lane_count = 0;  // of this worker in the phase
  v1::TimedRegion region;
  OpKinds flush_calls;  // of lanes that write
  v1::StopRule stop;
  bool shared_file = false;
  // The steps that the lanes take part in, and how they create files.
  bool drops_caches = false;
  bool verifies_cold = false;  // --cold
  bool preallocates = false;
  bool keeps_existing = false;  // creates files only where they are missing
  bool truncates = false;       // lanes that write start with an empty file
  // The user's files, by absolute path, which are read instead of our own.
  std::vector<std::string> existing_files;
  bool interleaved = false;  // shared file: the lanes' records alternate …
  uint64_t block_bytes = 0;  // … in blocks of this size
  double rest_s = 0;         // rest before everything else
  // Missing or short files are an error instead of being prefilled, because the data of an earlier run is used.
  bool data_must_exist = false;
  uint64_t needed_bytes = 0;      // the operation uses only the first so many bytes of each lane's files; 0: all
  bool leaves_unflushed = false;  // what is in memory after the timed region need not be flushed
  // Index = target: the run whose data must be there.
  std::vector<v1::DataClaim> claims;
  WorkerClock clock;
  TickSource ticks = TickSource::kMonotonic;
  // The time in ns that the timed loop itself needs per op, for the tool's share in reports.
  double loop_ns = 0;

  // True if the lanes' "files" are trees of names. The metadata operations of the null engine work on nothing.
  bool works_on_tree() const { return uses_files && operation->is_metadata(); }
  // Returns the claim of the lane's target; run_id 0: it is not checked.
  v1::DataClaim ClaimOf(const v1::LanePlan& lane) const {
    return lane.target() < claims.size() ? claims[lane.target()] : v1::DataClaim();
  }
  // How the lane's records are spread over its file.
  Interleave InterleaveOf(const v1::LanePlan& lane) const {
    if (!interleaved || operation->is_metadata() || block_bytes == 0) return {};
    return {.count = std::max(1u, lane.interleave_count()), .block_bytes = block_bytes};
  }
  bool creates_files() const { return uses_files && operation->creates_files; }
  bool needs_data() const { return uses_files && operation->needs_data; }

  // Evaluates the request and reads the trace that is to be replayed. InvalidArgument: unknown operation, engine or
  // step, no lanes, inconsistent sizes, or an invalid line in the trace. ResourceExhausted: it needs more memory than
  // this worker takes. AlreadyExists: the file of a trace to be written exists, or the file of an op log exists and is
  // not one.
  static absl::StatusOr<PhaseSpec> From(const v1::Prepare& prepare, const WorkerClock& clock, double loop_ns);

 private:
  void ReadFiles(const v1::Prepare& prepare);
  void ReadArrivals(const v1::Prepare& prepare);
  void ReadOperation(const v1::Operation& asked);
  absl::Status ReadTrace(const v1::Prepare& prepare, const EngineSpec& used_engine);
  EngineOptions EngineOptionsFor(const v1::Operation& asked) const;
};

}  // namespace iobench

#endif  // WORKER_PREPARE_PHASE_SPEC_H_
