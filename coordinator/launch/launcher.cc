#include "coordinator/launch/launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/clock.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "common/text/utf8.h"
#include "common/transport/grpc_address.h"
#include "coordinator/launch/start_advice.h"

namespace iobench {
namespace {

constexpr size_t kMaxOutputBytes = 4096;  // used for messages: from the beginning, and as much from the end
constexpr size_t kMaxOutputLines = 8;     // shown of a shell that failed, besides its cause
constexpr size_t kMaxMissing = 4;         // named at once while waiting
constexpr char kSlotEnded[] = "the worker at position ";
// After a fault, the other hosts get the first time, from the start, to join or to fail too (an ssh that reaches nobody
// ends after 10 s), and at least the second, from the fault, for hosts that are slow to start.
constexpr int64_t kOthersFromStartNs = 12 * kNanosPerSecond;
constexpr int64_t kOthersFromFaultNs = 2 * kNanosPerSecond;

bool IsThisHost(const std::string& client) {
  return client == "localhost" || client == "::1" || absl::StartsWith(client, "127.");
}

std::string WithoutBrackets(const std::string& host) {
  absl::string_view bare = host;
  if (absl::ConsumePrefix(&bare, "[")) absl::ConsumeSuffix(&bare, "]");
  return std::string(bare);
}

absl::StatusOr<UniqueFd> MemoryFileWith(std::string_view text) {
  UniqueFd file(memfd_create("input", MFD_CLOEXEC));
  if (!file.valid()) return ErrnoStatus("memory for the workers' credentials", errno);
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = write(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return ErrnoStatus("memory for the workers' credentials", errno);
    done += static_cast<size_t>(count);
  }
  return file;
}

std::string ReadAt(int file, size_t byte_count, off_t offset) {
  std::string text(byte_count, '\0');
  const ssize_t got = pread(file, text.data(), text.size(), offset);
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
  return text;
}

int64_t BytesIn(int file) {
  struct stat facts {};
  return fstat(file, &facts) == 0 ? facts.st_size : 0;
}

bool HasLine(const std::vector<std::string>& lines, std::string_view line) {
  const std::string bare(absl::StripPrefix(std::string(line), "cluster-iobench: "));
  return std::find(lines.begin(), lines.end(), bare) != lines.end();
}

// As IOzone does: remote shells that were written for it expect -n, which closes standard input. To srun, -n is the
// number of tasks.
std::string WithoutInput(const std::string& launcher) {
  if (absl::StrContains(launcher, "{host}") || IsSrun(launcher)) return launcher;
  const size_t command = launcher.find("{command}");
  if (command == std::string::npos) return absl::StrCat(launcher, " {host} -n");
  return absl::StrCat(launcher.substr(0, command), "{host} -n ", launcher.substr(command));
}

}  // namespace

std::string SlotEnded(uint32_t place, const std::string& ending) {
  return absl::StrCat(kSlotEnded, place, " has ended: ", ending);
}

std::vector<RemoteStart> StartsOfList(std::span<const ClientEntry> clients, const std::string& launcher,
                                      const WorkerArguments& words) {
  std::vector<RemoteStart> starts;
  for (uint32_t i = 0; i < clients.size(); ++i) {
    const HostEntry host = HostOfClient(clients[i]);
    RemoteStart start{.host = clients[i].client,
                      .name = absl::StrCat("client ", clients[i].client, " (worker ", i, ")"),
                      .first_place = i + 1,
                      .command = "",
                      .copy_command = "",
                      .from_client_list = true};
    const std::string shell = words.credentials_piped ? launcher : WithoutInput(launcher);
    start.command = ShellCommand(shell, host, WorkerCommand(clients[i], start.first_place, words));
    starts.push_back(std::move(start));
  }
  return starts;
}

std::vector<RemoteStart> StartsOnHosts(std::span<const HostEntry> hosts, const std::string& launcher,
                                       const WorkerArguments& words, const std::string& program,
                                       const ShippedProgram* shipped) {
  std::vector<RemoteStart> starts;
  uint32_t place = 1;
  for (const HostEntry& host : hosts) {
    RemoteStart start{.host = host.ToText(),
                      .name = absl::StrCat("host ", host.ToText()),
                      .first_place = place,
                      .worker_count = host.slots,
                      .command = "",
                      .copy_command = ""};
    const std::string command = shipped != nullptr ? ShippedCommand(host, place, *shipped, words)
                                                   : HostCommand(host, place, program, words);
    start.command = ShellCommand(launcher, host, command);
    if (shipped != nullptr) start.copy_command = ShellCommand(launcher, host, CopyCommand(*shipped));
    starts.push_back(std::move(start));
    place += host.slots;
  }
  return starts;
}

std::string ListenAddressFor(std::span<const std::string> clients, const std::string& told_host) {
  const std::string told = WithoutBrackets(told_host);
  const std::string host = told.empty() || told == "localhost" ? "127.0.0.1" : told;
  if (!IsThisHost(host) || !std::all_of(clients.begin(), clients.end(), IsThisHost)) return ":0";
  GrpcAddress loopback;
  loopback.host = host;
  return loopback.ToText();
}

absl::StatusOr<std::string> AddressForClients(const std::string& bound_address,
                                              const std::string& told_host) {
  IOBENCH_ASSIGN_OR_RETURN(GrpcAddress address, ParseGrpcAddress(bound_address));
  if (address.is_unix()) {
    return absl::InvalidArgumentError(
        absl::StrCat("workers in a client list cannot join at ", bound_address,
                     ": give --listen a host and a port, as in --listen :9400"));
  }
  const bool any_interface = address.host.empty() || address.host == "::" || address.host == "0.0.0.0";
  if (!told_host.empty()) {
    address.host = WithoutBrackets(told_host);
  } else if (any_interface) {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return ErrnoStatus("gethostname", errno);
    address.host = name.data();
  }
  return address.ToText();
}

absl::StatusOr<Launcher> Launcher::Start(std::vector<RemoteStart> starts, LaunchOptions options) {
  Launcher launcher(std::move(options));
  launcher.started_ns_ = MonotonicNowNs();
  if (!launcher.options_.credentials.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(launcher.credentials_, MemoryFileWith(launcher.options_.credentials));
  }
  launcher.shells_.reserve(starts.size());
  for (RemoteStart& start : starts) {
    launcher.shells_.emplace_back().start = std::move(start);
    IOBENCH_RETURN_IF_ERROR(launcher.StartStage(launcher.shells_.back(), Stage::kWorkers));
  }
  return launcher;
}

Launcher::~Launcher() {
  for (const Shell& shell : shells_) {
    if (shell.joined.empty() && shell.child.has_value()) processes_.Signal(*shell.child, SIGTERM);
  }
}

absl::Status Launcher::StartStage(Shell& shell, Stage stage) {
  UniqueFd output(memfd_create("output", MFD_CLOEXEC));
  if (!output.valid()) return ErrnoStatus("memory for what a remote shell prints", errno);
  shell.output = std::move(output);
  shell.looked_at_bytes = 0;
  shell.stage = stage;
  UniqueFd input;
  if (stage == Stage::kCopy) {
    input = UniqueFd(open(options_.shipped_file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!input.valid()) return ErrnoStatus(absl::StrCat("copy ", options_.shipped_file), errno);
  } else if (credentials_.valid()) {
    // Each reader needs an offset of its own.
    input = UniqueFd(open(absl::StrCat("/proc/self/fd/", credentials_.get()).c_str(), O_RDONLY | O_CLOEXEC));
    if (!input.valid()) return ErrnoStatus("the workers' credentials", errno);
  }
  const std::string& command = stage == Stage::kCopy ? shell.start.copy_command : shell.start.command;
  // A shell parses the user's words, as system() would.
  IOBENCH_RETURN_IF_ERROR(processes_.Start("/bin/sh", {"sh", "-c", absl::StrCat("exec ", command)},
                                           shell.output.get(), SIGTERM, input.get()));
  shell.child = shell_of_child_.size();
  shell_of_child_.push_back(static_cast<size_t>(&shell - shells_.data()));
  return absl::OkStatus();
}

std::vector<std::string> Launcher::LinesOf(const Shell& shell) const {
  std::string text = ReadAt(shell.output.get(), kMaxOutputBytes, 0);
  const int64_t all_bytes = BytesIn(shell.output.get());
  if (const int64_t more_bytes = all_bytes - static_cast<int64_t>(kMaxOutputBytes); more_bytes > 0) {
    const std::string end = ReadAt(shell.output.get(), kMaxOutputBytes,
                                   std::max(more_bytes, static_cast<int64_t>(kMaxOutputBytes)));
    const bool is_cut = more_bytes > static_cast<int64_t>(kMaxOutputBytes);
    absl::StrAppend(&text, is_cut ? "\n…\n" : "", is_cut ? end.substr(end.find('\n') + 1) : end);
  }
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, absl::ByAnyChar("\r\n"), absl::SkipWhitespace())) {
    // ssh prints this for every host that it sees for the first time.
    if (absl::StartsWith(line, "Warning: Permanently added")) continue;
    lines.push_back(AsUtf8(std::string(absl::StripPrefix(line, "cluster-iobench: "))));
  }
  return lines;
}

// A client list may start several workers on a client, each with a line of its own.
std::set<uint32_t> Launcher::PositionsAt(const RemoteStart& failed) const {
  std::set<uint32_t> positions;
  for (const Shell& shell : shells_) {
    const RemoteStart& start = shell.start;
    const bool same_client = failed.from_client_list && start.host == failed.host;
    if (!same_client && start.first_place != failed.first_place) continue;
    for (uint32_t i = 0; i < start.worker_count; ++i) positions.insert(start.first_place + i);
  }
  return positions;
}

void Launcher::Fail(Shell& shell, const std::string& what, int exit_code) {
  shell.failed = true;
  if (!first_fault_ns_.has_value()) first_fault_ns_ = MonotonicNowNs();
  const StartFailure failure{.host = shell.start.host,
                             .exit_code = exit_code,
                             .late = shell.timed_out && !shell.left_after_ns.has_value(),
                             .left = shell.left_after_ns.has_value(),
                             .from_client_list = shell.start.from_client_list,
                             .copies_program = !shell.start.copy_command.empty()};
  const std::vector<std::string> lines = LinesOf(shell);
  const std::string cause = CauseIn(failure, lines), advice = AdviceFor(failure, lines);
  // A prompt ends in ": ".
  const absl::string_view shown_cause = absl::StripSuffix(
      absl::StripSuffix(absl::StripTrailingAsciiWhitespace(cause), "."), ":");
  const std::string problem =
      absl::StrCat(what, cause.empty() ? " and printed nothing" : ": ", std::string(shown_cause));
  faults_.push_back({.client = shell.start.host,
                     .problem = problem,
                     .advice = advice,
                     .positions = PositionsAt(shell.start)});
  if (options_.on_fault == nullptr) return;
  options_.on_fault(absl::StrCat(shell.start.name, ": ", problem, advice.empty() ? "" : "; ", advice));
  size_t shown = 0;
  for (const std::string& line : lines) {
    if (line == cause || shown == kMaxOutputLines) continue;
    options_.on_fault(absl::StrCat("  ", shell.start.host, " printed: ", line));
    ++shown;
  }
}

absl::Status Launcher::OnEnded(Shell& shell, const Ending& ending) {
  const std::vector<std::string> lines = LinesOf(shell);
  const bool copy_needed = !shell.start.copy_command.empty() && HasLine(lines, kCopyNeeded);
  if (shell.stage == Stage::kWorkers && copy_needed) return StartStage(shell, Stage::kCopy);
  if (shell.stage == Stage::kCopy && HasLine(lines, kCopied)) {
    return StartStage(shell, Stage::kWorkersOfCopy);
  }
  if (!ending.well() || shell.stage == Stage::kCopy || copy_needed) {
    shell.ending = ending;
  } else {
    shell.left_after_ns = MonotonicNowNs() - started_ns_;
  }
  return absl::OkStatus();
}

void Launcher::FailEnded(Shell& shell) {
  const bool was_copying = shell.stage == Stage::kCopy;
  Fail(shell,
       absl::StrCat("its remote shell ended with ", shell.ending->Text(),
                    was_copying ? " before the program was copied" : " before its worker joined"),
       shell.ending->exit_code());
}

// What shows in its output before it ends.
void Launcher::LookAtOutput(Shell& shell) {
  if (shell.settled()) return;
  const int64_t byte_count = BytesIn(shell.output.get());
  if (std::exchange(shell.looked_at_bytes, byte_count) == byte_count) return;
  const std::vector<std::string> lines = LinesOf(shell);
  FindLostSlot(shell, lines);
  // It would wait for as long as the workers have.
  if (!shell.settled() && AsksForSecret(lines)) Fail(shell, "its remote shell waits for an input that nobody can give", -1);
}

// A host with several workers has one shell, which goes on while one of them is left.
void Launcher::FindLostSlot(Shell& shell, const std::vector<std::string>& lines) {
  if (shell.start.worker_count == 1) return;
  for (const std::string& line : lines) {
    uint32_t place = 0;
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(" has ended: ", 1));
    if (parts.size() != 2 || !absl::StartsWith(parts[0], kSlotEnded) ||
        !absl::SimpleAtoi(parts[0].substr(sizeof(kSlotEnded) - 1), &place) || shell.joined.contains(place)) {
      continue;
    }
    int exit_code = 0;
    if (!absl::SimpleAtoi(absl::StripPrefix(parts[1], "exit code "), &exit_code)) exit_code = -1;
    Fail(shell, absl::StrCat("worker ", place - 1, " ended with ", parts[1], " before it joined"), exit_code);
    return;
  }
}

std::string Launcher::WhatItDoes(const Shell& shell) {
  if (!shell.left_after_ns.has_value()) return "remote shell still runs";
  const bool at_once = *shell.left_after_ns < kNanosPerSecond;
  return absl::StrCat("remote shell ended with exit code 0 ",
                      at_once ? "at once" : absl::StrCat("after ", FormatSeconds(SecondsFrom(*shell.left_after_ns))));
}

void Launcher::GiveUpOthers() {
  const double waited_s = static_cast<double>(MonotonicNowNs() - started_ns_) / kNanosPerSecond;
  for (Shell& shell : shells_) {
    if (shell.settled()) continue;
    shell.timed_out = true;
    const std::string who = shell.start.worker_count == 1
                                ? "its worker has"
                                : absl::StrCat(shell.start.worker_count - shell.joined.size(), " of its ",
                                               shell.start.worker_count, " workers have");
    Fail(shell,
         absl::StrCat(who, " not joined after ", FormatSeconds(waited_s),
                      shell.stage == Stage::kCopy ? ", while the program was being copied; its " : "; its ", WhatItDoes(shell)),
         LooksForCoordinator(LinesOf(shell)) ? kWorkerCannotJoin : -1);
  }
}

absl::Status Launcher::Verdict() const {
  size_t joined = 0, workers = 0;
  bool only_late = true;
  std::vector<std::string> names;
  for (const Shell& shell : shells_) {
    joined += shell.joined.size();
    workers += shell.start.worker_count;
    if (!shell.failed) continue;
    only_late = only_late && shell.timed_out;
    names.push_back(shell.start.host);
  }
  const std::string message = absl::StrCat(joined, " of ", workers, " workers have joined; ", names.size(),
                                           " of ", shells_.size(), shells_.size() == 1 ? " host" : " hosts",
                                           " failed, as reported above: ", absl::StrJoin(names, ", "));
  return only_late ? absl::DeadlineExceededError(message) : absl::UnavailableError(message);
}

absl::Status Launcher::Check() {
  while (const auto ended = processes_.NextEnded()) {
    Shell& shell = shells_[shell_of_child_[ended->index]];
    IOBENCH_RETURN_IF_ERROR(OnEnded(shell, ended->ending));
  }
  for (Shell& shell : shells_) {
    if (shell.ending.has_value() && !shell.settled()) FailEnded(shell);
    LookAtOutput(shell);
  }
  const int64_t now_ns = MonotonicNowNs();
  int64_t until_ns = started_ns_ + NanosFrom(options_.patience_s);
  if (first_fault_ns_.has_value()) {
    until_ns =
        std::min(until_ns, std::max(started_ns_ + kOthersFromStartNs, *first_fault_ns_ + kOthersFromFaultNs));
  }
  const bool all_settled =
      std::all_of(shells_.begin(), shells_.end(), [](const Shell& shell) { return shell.settled(); });
  if (first_fault_ns_.has_value() && all_settled) return Verdict();
  if (all_settled || now_ns < until_ns) return absl::OkStatus();
  GiveUpOthers();
  return Verdict();
}

void Launcher::SetPresence(const v1::WorkerFacts& worker, bool present) {
  const uint32_t place = worker.client_list_position();
  for (Shell& shell : shells_) {
    if (place < shell.start.first_place || place >= shell.start.first_place + shell.start.worker_count)
      continue;
    present ? static_cast<void>(shell.joined.insert(place)) : static_cast<void>(shell.joined.erase(place));
    return;
  }
}

std::string Launcher::EndingOf(const v1::WorkerFacts& worker) {
  while (const auto ended = processes_.NextEnded()) {
    Shell& shell = shells_[shell_of_child_[ended->index]];
    if (!ended->ending.well()) shell.ending = ended->ending;
  }
  const uint32_t place = worker.client_list_position();
  for (const Shell& shell : shells_) {
    if (place < shell.start.first_place || place >= shell.start.first_place + shell.start.worker_count) continue;
    const std::vector<std::string> lines = LinesOf(shell);
    const std::string of_slot = SlotEnded(place, "");
    for (const std::string& line : lines) {
      if (absl::StartsWith(line, of_slot)) return absl::StrCat("it ended with ", line.substr(of_slot.size()));
    }
    if (!shell.ending.has_value()) return "";
    return absl::StrCat("its remote shell ended with ", shell.ending->Text(), lines.empty() ? "" : ": ",
                        lines.empty() ? "" : lines.back());
  }
  return "";
}

std::string Launcher::Missing() const {
  std::vector<std::string> missing;
  for (const Shell& shell : shells_) {
    if (shell.settled()) continue;
    if (missing.size() == kMaxMissing) {
      missing.push_back("and more");
      break;
    }
    const std::vector<std::string> lines = LinesOf(shell);
    std::string text = shell.start.name;
    const bool has_left = shell.left_after_ns.has_value();
    if (has_left) absl::StrAppend(&text, ", whose ", WhatItDoes(shell), lines.empty() ? " and printed nothing" : "");
    if (!has_left && lines.empty()) absl::StrAppend(&text, ", whose remote shell has printed nothing yet");
    if (!lines.empty()) absl::StrAppend(&text, ": ", lines.back());
    if (LooksForCoordinator(lines)) {
      absl::StrAppend(&text, "; ", AdviceFor({.host = shell.start.host, .exit_code = kWorkerCannotJoin}, {}));
    }
    missing.push_back(std::move(text));
  }
  return absl::StrJoin(missing, "; ");
}

}  // namespace iobench
