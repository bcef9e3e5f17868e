// A run's actions on the data directories of its targets: claim, mark, remove.
#ifndef WORKER_DATA_DIRECTORY_DATA_STEPS_H_
#define WORKER_DATA_DIRECTORY_DATA_STEPS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"
#include "worker/data_directory/remove_files.h"

namespace iobench {

// One object lives as long as the worker's session; only its task thread uses it. It remembers which claims were
// refused, because a run must not mark or remove another run's data in a directory that it was refused. May block as
// long as the file system does.
class DataSteps {
 public:
  // Performs the step at every target, even if it failed at another, and returns the first error. `done` combines the
  // results of the targets where it succeeded.
  absl::Status Do(uint64_t run_id, const v1::DataStep& step, v1::DataStepDone& done);
  // Gives up all data that this object has claimed and neither removed nor kept (DisownData): the run has ended or lost
  // its coordinator, and this process may live on. Call it before the worker puts down its marks (LeaveOrphanedData):
  // after the last mark, the data are removed.
  absl::Status Disown();

 private:
  using Run = std::pair<uint64_t, std::string>;  // run, path

  absl::StatusOr<CleanReport> DoAt(const std::string& path, uint64_t run_id, const v1::DataStep& step,
                                   v1::DataClaim& claim);
  absl::StatusOr<CleanReport> RemoveAt(const Run& run, const v1::DataClaim& claim);

  // Filled by a refused CLAIM, and emptied by one that succeeds.
  std::set<Run> refused_claims_;
  // Filled by a CLAIM that succeeds, and emptied when the data are removed or kept.
  std::map<Run, v1::DataClaim> claims_;
};

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_DATA_STEPS_H_
