#include "coordinator/launch/launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "common/text/utf8.h"
#include "common/transport/grpc_address.h"

namespace iobench {
namespace {

constexpr int kWorkerCannotJoin = 3;      // exit code of such a worker
constexpr size_t kMaxOutputBytes = 4096;  // used for a message
constexpr size_t kMaxMissing = 4;         // named at once
constexpr char kHowReached[] = "; set the address at which clients reach this host with -+h HOST";

bool IsThisHost(const std::string& client) {
  return client == "localhost" || client == "::1" || absl::StartsWith(client, "127.");
}

std::string WithoutBrackets(const std::string& host) {
  absl::string_view bare = host;
  if (absl::ConsumePrefix(&bare, "[")) absl::ConsumeSuffix(&bare, "]");
  return std::string(bare);
}

}  // namespace

std::string Impatient(const std::string& remote_shell) {
  const std::string program = remote_shell.substr(0, remote_shell.find(' '));
  if (program.substr(program.rfind('/') + 1) != "ssh") return remote_shell;
  return absl::StrCat(remote_shell, " -o BatchMode=yes -o ConnectTimeout=10");
}

std::string WorkerCommand(const ClientEntry& entry, uint32_t place, const LaunchOptions& options) {
  std::string arguments = absl::StrCat(" worker --join ", ShellWord(options.join_address), " --join-timeout ",
                                       options.join_timeout_s, " --place ", place);
  if (options.own_paths) {
    // If only three fields are given, the path is ".", so that the shell need not interpret the directory's name again.
    absl::StrAppend(&arguments, " --path ", ShellWord(entry.path.empty() ? "." : entry.path));
  }
  const std::string program = ShellWord(entry.program);
  return absl::StrCat("cd ", ShellWord(entry.directory), " && if test -d ", program, "; then exec ", program,
                      "/cluster-iobench", arguments, "; else exec ", program, arguments, "; fi");
}

std::string ListenAddressFor(std::span<const ClientEntry> clients) {
  const bool all_here = std::all_of(clients.begin(), clients.end(),
                                    [](const ClientEntry& entry) { return IsThisHost(entry.client); });
  return all_here ? "127.0.0.1:0" : ":0";
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
  return address.ForPeople();
}

absl::StatusOr<Launcher> Launcher::Start(std::span<const ClientEntry> clients, const LaunchOptions& options) {
  // A shell parses the user's words, as system() would; ours are not parsed again.
  const std::string run = absl::StrCat("exec ", Impatient(options.remote_shell), " \"$@\"");
  Launcher launcher;
  for (uint32_t i = 0; i < clients.size(); ++i) {
    const int output = memfd_create("output", MFD_CLOEXEC);
    if (output < 0) return ErrnoStatus("memory for what a remote shell prints", errno);
    launcher.outputs_.push_back(output);
    launcher.names_.push_back(absl::StrCat("client ", clients[i].client, " (worker ", i, ")"));
    IOBENCH_RETURN_IF_ERROR(launcher.shells_.Start(
        "/bin/sh",
        {"sh", "-c", run, "sh", clients[i].client, "-n", WorkerCommand(clients[i], i + 1, options)}, output,
        SIGTERM));
  }
  return launcher;
}

Launcher::~Launcher() {
  for (const int output : outputs_) close(output);
}

std::vector<std::string> Launcher::LinesOf(size_t index) const {
  std::string text(kMaxOutputBytes, '\0');
  const ssize_t got = pread(outputs_[index], text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, absl::ByAnyChar("\r\n"), absl::SkipWhitespace())) {
    // ssh prints this for every host that it sees for the first time.
    if (absl::StartsWith(line, "Warning: Permanently added")) continue;
    lines.push_back(AsUtf8(std::string(absl::StripPrefix(line, "cluster-iobench: "))));
  }
  return lines;
}

absl::Status Launcher::Check() {
  while (const auto ended = shells_.NextEnded()) {
    if (ended->well()) continue;
    const std::vector<std::string> lines = LinesOf(ended->index);
    const bool joined_nobody =
        WIFEXITED(ended->wait_status) && WEXITSTATUS(ended->wait_status) == kWorkerCannotJoin;
    // A shell prints the cause first; a worker that cannot join prints it last.
    const std::string said = lines.empty() ? "" : joined_nobody ? lines.back() : lines.front();
    return absl::UnavailableError(absl::StrCat(names_[ended->index], ": its remote shell ended with ",
                                               ended->ForPeople(), " before its worker joined",
                                               said.empty() ? " and printed nothing" : ": ", said,
                                               joined_nobody ? kHowReached : ""));
  }
  return absl::OkStatus();
}

std::string Launcher::Missing(const std::vector<v1::WorkerFacts>& joined) const {
  std::vector<std::string> missing;
  for (size_t i = 0; i < names_.size(); ++i) {
    const bool is_there = std::any_of(joined.begin(), joined.end(), [i](const v1::WorkerFacts& facts) {
      return facts.client_list_position() == i + 1;
    });
    if (is_there) continue;
    if (missing.size() == kMaxMissing) {
      missing.push_back("and more");
      break;
    }
    const std::vector<std::string> lines = LinesOf(i);
    missing.push_back(lines.empty() ? absl::StrCat(names_[i], ", whose remote shell has printed nothing yet")
                                    : absl::StrCat(names_[i], ": ", lines.back(), kHowReached));
  }
  return absl::StrJoin(missing, "; ");
}

}  // namespace iobench
