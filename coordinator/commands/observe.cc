#include "coordinator/commands/observe.h"

#include <fcntl.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/clock.h"
#include "common/host_identity.h"
#include "common/proc_file.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/files/files.h"
#include "coordinator/mix/mix.h"
#include "coordinator/mix/observed_mix.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/text/text_table.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/signals.h"
#include "worker/client/mountstats.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

constexpr char kOwnMountstats[] = "/proc/self/mountstats";
constexpr uint64_t kMaxMountstatsBytes = uint64_t{64} << 20;
constexpr double kMaxNapSeconds = 0.2;
constexpr size_t kTableColumns = 120;

// One reading of the counters of a mount.
struct MountReading {
  int64_t at_ns = 0;
  std::optional<NfsMountCounters> mount = {};  // nullopt: it is not mounted
};

absl::StatusOr<std::vector<NfsMountCounters>> ReadMounts(const std::string& file) {
  const auto text = files::ReadWhole("--mountstats", file, kMaxMountstatsBytes);
  if (!text.ok()) {
    IOBENCH_RETURN_IF_ERROR(files::UnansweredCall(file, ErrnoOf(text.status())));
    return absl::NotFoundError(absl::StrCat(
        "cannot read ", file,
        ": the kernel of this host keeps no statistics of mounts, or this user may not see them"));
  }
  return ParseMountstats(*text);
}

// The longest mount point that is `path` or above it.
const NfsMountCounters* MountAbove(const std::vector<NfsMountCounters>& mounts, const std::string& path) {
  const NfsMountCounters* found = nullptr;
  for (const NfsMountCounters& mount : mounts) {
    const bool above = mount.mount_point == "/" || path == mount.mount_point ||
                       absl::StartsWith(path, absl::StrCat(mount.mount_point, "/"));
    if (above && (found == nullptr || mount.mount_point.size() >= found->mount_point.size())) found = &mount;
  }
  return found;
}

std::string MountPointsOf(const std::vector<NfsMountCounters>& mounts) {
  std::vector<std::string> points;
  for (const NfsMountCounters& mount : mounts) points.push_back(mount.mount_point);
  return mounts.empty() ? "this host has no NFS mount"
                        : absl::StrCat("NFS is mounted at ", absl::StrJoin(points, ", "));
}

// The mount of a path by its name alone; nullopt: none.
std::optional<Mount> MountByName(const std::string& path) {
  const std::vector<Mount> mounts = ParseMountinfo(ReadWholeFile("/proc/self/mountinfo").value_or(""));
  const Mount* const mount = MountOfPath(mounts, path);
  return mount == nullptr ? std::nullopt : std::optional(*mount);
}

// The mount that a directory of this process is on. Does not access the directory if its name is enough, because a
// server that does not answer would hang the call; otherwise follows its links, and an automounter may mount it.
absl::StatusOr<std::optional<Mount>> MountOfDirectory(const std::string& path) {
  const std::optional<Mount> mount = MountByName(path);
  if (mount.has_value() && IsNfs(mount->filesystem)) return mount;
  const files::HeldFile mounted = files::Open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // for the automounter
  IOBENCH_RETURN_IF_ERROR(files::UnansweredTarget(path, mounted.valid() ? 0 : errno));
  const std::string real = files::Canonical(path);
  return mounted.valid() && !real.empty() ? MountByName(real) : mount;
}

// Returns the mount point of the NFS mount that the options name.
absl::StatusOr<std::string> FindMountPoint(const ObserveCommand& options) {
  std::error_code error;
  std::string path = std::filesystem::absolute(options.path, error).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (options.mountstats == kOwnMountstats) {
    IOBENCH_ASSIGN_OR_RETURN(const std::optional<Mount> mount, MountOfDirectory(path));
    if (!mount.has_value() || !IsNfs(mount->filesystem)) {
      if (!files::Exists(path))
        return absl::NotFoundError(
            absl::StrCat(options.path, " does not exist, and no NFS is mounted above it"));
      const auto mounts = ReadMounts(options.mountstats);
      return absl::InvalidArgumentError(
          absl::StrCat(options.path, " is not on NFS but on ",
                       mount.has_value() ? mount->filesystem : "an unknown file system",
                       ": observe reads the counters of an NFS mount, and ",
                       MountPointsOf(mounts.ok() ? *mounts : std::vector<NfsMountCounters>())));
    }
    path = mount->mount_point;
  }
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<NfsMountCounters> mounts, ReadMounts(options.mountstats));
  const NfsMountCounters* const mount = MountAbove(mounts, path);
  if (mount != nullptr) return mount->mount_point;
  return absl::InvalidArgumentError(
      absl::StrCat(options.mountstats, " has no NFS mount at ", path, ": ", MountPointsOf(mounts)));
}

MountReading ReadNow(const ObserveCommand& options, const std::string& mount_point) {
  MountReading reading{.at_ns = MonotonicNowNs()};
  const auto mounts = ReadMounts(options.mountstats);
  if (!mounts.ok()) return reading;
  if (const NfsMountCounters* mount = FindNfsMount(*mounts, mount_point)) reading.mount = *mount;
  return reading;
}

// Returns when it is time, or earlier after an interrupt.
void SleepUntil(int64_t until_ns) {
  while (!TheInterrupt().raised()) {
    const double left_s = SecondsFrom(until_ns - MonotonicNowNs());
    if (left_s <= 0) return;
    const int64_t nap_ns = NanosFrom(std::min(left_s, kMaxNapSeconds));
    const timespec nap{.tv_sec = 0, .tv_nsec = nap_ns};
    nanosleep(&nap, nullptr);
  }
}

// When to read after the reading that was due at `due_ns` and done at `done_ns`. Counters move in steps, so a very
// short interval gives bogus rates: a reading that is due within half an interval of a late one is skipped.
int64_t NextDue(int64_t due_ns, int64_t done_ns, int64_t interval_ns) {
  const int64_t late_intervals = (done_ns - due_ns + interval_ns / 2) / interval_ns;
  return due_ns + (1 + late_intervals) * interval_ns;
}

// Takes the readings; says on stderr when the mount goes away or comes back.
class Observer {
 public:
  Observer(const ObserveCommand& options, std::string mount_point)
      : options_(options), mount_point_(std::move(mount_point)) {}

  // Returns what was seen. FailedPrecondition: no interval counts.
  absl::StatusOr<v1::MixGroup> Run() {
    ObservedMount about{.client = HostName(), .mount_point = mount_point_, .started_at = WallClockIso8601()};
    MountReading before = ReadNow(options_, mount_point_);
    const int64_t begin_ns = before.at_ns, end_ns = begin_ns + std::llround(options_.for_s * 1e9);
    if (before.mount.has_value()) {
      about.source = before.mount->source;
      about.filesystem = before.mount->filesystem;
    }
    std::cerr << "observing " << Printable(mount_point_) << " (" << Printable(about.source) << ", "
              << about.filesystem << ") for " << FormatSeconds(options_.for_s) << ", a reading every "
              << FormatSeconds(options_.interval_s) << "; an interrupt (Ctrl-C) ends it early" << std::endl;
    const int64_t interval_ns = std::llround(options_.interval_s * 1e9);
    for (int64_t due_ns = begin_ns; before.at_ns < end_ns && !TheInterrupt().raised();) {
      due_ns = NextDue(due_ns, before.at_ns, interval_ns);
      if (end_ns - due_ns < interval_ns / 2) due_ns = end_ns;
      SleepUntil(due_ns);
      MountReading after = ReadNow(options_, mount_point_);
      Note(before, after, begin_ns);
      before = std::move(after);
    }
    if (load_.interval_count() > 0) return load_.Group(about);
    return absl::FailedPreconditionError(absl::StrCat(
        "the mount at ", mount_point_,
        " was unmounted or remounted in every interval, so nothing was recorded; use a shorter --interval"));
  }

 private:
  void Note(const MountReading& before, const MountReading& after, int64_t begin_ns) {
    if (before.mount.has_value() != after.mount.has_value()) {
      std::cerr << Printable(mount_point_)
                << (after.mount.has_value() ? " is mounted again"
                                            : " is no longer mounted: this time is excluded")
                << std::endl;
    }
    std::optional<v1::NfsDelta> delta;
    if (before.mount.has_value() && after.mount.has_value()) {
      delta = NfsDeltaBetween(*before.mount, *after.mount);
      if (!delta.has_value()) {
        std::cerr << Printable(mount_point_) << " was remounted: the interval before is excluded"
                  << std::endl;
      }
    }
    if (!delta.has_value()) return load_.AddLost();
    const double seconds = SecondsFrom(after.at_ns - before.at_ns);
    if (seconds > 0) load_.Add(SecondsFrom(before.at_ns - begin_ns), seconds, *delta);
  }

  const ObserveCommand& options_;
  const std::string mount_point_;
  ObservedLoad load_;
};

std::string Number(double value) {
  if (value == 0) return "0";
  return value < 10 ? absl::StrFormat("%.2g", value) : absl::StrFormat("%.0f", value);
}

// What was seen, request by request, for people.
void PrintSummary(const v1::Mix& mix, std::ostream& out) {
  using Align = TextTable::Align;
  const v1::Observation& observed = mix.groups(0).observed();
  TextTable table({{"request", Align::kLeft},
                   {"per s"},
                   {"max"},
                   {"bytes"},
                   {"rtt ms"},
                   {"execute ms"},
                   {"in flight"},
                   {"replayed"},
                   {"as", Align::kLeft}});
  for (const v1::ObservedRequest& request : observed.requests()) {
    table.AddRow({Printable(request.name()), Number(request.per_s()), Number(request.max_per_s()),
                  request.mean_bytes() > 0 ? FormatBytes(static_cast<double>(request.mean_bytes())) : "",
                  Number(request.rtt_ms()), Number(request.execute_ms()), Number(request.in_flight()),
                  Number(request.replayed_per_s()), request.replayed_as().empty() ? "-" : request.replayed_as()});
  }
  for (const std::string& line : table.Lines(kTableColumns)) out << line << '\n';
  for (const v1::ObservedRequest& request : observed.requests()) {
    if (request.not_replayed().empty()) continue;
    out << Printable(request.name()) << " is not reproduced: " << request.not_replayed() << '\n';
  }
  out << "observed for " << FormatSeconds(observed.seconds()) << " in " << observed.intervals_size()
      << " intervals";
  if (observed.lost_intervals() > 0) {
    out << ", excluding " << observed.lost_intervals() << " in which it was not mounted or was remounted";
  }
  out << std::endl;
}

// Writes the mix to --output, or to standard output.
int WriteMix(const ObserveCommand& options, const v1::Mix& mix) {
  const std::string text = MixFileText(mix);
  if (options.output.empty()) {
    std::cout << text << std::flush;
    return ExitOfPrinting(kExitOk, kExitIo);
  }
  const absl::Status written = WriteFileAtomically(options.output, [&text](std::ostream& out) {
    out << text;
    return absl::OkStatus();
  });
  if (!written.ok()) return Fail(written, kExitIo);
  std::cout << "wrote " << Printable(options.output) << std::endl;
  return ExitOfPrinting(kExitOk, kExitIo);
}

int Merge(const ObserveCommand& options) {
  std::vector<v1::Mix> mixes;
  for (const std::string& file : options.merge) {
    auto mix = ReadMix(file);
    if (!mix.ok()) return Fail(mix.status(), kExitUsage);
    mixes.push_back(*std::move(mix));
  }
  const auto merged = MergeMixes(mixes);
  return merged.ok() ? WriteMix(options, *merged) : Fail(merged.status(), kExitUsage);
}

}  // namespace

int Observe(const ObserveCommand& options) {
  if (!options.output.empty()) {
    const absl::Status writable = CheckOutputFile(options.output, options.replace);
    if (!writable.ok()) return Fail(writable, kExitUsage);
  }
  if (!options.merge.empty()) return Merge(options);
  const auto mount_point = FindMountPoint(options);
  if (!mount_point.ok()) return Fail(mount_point.status(), kExitUsage);
  auto group = Observer(options, *mount_point).Run();
  if (!group.ok()) return Fail(group.status(), kExitUsage);
  if (group->parts().empty()) {
    return Fail(absl::FailedPreconditionError(absl::StrCat(
                    "no request that can be replayed reached the server of ", *mount_point, " in ",
                    FormatSeconds(group->observed().seconds()), ": observe while applications are running")),
                kExitUsage);
  }
  const v1::Mix mix = MixOfObservation(*std::move(group));
  PrintSummary(mix, options.output.empty() ? std::cerr : std::cout);
  return WriteMix(options, mix);
}

}  // namespace iobench
