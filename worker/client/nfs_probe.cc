#include "worker/client/nfs_probe.h"

#include <unistd.h>

#include <cerrno>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "worker/client/client_probe.h"
#include "worker/rights/worker_rights.h"
#include "worker/storage/nfs_directory.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

#ifdef IOBENCH_HAS_LIBNFS

// Adds advice to the error of a server that accepts calls only from ports below 1024, unless the error already has it.
absl::Status WithAdvice(const absl::Status& status) {
  const bool may_be_the_port =
      absl::IsPermissionDenied(status) || absl::StrContains(status.message(), "not accepted by the server");
  if (!may_be_the_port || ::geteuid() == 0 || absl::StrContains(status.message(), "insecure")) return status;
  return absl::PermissionDeniedError(
      absl::StrCat(status.message(),
                   ": the server may refuse ports above 1023; export it with \"insecure\", or run as root"));
}

// Returns the user that is sent to the server.
std::string UserOf(const NfsUrl& url) {
  for (const auto& [name, value] : url.arguments) {
    if (name == "uid") return value;
  }
  return absl::StrCat(::geteuid());
}

absl::Status Describe(const NfsUrl& url, const std::string& boot_id, v1::TargetFacts& target) {
  auto directory = NfsDirectory::Open(url);
  if (!directory.ok()) return WithAdvice(directory.status());
  const absl::StatusOr<NfsFacts> facts = (*directory)->ReadFilesystemFacts();
  if (!facts.ok()) return WithAdvice(facts.status());
  target.set_filesystem("nfs3 (libnfs)");
  target.set_mount_source(url.Source());
  target.set_mount_options(
      absl::StrCat("vers=3,rsize=", facts->read_max_bytes, ",wsize=", facts->write_max_bytes));
  for (const auto& [name, value] : url.arguments) {
    absl::StrAppend(target.mutable_mount_options(), ",", name, "=", value);
  }
  target.set_network(true);
  // All exports of one file system of a server are the same, regardless of path: the server numbers its file systems.
  const std::string on_server = absl::StrCat(url.Server(), " ", absl::Hex(facts->filesystem_number));
  target.set_filesystem_id(on_server);
  if (url.IsOfThisHost()) target.set_boot_id(boot_id);
  *target.mutable_space() = facts->space;
  if (facts->space.total_bytes() > 0) target.set_free_bytes(facts->space.available_bytes());
  if (!facts->may_make_files) {
    return ErrnoStatus(
        absl::StrCat(url.ToText(), " is not writable for user ", UserOf(url),
                     " (the server may map root to nobody: use ?uid=N&gid=N, or change its owner)"),
        EACCES);
  }
  return DescribeData(**directory, target);
}

#else

absl::Status Describe(const NfsUrl& url, const std::string&, v1::TargetFacts&) {
  return OpenTarget(url.ForLibnfs()).status();
}

#endif

}  // namespace

v1::TargetFacts ProbeNfsTarget(const std::string& url, const std::string& boot_id) {
  v1::TargetFacts target;
  const auto parsed = ParseNfsUrl(url);
  absl::Status status = parsed.status();
  if (status.ok()) status = RightsOfThisWorker().paths.CheckUrl(url);
  if (status.ok()) status = Describe(*parsed, boot_id, target);
  if (!status.ok()) {
    *target.mutable_problem() = ToProblem(status);
    target.mutable_problem()->set_file(url);
  }
  return target;
}

}  // namespace iobench
