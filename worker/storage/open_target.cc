#include "worker/storage/open_target.h"

#include "absl/strings/str_cat.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "worker/rights/worker_rights.h"
#include "worker/storage/local_directory.h"
#include "worker/storage/nfs_directory.h"

namespace iobench {

absl::StatusOr<std::unique_ptr<Directory>> OpenTarget(const std::string& path) {
  if (!IsNfsUrl(path)) return LocalDirectory::Open(path);
  IOBENCH_RETURN_IF_ERROR(RightsOfThisWorker().paths.CheckUrl(path));
  IOBENCH_ASSIGN_OR_RETURN(const NfsUrl url, ParseNfsUrl(path));
#ifdef IOBENCH_HAS_LIBNFS
  return NfsDirectory::Open(url);
#else
  return absl::UnimplementedError(absl::StrCat(
      url.ToText(),
      ": this build of cluster-iobench has no libnfs: install libnfs-dev and rebuild, or mount the "
      "export and give its directory"));
#endif
}

}  // namespace iobench
