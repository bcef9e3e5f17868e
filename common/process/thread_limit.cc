#include "common/process/thread_limit.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/proc_file.h"
#include "common/process/cgroup.h"
#include "common/status_util.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr uint64_t kCapSysAdmin = 21, kCapSysResource = 24;

std::optional<uint64_t> NumberFrom(const std::string& file) {
  const std::optional<std::string> text = ReadWholeFile(file);
  uint64_t number = 0;
  if (!text.has_value() || !absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &number)) return std::nullopt;
  return number;
}

// The value of a line "NAME:\tVALUE…" of /proc/PID/status. Empty: there is none.
std::string StatusField(const std::string& status, const std::string& name) {
  for (absl::string_view line : absl::StrSplit(status, '\n')) {
    if (!absl::ConsumePrefix(&line, name) || !absl::ConsumePrefix(&line, ":")) continue;
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    return words.empty() ? "" : words.front();
  }
  return "";
}

uint64_t Difference(uint64_t limit, uint64_t used) {
  return limit > used ? limit - used : 0;
}

void Tighten(ThreadLimit candidate, ThreadLimit& closest) {
  if (candidate.left < closest.left) closest = std::move(candidate);
}

void AddGroups(const std::string& root, ThreadLimit& closest) {
  for (const Cgroup& group : CgroupsOfThisProcess("pids", root)) {
    const std::optional<uint64_t> most = NumberFrom(group.directory + "/pids.max");  // nullopt: "max"
    const std::optional<uint64_t> used = NumberFrom(group.directory + "/pids.current");
    if (!most.has_value() || !used.has_value()) continue;
    Tighten({.left = Difference(*most, *used),
             .name = absl::StrCat("pids.max of the control group ", group.name, " is ", *most),
             .advice = "raise it (systemd: TasksMax=, Docker: --pids-limit, Kubernetes: podPidsLimit)",
             .shared_by = group.directory},
            closest);
  }
}

// All threads of the host. Reading it costs nothing, unlike counting those of a user.
std::optional<uint64_t> ThreadsOfHost(const std::string& root) {
  const std::vector<std::string> fields = absl::StrSplit(ReadWholeFile(root + "/proc/loadavg").value_or(""), ' ');
  if (fields.size() < 4) return std::nullopt;
  const std::pair<std::string, std::string> threads = absl::StrSplit(fields[3], '/');
  uint64_t all = 0;
  if (!absl::SimpleAtoi(threads.second, &all)) return std::nullopt;
  return all;
}

uint64_t ThreadsOfUser(const std::string& uid, const std::string& root) {
  uint64_t count = 0;
  DIR* const processes = ::opendir((root + "/proc").c_str());
  if (processes == nullptr) return 0;
  while (const dirent* const entry = ::readdir(processes)) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(entry->d_name[0]))) continue;
    const std::string status =
        ReadWholeFile(absl::StrCat(root, "/proc/", entry->d_name, "/status")).value_or("");
    uint64_t threads = 0;
    if (StatusField(status, "Uid") == uid && absl::SimpleAtoi(StatusField(status, "Threads"), &threads)) {
      count += threads;
    }
  }
  ::closedir(processes);
  return count;
}

// The kernel exempts root, and processes with either of two capabilities.
bool IsExempt(const std::string& status) {
  uint64_t capabilities = 0;
  if (!absl::SimpleHexAtoi(StatusField(status, "CapEff"), &capabilities)) capabilities = 0;
  return StatusField(status, "Uid") == "0" ||
         (capabilities & (uint64_t{1} << kCapSysAdmin | uint64_t{1} << kCapSysResource)) != 0;
}

void AddUser(const std::string& root, const std::optional<uint64_t>& all, ThreadLimit& closest) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const std::string status = ReadWholeFile(root + "/proc/self/status").value_or("");
  if (IsExempt(status)) return;
  const std::string uid = StatusField(status, "Uid");
  // Most limits are far away, even if all threads of the host were this user's.
  constexpr uint64_t kFarAway = 20'000;
  uint64_t left = Difference(limit.rlim_cur, all.value_or(limit.rlim_cur));
  if (left < kFarAway) left = Difference(limit.rlim_cur, ThreadsOfUser(uid, root));
  Tighten({.left = left,
           .name = absl::StrCat("the limit of user ", uid, "'s processes and threads (ulimit -u) is ",
                                static_cast<uint64_t>(limit.rlim_cur)),
           .advice = "raise it with `ulimit -u` (LimitNPROC= of systemd, nproc in limits.conf)",
           .shared_by = absl::StrCat("user ", uid)},
          closest);
}

void AddKernel(const std::string& root, const std::optional<uint64_t>& all, ThreadLimit& closest) {
  for (const char* const name : {"threads-max", "pid_max"}) {
    const std::optional<uint64_t> most = NumberFrom(absl::StrCat(root, "/proc/sys/kernel/", name));
    if (!most.has_value() || !all.has_value()) continue;
    Tighten({.left = Difference(*most, *all),
             .name = absl::StrCat("the kernel's limit (kernel.", name, ") is ", *most),
             .advice = absl::StrCat("raise it with `sysctl kernel.", name, "=N`"),
             .shared_by = "host"},
            closest);
  }
}

std::string Bytes(uint64_t bytes) {
  return FormatBytes(static_cast<double>(bytes));
}

// Which of the limits may have been reached, and how to raise it.
std::string LimitsText() {
  std::vector<std::string> limits;
  const ThreadLimit threads = ThreadLimitOfThisProcess();
  constexpr uint64_t kFew = 200;
  if (threads.left < kFew) limits.push_back(absl::StrCat(threads.name, ", and ", threads.left, " are left: ", threads.advice));
  rlimit limit{};
  for (const auto& [resource, letter] : {std::pair(RLIMIT_AS, 'v'), std::pair(RLIMIT_DATA, 'd')}) {
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    limits.push_back(absl::StrCat("memory is limited to ", Bytes(limit.rlim_cur), ": raise `ulimit -",
                                  std::string(1, letter), "`"));
  }
  if (limits.empty()) return "are threads, processes or memory limited here (ulimit -a, pids.max, memory.max)?";
  return absl::StrJoin(limits, "; ");
}

}  // namespace

ThreadLimit ThreadLimitOfThisProcess(const std::string& root) {
  ThreadLimit closest;
  const std::optional<uint64_t> all = ThreadsOfHost(root);
  AddKernel(root, all, closest);
  AddUser(root, all, closest);
  AddGroups(root, closest);
  return closest;
}

absl::Status CheckThreads(const ThreadLimit& limit, uint64_t needed, const std::string& what,
                          const std::string& advice) {
  if (needed <= limit.left) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      what, " needs ", needed, " threads and processes, but only ", limit.left, " more may be started here, because ",
      limit.name, ": ", limit.advice, advice.empty() ? "" : ", or ", advice));
}

absl::Status Refused(const std::string& what, int errno_value) {
  const absl::Status why = ErrnoStatus(absl::StrCat("cannot ", what), errno_value);
  if (errno_value == EPERM) {
    return absl::ResourceExhaustedError(absl::StrCat(
        why.message(), ": a filter of system calls (seccomp) forbids it, as container runtimes do that do not know ",
        "clone3: update the runtime, or start the container with another seccomp profile"));
  }
  return absl::ResourceExhaustedError(absl::StrCat(why.message(), ": ", LimitsText()));
}

uint64_t AddressSpaceLeft() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  const std::vector<std::string> pages = absl::StrSplit(ReadWholeFile("/proc/self/statm").value_or(""), ' ');
  uint64_t mapped = 0;
  if (!absl::SimpleAtoi(pages.front(), &mapped)) return UINT64_MAX;
  return Difference(limit.rlim_cur, mapped * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace iobench
