#include "coordinator/commands/clean_hosts.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "common/version.h"
#include "coordinator/launch/host_jobs.h"
#include "coordinator/launch/host_list.h"
#include "coordinator/launch/remote_shell.h"
#include "coordinator/launch/start_advice.h"
#include "coordinator/launch/worker_copy.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/signals.h"

namespace iobench {
namespace {

constexpr size_t kMaxNamed = 4;
// Words of the message by which `clean` refuses data whose run it sees alive (worker/data_directory).
constexpr char kSeenAlive[] = " is in use";

std::string OwnProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

// A remote shell begins in the login directory, so a relative path would name another directory there.
std::vector<std::string> AbsoluteDirectories(const CleanupCommand& clean) {
  std::vector<std::string> directories;
  directories.reserve(clean.directories.size());
  for (const std::string& directory : clean.directories) directories.push_back(AbsolutePath(directory));
  return directories;
}

void SayWhoIsWaitedFor(const std::vector<std::string>& waiting, double seconds) {
  const size_t named = std::min(waiting.size(), kMaxNamed);
  std::cerr << "waiting for " << waiting.size() << (waiting.size() == 1 ? " host" : " hosts") << " after "
            << FormatSeconds(seconds) << ": "
            << Printable(
                   absl::StrJoin(waiting.begin(), waiting.begin() + static_cast<ptrdiff_t>(named), ", "))
            << (waiting.size() > named ? " …" : "") << std::endl;
}

// One host, over both rounds.
struct CleanedHost {
  HostEntry entry;
  std::vector<std::string> done;    // what was removed or left alone
  std::vector<std::string> faults;  // why it failed, with what to do
};

class HostCleaner {
 public:
  HostCleaner(const CleanupCommand& clean, std::vector<HostEntry> entries)
      : clean_(clean), shell_(LauncherFor(clean.launcher)), directories_(AbsoluteDirectories(clean)) {
    for (HostEntry& entry : entries) hosts_.push_back({.entry = std::move(entry), .done = {}, .faults = {}});
  }

  absl::Status Clean() {
    std::vector<size_t> all(hosts_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    if (!directories_.empty()) {
      IOBENCH_RETURN_IF_ERROR(Run(all, CleanCommand(directories_, false, OwnProgram(), Copy())));
      // Another host may have seen what this one could not, and have removed it.
      const std::vector<size_t> again = Refused();
      const bool force = clean_.force && !seen_alive_;
      if (!again.empty() && !stopped()) {
        for (const size_t index : again) hosts_[index].faults.clear();
        IOBENCH_RETURN_IF_ERROR(Run(again, CleanCommand(directories_, force, OwnProgram(), Copy())));
      }
    }
    return clean_.copies && !stopped() ? Run(all, RemoveCopiesCommand()) : absl::OkStatus();
  }

  // Prints the table. Returns the number of hosts that failed.
  size_t Print() const {
    size_t failed = 0, columns = 4;
    for (const CleanedHost& host : hosts_) columns = std::max(columns, host.entry.ToText().size());
    for (const bool with_faults : {false, true}) {
      for (const CleanedHost& host : hosts_) {
        if (host.faults.empty() == with_faults) continue;
        failed += with_faults ? 1 : 0;
        for (const std::string& text : host.done) PrintRow(host, columns, text);
        for (const std::string& text : host.faults) PrintRow(host, columns, absl::StrCat("FAILED: ", text));
      }
    }
    std::cout << hosts_.size() - failed << " of " << hosts_.size()
              << (hosts_.size() == 1 ? " host is" : " hosts are") << " clean" << std::endl;
    return failed;
  }

 private:
  const ShippedProgram* Copy() const { return copy_.ok() ? &*copy_ : nullptr; }
  static bool stopped() { return TheInterrupt().raised(); }

  static void PrintRow(const CleanedHost& host, size_t columns, const std::string& text) {
    std::string name = Printable(host.entry.ToText());
    name.resize(std::max(name.size(), columns), ' ');
    std::cout << name << "  " << Printable(text) << std::endl;
  }

  // Hosts on which `clean` itself refused, so they were reached.
  std::vector<size_t> Refused() const {
    std::vector<size_t> refused;
    for (size_t i = 0; i < hosts_.size(); ++i) {
      const auto& faults = hosts_[i].faults;
      if (std::any_of(faults.begin(), faults.end(), [](const std::string& fault) {
            return absl::StrContains(fault, "cannot be seen from here");
          })) {
        refused.push_back(i);
      }
    }
    return refused;
  }

  absl::Status Run(const std::vector<size_t>& which, const std::string& command) {
    std::vector<HostJob> jobs;
    for (const size_t index : which) {
      const HostEntry& entry = hosts_[index].entry;
      jobs.push_back({.host = entry.ToText(), .command = ShellCommand(shell_, entry, command)});
    }
    absl::StatusOr<std::vector<HostOutcome>> outcomes = RunOnHosts(
        jobs, {.timeout_s = clean_.timeout_s, .stop = stopped, .on_waiting = SayWhoIsWaitedFor});
    if (!outcomes.ok()) return outcomes.status();
    for (size_t i = 0; i < which.size(); ++i) Note(hosts_[which[i]], (*outcomes)[i]);
    return absl::OkStatus();
  }

  void Note(CleanedHost& host, const HostOutcome& outcome) {
    for (std::string line : outcome.lines) {
      const bool is_fault = absl::StartsWith(line, "cluster-iobench: ");
      if (is_fault) line = line.substr(sizeof("cluster-iobench: ") - 1);
      seen_alive_ |= absl::StrContains(line, kSeenAlive);
      if (is_fault && !outcome.well) {
        host.faults.push_back(std::move(line));
      } else if (outcome.well || absl::StartsWith(line, "removed ") || absl::StartsWith(line, "left alone")) {
        host.done.push_back(std::move(line));
      }
    }
    if (!outcome.ended) {
      host.faults.push_back(stopped() ? "interrupted"
                                      : absl::StrCat("not done after ", FormatSeconds(clean_.timeout_s),
                                                     ": check whether a file system hangs there"));
    } else if (!outcome.well && host.faults.empty()) {
      const StartFailure failure{.host = host.entry.ToText(), .exit_code = outcome.exit_code};
      const std::string cause = CauseIn(failure, outcome.lines), advice = AdviceFor(failure, outcome.lines);
      host.faults.push_back(
          absl::StrCat(cause.empty() ? absl::StrCat("its remote shell ended with ", outcome.ending) : cause,
                       advice.empty() ? "" : "; ", advice));
    }
  }

  const CleanupCommand& clean_;
  const std::string shell_;
  const std::vector<std::string> directories_;
  std::vector<CleanedHost> hosts_;
  // What --copy-binary ships. Without it here, no copy on a host can be trusted.
  const absl::StatusOr<ShippedProgram> copy_ = FindWorkerProgram(kProgramVersion);
  bool seen_alive_ = false;  // some host saw the run that has the data alive
};

}  // namespace

int CleanHosts(const CleanupCommand& clean) {
  absl::StatusOr<std::vector<HostEntry>> entries = HostsOf(clean.hosts);
  if (!entries.ok()) return FailEach(entries.status(), kExitUsage);
  const std::string shell = LauncherFor(clean.launcher);
  if (const absl::Status fits = CheckLauncher(shell, *entries); !fits.ok()) return FailEach(fits, kExitUsage);
  if (const absl::Status exists = CheckLauncherExists(shell); !exists.ok()) return Fail(exists, kExitUsage);
  HostCleaner cleaner(clean, *std::move(entries));
  if (const absl::Status cleaned = cleaner.Clean(); !cleaned.ok()) return Fail(cleaned, kExitUsage);
  const size_t failed = cleaner.Print();
  if (TheInterrupt().raised()) return kExitInterrupted;
  return ExitOfPrinting(failed == 0 ? kExitOk : kExitPartial, kExitIo);
}

}  // namespace iobench
