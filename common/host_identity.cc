#include "common/host_identity.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/proc_file.h"

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

std::string HostName() {
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

std::string BootId() {
  const std::string text = ReadWholeFile("/proc/sys/kernel/random/boot_id").value_or("");
  return std::string(absl::StripAsciiWhitespace(text));
}

std::optional<ProcessIdentity> OwnIdentity() {
  const std::optional<Process> self = ProcessOf(::getpid());
  std::string place = Place();
  if (!self || place.empty()) return std::nullopt;
  return ProcessIdentity{.place = std::move(place), .pid = ::getpid(), .start_ticks = self->start_ticks};
}

ProcessState StateOf(const ProcessIdentity& identity) {
  if (identity.place.empty() || identity.pid <= 0 || identity.place != Place())
    return ProcessState::kOutOfSight;
  if (const std::optional<Process> process = ProcessOf(identity.pid)) {
    const bool same = process->start_ticks == identity.start_ticks && !process->has_ended;
    return same ? ProcessState::kAlive : ProcessState::kGone;
  }
  // If /proc hides other users' processes (hidepid), kill() still shows that the pid is in use.
  const bool is_free = ::kill(static_cast<pid_t>(identity.pid), 0) != 0 && errno == ESRCH;
  return is_free ? ProcessState::kGone : ProcessState::kOutOfSight;
}

std::string ToLine(const ProcessIdentity& process) {
  return absl::StrCat(process.pid, " ", process.start_ticks, " ", process.place);
}

std::optional<ProcessIdentity> ProcessFromLine(std::string_view line) {
  const std::vector<std::string> words =
      absl::StrSplit(absl::string_view(line.data(), line.size()), absl::MaxSplits(' ', 2));
  ProcessIdentity process;
  if (words.size() != 3 || words[2].empty() || !absl::SimpleAtoi(words[0], &process.pid) ||
      !absl::SimpleAtoi(words[1], &process.start_ticks)) {
    return std::nullopt;
  }
  process.place = words[2];
  return process;
}

}  // namespace iobench
