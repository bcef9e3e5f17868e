// The paths that a worker opens for a coordinator: all, or only those below its own list of roots (worker --root).
#ifndef WORKER_RIGHTS_ALLOWED_PATHS_H_
#define WORKER_RIGHTS_ALLOWED_PATHS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/nfs_url.h"
#include "common/unique_fd.h"
#include "worker/rights/root_identity.h"

namespace iobench {

// Constant after its creation, but for what it learns of its roots; any thread may use it.
//
// Below a root, a path is opened with OpenBeneath (open_beneath.h). The path above a root is the user's own, and its
// symbolic links are followed, once. A root is opened anew for each use, because an open descriptor would keep its file
// system from being unmounted; it must then be the directory that it was at first (RootIdentity).
class AllowedPaths {
 public:
  // Allows all paths: for workers whose plan comes from their own user.
  AllowedPaths() = default;
  // Allows only what lies at or below one of `roots`: directories, which need not exist yet, or nfs://HOST/PATH.
  // InvalidArgument: a malformed URL.
  static absl::StatusOr<AllowedPaths> Below(const std::vector<std::string>& roots);

  bool are_all() const { return all_; }
  // The status of the errno, or InvalidArgument: a root that is not a URL is not a directory now.
  absl::Status CheckRootsExist() const;
  // For messages: "/mnt/nfs, nfs://server/export".
  std::string ToText() const;

  // Opens a path as open(2) does, with O_CLOEXEC. Errors begin with `what`, which says what is opened, and are those of
  // ErrnoStatus. If not all paths are allowed, PermissionDenied says which rule the path violates: it is relative,
  // contains "..", lies below no root, or leads through a symbolic link below its root.
  absl::StatusOr<UniqueFd> Open(const std::string& what, const std::string& path, int flags,
                                mode_t mode = 0) const;
  // Opens the directory that contains the path, and sets `name` to the last part of the path. Errors as above.
  absl::StatusOr<UniqueFd> OpenParent(const std::string& what, const std::string& path,
                                      std::string& name) const;
  // PermissionDenied: the URL lies below no root, or has another port, uid, gid or interface than that root: what a root
  // does not name is not the coordinator's choice. InvalidArgument: it is malformed.
  absl::Status CheckUrl(const std::string& url) const;
  // PermissionDenied: the mount point neither contains a root nor lies below one.
  absl::Status CheckMountPoint(const std::string& mount_point) const;

 private:
  struct Root {
    std::string given;     // absolute, without "." and "..", without a slash at its end
    std::string resolved;  // the same without symbolic links
    std::shared_ptr<RootIdentity> identity;
  };

  absl::Status Refusal(const std::string& what, const std::string& path, const std::string& why) const;
  const Root* RootOf(const std::string& path, std::string& below) const;

  bool all_ = true;
  std::vector<Root> roots_;
  std::vector<NfsUrl> urls_;
};

// Returns true if `path` equals `root` or lies below it. Both are absolute and normalised. Pure.
bool IsAtOrBelowRoot(const std::string& path, const std::string& root);

}  // namespace iobench

#endif  // WORKER_RIGHTS_ALLOWED_PATHS_H_
