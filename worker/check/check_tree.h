// The directories in which validate works: PATH/cluster-iobench.validate-RUN/dN. Every name below is made here from
// numbers, so that no request reaches anybody else's file.
#ifndef WORKER_CHECK_CHECK_TREE_H_
#define WORKER_CHECK_CHECK_TREE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "iobench/v1/control.pb.h"
#include "worker/storage/directory.h"

namespace iobench {

// "cluster-iobench.validate-00000000000000ff"
std::string CheckTreeName(uint64_t run_id);
// The file in the tree that says whose tree it is; see left_checks.h.
inline constexpr char kTreeOwnerName[] = "owner";
// "f12"; LONGEST and TOO_LONG begin with it and are filled up to 255 and 256 bytes.
std::string TreeFileName(uint32_t file, v1::FileAction::Style style);

// How a directory is opened. kFresh makes an NFS client ask its server whether the directory has changed; kAsKnown
// leaves its caches as they are.
enum class DirectoryOpening { kFresh, kAsKnown };

// Statuses name the path and have the errno. No function follows a symbolic link below the target.
class CheckTree {
 public:
  // Opens the target, which must be mounted: Unimplemented for a URL. PermissionDenied: the worker's roots do not cover
  // it.
  static absl::StatusOr<CheckTree> At(const std::string& target, uint64_t run_id);

  absl::StatusOr<UniqueFd> OpenDirectory(uint32_t directory, DirectoryOpening opening) const;
  // An existing directory is no error. The worker that makes the tree also notes in the file "owner" whose it is:
  // `process` (ToLine), which is the run's coordinator; if that names none, this process.
  absl::Status MakeDirectory(uint32_t directory, std::string_view process = {}) const;
  // Removes the directory with everything that is directly in it; 0: all directories, then the file "owner" and the
  // tree itself.
  absl::Status Remove(uint32_t directory) const;
  std::string PathOf(uint32_t directory, const std::string& name) const;

 private:
  CheckTree(std::unique_ptr<Directory> target, std::string name)
      : target_(std::move(target)), name_(std::move(name)) {}

  std::unique_ptr<Directory> target_;
  std::string name_;
};

}  // namespace iobench

#endif  // WORKER_CHECK_CHECK_TREE_H_
