#include "coordinator/launch/host_jobs.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/status_util.h"
#include "common/text/utf8.h"
#include "common/unique_fd.h"
#include "coordinator/launch/child_processes.h"
#include "coordinator/launch/start_advice.h"

namespace iobench {
namespace {

constexpr size_t kMaxJobOutputBytes = 64 << 10;
constexpr int64_t kBetweenLooksUs = 20'000;
constexpr int64_t kSayFirstAfterNs = 2 * kNanosPerSecond;
constexpr int64_t kSayAgainAfterNs = 5 * kNanosPerSecond;

std::vector<std::string> LinesIn(int file) {
  std::string text(kMaxJobOutputBytes, '\0');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, absl::ByAnyChar("\r\n"), absl::SkipWhitespace())) {
    // ssh prints this for every host that it sees for the first time.
    if (absl::StartsWith(line, "Warning: Permanently added")) continue;
    lines.push_back(AsUtf8(std::string(line)));
  }
  return lines;
}

std::vector<std::string> WaitingOf(std::span<const HostJob> jobs, std::span<const HostOutcome> outcomes) {
  std::vector<std::string> waiting;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (!outcomes[i].ended) waiting.push_back(jobs[i].host);
  }
  return waiting;
}

}  // namespace

absl::StatusOr<std::vector<HostOutcome>> RunOnHosts(std::span<const HostJob> jobs,
                                                    const HostJobOptions& options) {
  ChildProcesses processes(SIGTERM);
  std::vector<UniqueFd> outputs;
  std::vector<HostOutcome> outcomes(jobs.size());
  const int64_t begin_ns = MonotonicNowNs();
  for (const HostJob& job : jobs) {
    UniqueFd& output = outputs.emplace_back(memfd_create("output", MFD_CLOEXEC));
    if (!output.valid()) return ErrnoStatus("memory for what a remote shell prints", errno);
    // A shell parses the user's words, as system() would.
    IOBENCH_RETURN_IF_ERROR(
        processes.Start("/bin/sh", {"sh", "-c", absl::StrCat("exec ", job.command)}, output.get(), SIGTERM));
  }
  int64_t say_at_ns = begin_ns + kSayFirstAfterNs;
  for (size_t running = jobs.size(); running > 0;) {
    if (const auto ended = processes.NextEnded()) {
      HostOutcome& outcome = outcomes[ended->index];
      outcome.ended = true;
      outcome.well = ended->ending.well();
      outcome.exit_code = ended->ending.exit_code();
      outcome.ending = ended->ending.Text();
      --running;
      continue;
    }
    const int64_t now_ns = MonotonicNowNs();
    const bool late = options.timeout_s > 0 && now_ns >= begin_ns + NanosFrom(options.timeout_s);
    if (late || (options.stop != nullptr && options.stop())) {
      processes.Hurry();
      break;
    }
    if (now_ns >= say_at_ns) {
      say_at_ns = now_ns + kSayAgainAfterNs;
      if (options.on_waiting != nullptr) options.on_waiting(WaitingOf(jobs, outcomes), SecondsFrom(now_ns - begin_ns));
      // Nobody will answer, so it would wait for ever.
      for (size_t i = 0; i < jobs.size(); ++i) {
        if (!outcomes[i].ended && AsksForSecret(LinesIn(outputs[i].get()))) processes.Signal(i, SIGTERM);
      }
    }
    usleep(kBetweenLooksUs);
  }
  for (size_t i = 0; i < jobs.size(); ++i) outcomes[i].lines = LinesIn(outputs[i].get());
  return outcomes;
}

}  // namespace iobench
