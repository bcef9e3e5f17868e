#include "coordinator/preflight/cause.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/units.h"

namespace iobench {
namespace {

// nfs(5), exports(5), and what nfsd answers in the lab.
constexpr Cause kCauses[] = {
    {.error = EROFS,
     .check = "storage",
     .meaning = "nothing can be written there",
     .on_nfs =
         "this client has it mounted read-write, so the server decides: export it with rw (`exportfs -v` shows "
         "what it exports), and mount the server's own file system read-write",
     .elsewhere = "it was mounted read-write: look into the kernel's log for errors that made it read-only",
     .after_fault =
         "after the fault the server offers it read-only: check its export and the state of its file system",
     .stops = true},
    {.error = EACCES,
     .check = "identity",
     .meaning = "the workers' user may not do that there",
     .on_nfs =
         "the server decides: root is another user there unless the export says no_root_squash, and all users are "
         "with all_squash: give the directory to the user that the workers become (anonuid), or let that user "
         "write there; `exportfs -v` shows whether this client is among those of the export",
     .elsewhere = "give the directory to the workers' user, or let that user write there"},
    {.error = EPERM,
     .check = "identity",
     .meaning = "the workers' user may not do that there",
     .on_nfs =
         "the server decides: check squashing (root_squash, all_squash), sec= and the owner of the directory",
     .elsewhere = "check the owner and the attributes of the directory (immutable, append-only)"},
    {.error = ENOSPC,
     .check = "space",
     .meaning = "no space is left",
     .on_nfs =
         "make space on the server's file system, inodes too (`df` and `df -i` there; root may use reserved "
         "blocks that others may not)",
     .elsewhere = "make space there, inodes too (`df` and `df -i`)",
     .stops = true},
    {.error = EDQUOT,
     .check = "space",
     .meaning = "a quota is used up",
     .on_nfs =
         "raise the quota on the server, of the user or group that owns the files there (`repquota` on the server; "
         "a squashed user has that of the user it becomes), or remove files of theirs",
     .elsewhere = "raise the quota of the workers' user, or remove files of theirs",
     .stops = true},
    {.error = ESTALE,
     .check = "storage",
     .meaning = "the server no longer knows the directory that this client has mounted",
     .on_nfs =
         "the directory was removed, replaced or is no longer exported to this client: check the export on the "
         "server (`exportfs -v`), keep its fsid= and file system the same, and mount it again",
     .elsewhere =
         "the directory was removed, replaced or is no longer offered to this client (an NFS server tells with "
         "`exportfs -v`): mount it again",
     .after_fault =
         "after the fault the server no longer knows the files: a server that takes over must export the same "
         "file system under the same fsid= and path, with the same inode numbers",
     .stops = true},
    {.error = ENOENT,
     .check = "storage",
     .meaning = "the directory is gone",
     .on_nfs = "let nobody remove it while it is checked",
     .elsewhere = "let nobody remove it while it is checked",
     .after_fault =
         "after the fault the directory is gone: the server lost it, or offers another file system",
     .stops = true},
    {.error = EIO,
     .check = "storage",
     .meaning = "the file system reports an I/O error",
     .on_nfs =
         "look into the kernel's logs of client and server: a broken disk, a server that refuses the export, or a "
         "soft mount that gave up",
     .elsewhere = "look into the kernel's log for errors of the disk or the connection",
     .after_fault =
         "after the fault calls fail instead of waiting: mount with hard, and look into the server's log"},
    {.error = ENOTCONN,
     .check = "storage",
     .meaning = "the client's connection to the file system has ended",
     .on_nfs = "mount it again",
     .elsewhere =
         "the process that serves the mount (FUSE) has ended or lost its servers: look into its log, and mount "
         "it again",
     .after_fault =
         "after the fault the client gave up its connection: replicate over servers, or mount it again",
     .stops = true},
    {.error = EHOSTDOWN,
     .check = "storage",
     .meaning = "the server does not answer",
     .on_nfs = "check the server and the network to it",
     .elsewhere = "check the server and the network to it",
     .after_fault = "check how long the takeover takes, and mount with hard"},
    {.error = ETIMEDOUT,
     .check = "storage",
     .meaning = "the server did not answer in time",
     .on_nfs = "mount with hard, and check the server and the network to it",
     .elsewhere = "check the server and the network to it",
     .after_fault = "check how long the takeover takes, and mount with hard"},
};

bool HasOption(const v1::TargetFacts& seen, absl::string_view name) {
  const std::vector<absl::string_view> options = absl::StrSplit(seen.mount_options(), ',');
  return std::find(options.begin(), options.end(), name) != options.end();
}

}  // namespace

const Cause* CauseOf(int error) {
  const auto found = std::find_if(std::begin(kCauses), std::end(kCauses),
                                  [error](const Cause& cause) { return cause.error == error; });
  return found == std::end(kCauses) ? nullptr : found;
}

std::string FreeText(const v1::Space& space) {
  std::vector<std::string> free;
  if (space.total_bytes() > 0) {
    free.push_back(absl::StrCat(FormatBytes(static_cast<double>(space.available_bytes())), " of ",
                                FormatBytes(static_cast<double>(space.total_bytes()))));
  }
  if (space.total_items() > 0) {
    free.push_back(absl::StrCat(FormatCount(static_cast<double>(space.available_items())), " of ",
                                FormatCount(static_cast<double>(space.total_items())), " inodes"));
  }
  return free.empty() ? "" : absl::StrCat(absl::StrJoin(free, " and "), " are free");
}

std::string MeaningOf(const Cause& cause, const v1::TargetFacts& seen) {
  const std::string free = cause.error == ENOSPC ? FreeText(seen.space()) : "";
  const bool only_inodes = !free.empty() && seen.space().total_items() > 0 &&
                           seen.space().available_items() == 0 && seen.space().available_bytes() > 0;
  return absl::StrCat(ErrnoName(cause.error), ": ", only_inodes ? "no inode is left" : cause.meaning,
                      free.empty() ? "" : absl::StrCat(" (", free, ")"));
}

std::string AdviceOn(const Cause& cause, const v1::TargetFacts& seen) {
  if (cause.error == EROFS && HasOption(seen, "ro")) return "mount it read-write on this client";
  return seen.filesystem().starts_with("nfs") ? cause.on_nfs : cause.elsewhere;
}

}  // namespace iobench
