#include "worker/data_directory/claimant.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/host_identity.h"
#include "common/proc_file.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

// Fields of /proc/PID/stat, counted from the field after the name, which may contain blanks and brackets.
constexpr size_t kStateField = 0;
constexpr size_t kStartField = 19;

// Returns the scope in which a pid is valid: "3b9c… pid:[4026531836]". Empty: unknown.
std::string Place() {
  const std::string boot = BootId();
  std::error_code error;
  const std::string processes = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  if (boot.empty() || error) return "";
  return absl::StrCat(boot, " ", processes);
}

struct Process {
  uint64_t start_ticks = 0;
  bool has_ended = false;  // it has ended, but its parent has not waited for it
};

std::optional<Process> ProcessOf(int64_t pid) {
  const std::optional<std::string> stat = ReadWholeFile(absl::StrCat("/proc/", pid, "/stat"));
  if (!stat) return std::nullopt;
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields = absl::StrSplit(stat->substr(name_end + 1), ' ', absl::SkipEmpty());
  Process process;
  if (fields.size() <= kStartField || !absl::SimpleAtoi(fields[kStartField], &process.start_ticks)) {
    return std::nullopt;
  }
  process.has_ended = fields[kStateField] == "Z" || fields[kStateField] == "X";
  return process;
}

}  // namespace

void SignClaim(v1::Manifest& manifest) {
  const std::optional<Process> self = ProcessOf(::getpid());
  const std::string place = Place();
  if (!self || place.empty()) return;
  manifest.set_boot_id(place);
  manifest.set_pid(::getpid());
  manifest.set_process_start_ticks(self->start_ticks);
}

v1::TargetFacts::Owner OwnerOf(const v1::Manifest& manifest) {
  if (manifest.boot_id().empty() || manifest.pid() <= 0 || manifest.boot_id() != Place()) {
    return v1::TargetFacts::OUT_OF_SIGHT;
  }
  if (const std::optional<Process> process = ProcessOf(manifest.pid())) {
    const bool same = process->start_ticks == manifest.process_start_ticks() && !process->has_ended;
    return same ? v1::TargetFacts::ALIVE : v1::TargetFacts::GONE;
  }
  // If /proc hides other users' processes (hidepid), kill() still shows that the pid is in use.
  const bool is_free = ::kill(static_cast<pid_t>(manifest.pid()), 0) != 0 && errno == ESRCH;
  return is_free ? v1::TargetFacts::GONE : v1::TargetFacts::OUT_OF_SIGHT;
}

}  // namespace iobench
