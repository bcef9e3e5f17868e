#include "coordinator/launch/start_advice.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace iobench {
namespace {

// What ssh, srun, shells and kernels print, and what to do about it. {host}: the host of the list.
struct KnownText {
  const char* text;
  const char* advice;
};
constexpr char kNeedsKey[] =
    "it wants a password, which nobody can type here: set up a key with `ssh-copy-id {host}`, so that `ssh {host} true` "
    "asks for nothing";
constexpr char kPassOnInput[] =
    "the remote shell must pass on standard input: check `ssh -n`, and login scripts there (~/.bashrc) that read it";
constexpr KnownText kKnownTexts[] = {
    {"Could not resolve hostname", "check the name's spelling, DNS and /etc/hosts"},
    {"Host key verification failed",
     "log in once with `ssh {host}` and accept its key, or add it to known_hosts"},
    {"HOST IDENTIFICATION HAS CHANGED", "if the host was reinstalled, run `ssh-keygen -R {host}`"},
    {"no token on standard input", kPassOnInput},
    {"token on standard input: ", kPassOnInput},
    {"Permission denied (", kNeedsKey},
    {"Permission denied, please try again", kNeedsKey},
    {"assword:", kNeedsKey},
    {"Verification code", kNeedsKey},
    {"assphrase for ", "load the key into an agent first, with `ssh-add`, or use a key without a passphrase"},
    {"read the password", "let sudo need no password there (NOPASSWD in sudoers)"},
    {"sudo: a password is required", "let sudo need no password there (NOPASSWD in sudoers)"},
    {"kex_exchange_identification", "sshd there closed the connection: see its log, and MaxStartups in sshd_config"},
    {"Too many authentication failures",
     "name the key with IdentityFile and IdentitiesOnly in ~/.ssh/config"},
    {"Connection refused", "check that sshd runs there and on which port"},
    {"No route to host", "check that the host is up"},
    {"onnection timed out", "check that the host is up and that no firewall drops ssh"},
    {"Exec format error", "the program there is built for another processor"},
    {"No space left on device",
     "make room in ~/.cache there, or install the program and leave out --copy-binary"},
    {"the copy in ", "check that ~/.cache is writable there"},
    {"step creation temporarily disabled",
     "if another step of the job has this node's processors, add --overlap to srun"},
};

constexpr int kNotExecutable = 126, kNotFound = 127;

}  // namespace

std::string AdviceFor(const StartFailure& failure, std::span<const std::string> lines) {
  if (failure.exit_code == kWorkerCannotJoin) {
    return "set the address at which clients reach this host with -+h HOST (--coordinator-host)";
  }
  for (const KnownText& known : kKnownTexts) {
    const bool printed = std::any_of(lines.begin(), lines.end(), [&known](const std::string& line) {
      return absl::StrContains(line, known.text);
    });
    if (printed) return absl::StrReplaceAll(known.advice, {{"{host}", failure.host}});
  }
  if (failure.exit_code == kNotFound && !failure.from_client_list && !failure.copies_program) {
    return "install cluster-iobench there at the same path or in the PATH, or ship it with --copy-binary";
  }
  if (failure.exit_code == kNotFound && failure.from_client_list)
    return "correct the program's path in the list";
  if (failure.exit_code == kNotExecutable)
    return "the program there is not executable, or its file system is noexec";
  if (failure.left) return "check that the remote shell (--launcher, RSH) runs the command that it gets";
  return failure.late ? "raise --join-timeout to wait longer" : "";
}

bool AsksForSecret(std::span<const std::string> lines) {
  if (lines.empty()) return false;
  const absl::string_view last = absl::StripTrailingAsciiWhitespace(lines.back());
  if (!absl::EndsWith(last, ":")) return false;
  return absl::StrContains(last, "assword") || absl::StrContains(last, "assphrase for ") ||
         absl::StrContains(last, "Verification code");
}

bool LooksForCoordinator(std::span<const std::string> lines) {
  return !lines.empty() && (absl::StrContains(lines.back(), "waiting for a coordinator at ") ||
                            absl::StrContains(lines.back(), "no coordinator at "));
}

std::string CauseIn(const StartFailure& failure, std::span<const std::string> lines) {
  if (lines.empty()) return "";
  if (failure.exit_code == kWorkerCannotJoin) return lines.back();
  for (const KnownText& known : kKnownTexts) {
    for (const std::string& line : lines) {
      if (absl::StrContains(line, known.text)) return line;
    }
  }
  return lines.front();
}

}  // namespace iobench
