#include "worker/client/remount.h"

#include <sys/mount.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/status_util.h"
#include "worker/rights/worker_rights.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

constexpr int64_t kPatienceNs = 10 * kNanosPerSecond;  // for unmounting and mounting together
constexpr int64_t kLookAgainNs = 50'000'000;

struct Flag {
  std::string_view option;
  uint64_t flag;
};
constexpr std::array<Flag, 14> kFlags = {{
    {"rw", 0},
    {"ro", MS_RDONLY},
    {"nosuid", MS_NOSUID},
    {"nodev", MS_NODEV},
    {"noexec", MS_NOEXEC},
    {"sync", MS_SYNCHRONOUS},
    {"dirsync", MS_DIRSYNC},
    {"mand", MS_MANDLOCK},
    {"noatime", MS_NOATIME},
    {"nodiratime", MS_NODIRATIME},
    {"relatime", MS_RELATIME},
    {"strictatime", MS_STRICTATIME},
    {"lazytime", MS_LAZYTIME},
    {"seclabel", 0},  // the kernel shows it but does not accept it
}};

// The newest mount on the mount point.
std::optional<Mount> MountAt(const std::string& mount_point, const std::vector<Mount>& mounts) {
  std::optional<Mount> newest;
  for (const Mount& mount : mounts) {
    if (mount.mount_point == mount_point) newest = mount;
  }
  return newest;
}

bool IsFuse(std::string_view filesystem) {
  const std::string_view type = filesystem.substr(0, filesystem.find('.'));
  return type == "fuse" || type == "fuseblk";
}

bool IsSmb(std::string_view filesystem) {
  return filesystem == "cifs" || filesystem == "smb3" || filesystem == "smbfs";
}

// The kernel does not show the password of an SMB mount. Only Kerberos and guests need none.
bool NeedsNoPassword(const std::string& options) {
  for (const absl::string_view option : absl::StrSplit(options, ',')) {
    if (option == "guest" || option == "sec=none" || absl::StartsWith(option, "sec=krb5")) return true;
  }
  return false;
}

absl::Status CheckMountable(const Mount& mount) {
  const auto cannot = [&](const char* why) {
    return absl::InvalidArgumentError(
        absl::StrCat("-U ", mount.mount_point, " (", mount.filesystem, "): ", why));
  };
  if (mount.mount_point == "/") return cannot("the root cannot be unmounted");
  if (mount.root != "/")
    return cannot(
        "it "
        "is part of a file system (a bind mount): give that file system's own mount");
  if (IsFuse(mount.filesystem)) {
    return cannot("the kernel does not show how a FUSE file system was mounted, so it cannot be remounted");
  }
  if (IsSmb(mount.filesystem) && !NeedsNoPassword(mount.options)) {
    return cannot(
        "the kernel does not show its password, so it cannot be remounted: mount it with sec=krb5, or leave "
        "out -U");
  }
  // The kernel's CephFS shows "secret=<hidden>".
  if (absl::StrContains(mount.options, "<hidden>")) {
    return cannot("the kernel hides the secret in its options, so it cannot be remounted: leave out -U");
  }
  if (IsMemoryFilesystem(mount.filesystem)) {
    return cannot("its files exist only in memory, and unmounting destroys them");
  }
  return absl::OkStatus();
}

absl::Status CheckNothingBelow(const std::string& mount_point, const std::vector<Mount>& mounts) {
  for (const Mount& mount : mounts) {
    if (!absl::StartsWith(mount.mount_point, absl::StrCat(mount_point, "/"))) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("-U ", mount_point, ": another file system is mounted in it, at ", mount.mount_point));
  }
  return absl::OkStatus();
}

// Returns what is mounted there, if it can be unmounted and mounted again.
absl::StatusOr<Mount> MountToRenew(const std::string& mount_point, const std::vector<Mount>& mounts,
                                   MountSystem& system) {
  if (!system.IsRoot()) {
    return absl::PermissionDeniedError(absl::StrCat(
        "-U ", mount_point, ": only root may unmount: run the workers as root, or leave out -U"));
  }
  const std::optional<Mount> mount = MountAt(mount_point, mounts);
  if (!mount) {
    return absl::InvalidArgumentError(
        absl::StrCat("-U ", mount_point,
                     ": nothing is mounted there; give the mount point itself, not a directory in it"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckMountable(*mount));
  return *mount;
}

absl::Status Unmount(const std::string& mount_point, const std::vector<Mount>& mounts, int64_t until_ns,
                     MountSystem& system) {
  for (;;) {
    const int error = system.Unmount(mount_point);
    if (error == 0) return absl::OkStatus();
    if (error != EBUSY) return ErrnoStatus(absl::StrCat("unmount ", mount_point), error);
    if (system.NowNs() >= until_ns) break;
    system.Sleep(kLookAgainNs);
  }
  IOBENCH_RETURN_IF_ERROR(CheckNothingBelow(mount_point, mounts));
  const std::string users = system.UsersOf(mount_point);
  return absl::FailedPreconditionError(absl::StrCat("-U ", mount_point, ": still in use after 10 s",
                                                    users.empty() ? ", by the kernel itself" : " by ",
                                                    users));
}

// A server that we have just disconnected from may need a moment.
bool MayPass(int error) {
  return error == EBUSY || error == EAGAIN || error == ETIMEDOUT || error == ECONNREFUSED ||
         error == EHOSTUNREACH || error == EINTR;
}

absl::Status MountAgain(const Mount& mount, int64_t until_ns, MountSystem& system) {
  const MountArguments arguments = MountArgumentsFrom(mount.options);
  int error = 0;
  for (;;) {
    error = system.Mount(mount.source, mount.mount_point, mount.filesystem, arguments.flags, arguments.data);
    if (error == 0) return absl::OkStatus();
    if (!MayPass(error) || system.NowNs() >= until_ns) break;
    system.Sleep(kLookAgainNs);
  }
  const std::string said =
      system.MountByProgram(mount.source, mount.mount_point, mount.filesystem, mount.options);
  if (said.empty()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(mount.mount_point, " was unmounted and cannot be mounted again: ",
                   ErrnoStatus(absl::StrCat("mount ", mount.source), error).message(), "; ", said));
}

absl::Status CheckMayRemount(const std::string& mount_point) {
  IOBENCH_RETURN_IF_ERROR(CheckAllowed(WorkerAction::kRemount));
  return RightsOfThisWorker().paths.CheckMountPoint(mount_point);
}

}  // namespace

MountArguments MountArgumentsFrom(const std::string& options) {
  MountArguments arguments;
  std::vector<std::string> data;
  for (const absl::string_view part : absl::StrSplit(options, ',', absl::SkipEmpty())) {
    const std::string_view option(part.data(), part.size());
    const auto known = std::find_if(kFlags.begin(), kFlags.end(),
                                    [option](const Flag& flag) { return flag.option == option; });
    if (known == kFlags.end()) {
      data.emplace_back(option);
    } else {
      arguments.flags |= known->flag;
    }
  }
  arguments.data = absl::StrJoin(data, ",");
  return arguments;
}

absl::StatusOr<std::string> Remount(const std::string& mount_point, MountSystem& system) {
  IOBENCH_RETURN_IF_ERROR(CheckMayRemount(mount_point));
  const std::vector<Mount> mounts = ParseMountinfo(system.Mountinfo());
  IOBENCH_ASSIGN_OR_RETURN(const Mount mount, MountToRenew(mount_point, mounts, system));
  const int64_t until_ns = system.NowNs() + kPatienceNs;
  IOBENCH_RETURN_IF_ERROR(Unmount(mount_point, mounts, until_ns, system));
  IOBENCH_RETURN_IF_ERROR(MountAgain(mount, until_ns, system));
  return absl::StrCat(mount.source, " (", mount.filesystem, ") on ", mount_point);
}

absl::Status CheckRemount(const std::string& mount_point, MountSystem& system) {
  IOBENCH_RETURN_IF_ERROR(CheckMayRemount(mount_point));
  const std::vector<Mount> mounts = ParseMountinfo(system.Mountinfo());
  IOBENCH_RETURN_IF_ERROR(MountToRenew(mount_point, mounts, system).status());
  return CheckNothingBelow(mount_point, mounts);
}

}  // namespace iobench
