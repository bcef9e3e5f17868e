// What a run asks of the data directories of its targets: claim, mark, remove.
#ifndef WORKER_DATA_STEPS_H_
#define WORKER_DATA_STEPS_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"
#include "worker/data_directory.h"

namespace iobench {

// Remembers which claims were refused: where a run was refused its directory it must not mark or remove what another
// run has there. One thread; blocks, as file systems do.
class DataSteps {
 public:
  // At every target, whether or not it could be done at another; the first error is given back. `done` is put together
  // from those where it could.
  absl::Status Do(uint64_t run_id, const v1::DataStep& step, v1::DataStepDone& done);

 private:
  using Run = std::pair<uint64_t, std::string>;  // run, path

  absl::StatusOr<CleanReport> DoAt(const std::string& path, uint64_t run_id, const v1::DataStep& step,
                                   v1::DataClaim& claim);

  std::set<Run> refused_claims_;
};

}  // namespace iobench

#endif  // WORKER_DATA_STEPS_H_
