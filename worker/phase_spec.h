// What a phase asks of every lane of a worker, worked out once from the Prepare request.
#ifndef WORKER_PHASE_SPEC_H_
#define WORKER_PHASE_SPEC_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/operation.h"
#include "iobench/v1/control.pb.h"
#include "worker/engine/io_engine.h"
#include "worker/file_set.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

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
  v1::TimedRegion region;
  v1::StopRule stop;
  bool shared_file = false;
  bool drops_caches = false;
  bool preallocates = false;
  bool data_must_exist = false;
  WorkerClock clock;
  TickSource ticks = TickSource::kMonotonic;
  double loop_ns = 0;  // what the timed loop itself takes per op, for tool_s

  bool works_on_tree() const { return uses_files && operation->is_metadata(); }
  bool creates_files() const { return uses_files && operation->creates_files; }
  bool needs_data() const { return uses_files && operation->needs_data; }

  // InvalidArgument: unknown operation, engine or step, no lanes, or sizes that do not fit.
  static absl::StatusOr<PhaseSpec> From(const v1::Prepare& prepare, const WorkerClock& clock, double loop_ns);
};

}  // namespace iobench

#endif  // WORKER_PHASE_SPEC_H_
