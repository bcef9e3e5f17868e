// Removes what preflight and validate left in a directory because they were killed, for `cluster-iobench clean`.
#ifndef WORKER_CHECK_LEFT_CHECKS_H_
#define WORKER_CHECK_LEFT_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

struct LeftChecks {
  uint64_t removed_files = 0;        // check files
  uint64_t removed_directories = 0;  // of validate
  std::vector<std::string>
      foreign;  // not touched: the first 10 paths that are named like ours, or lie in what is ours
  std::vector<std::string> refused;  // why others were left: their run is alive or cannot be seen from
                                     // here, or they cannot be read or removed
};

// Removes the check files and the directories of validate in `path`. Each says which process it belongs to: a check
// file in its contents, a directory of validate in the file "owner". Anything with other contents, or other names than
// validate makes, is not ours and stays; symbolic links are not followed. What belongs to a process that is alive
// stays, too; what belongs to one that cannot be seen from here is removed only with `if_out_of_sight_too`. Fails only
// if the directory cannot be read. May block as long as the file system does.
absl::StatusOr<LeftChecks> RemoveLeftChecks(const std::string& path, bool if_out_of_sight_too);

}  // namespace iobench

#endif  // WORKER_CHECK_LEFT_CHECKS_H_
