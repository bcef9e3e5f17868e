#include "coordinator/launch/remote_shell.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "coordinator/files/files.h"

namespace iobench {
namespace {

constexpr char kHostWord[] = "{host}", kUserWord[] = "{user}", kPortWord[] = "{port}",
               kCommandWord[] = "{command}";
// In a job, srun would start as many tasks as the job has, and use further nodes for them.
constexpr char kSrunHost[] = " -N 1 -n 1 -w {host}";

bool HasWord(const std::string& launcher, const char* word) {
  return launcher.find(word) != std::string::npos;
}

// A word of the launcher as the shell splits it.
struct LauncherWord {
  size_t end = 0;    // its position in the launcher
  std::string text;  // without quotes
};

std::vector<LauncherWord> WordsOf(const std::string& launcher) {
  std::vector<LauncherWord> words;
  bool in_word = false;
  char quote = 0;  // 0: outside quotes
  for (size_t i = 0; i < launcher.size(); ++i) {
    const char c = launcher[i];
    if (quote == 0 && absl::ascii_isspace(static_cast<unsigned char>(c))) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    LauncherWord& word = words.back();
    if (c == '\\' && quote != '\'' && i + 1 < launcher.size()) {
      word.text += launcher[++i];
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else {
      word.text += c;
    }
    word.end = i + 1;
  }
  return words;
}

// Returns where the word ends that tells ssh its host. Other words, such as ProxyCommand='nc {host} 22', may contain
// {host} too. REQUIRES: the launcher has {host} and {command}.
size_t EndOfHost(const std::string& launcher) {
  const std::vector<LauncherWord> words = WordsOf(launcher);
  const auto is_host = [](const LauncherWord& word) {
    if (word.text == kHostWord) return true;
    return word.text.ends_with(absl::StrCat("@", kHostWord)) &&
           word.text.find_first_of(" \t=") == std::string::npos;
  };
  const auto names_host = [](const LauncherWord& word) {
    return HasWord(word.text, kHostWord) && word.text.find_first_of(" \t=") == std::string::npos;
  };
  auto found = std::find_if(words.begin(), words.end(), is_host);
  // {host}.example.org
  if (found == words.end()) found = std::find_if(words.begin(), words.end(), names_host);
  if (found != words.end()) return found->end;
  // The launcher names the host by itself, before the command.
  const auto command = std::find_if(
      words.begin(), words.end(), [](const LauncherWord& word) { return HasWord(word.text, kCommandWord); });
  return command == words.begin() || command == words.end() ? launcher.size() : std::prev(command)->end;
}

// The file name of the launcher's program.
std::string ProgramOf(const std::string& launcher) {
  const std::string trimmed(absl::StripLeadingAsciiWhitespace(launcher));
  const std::string program = trimmed.substr(0, trimmed.find_first_of(" \t"));
  return program.substr(program.rfind('/') + 1);
}

// True if {host} is the node of an srun, as in "srun -w {host}", and not the host of a shell that srun starts. A later
// -w is an option of that shell.
bool HostIsNode(const std::string& launcher) {
  std::string before;
  for (const LauncherWord& word : WordsOf(launcher)) {
    const bool is_node = before == "-w" || before == "--nodelist" || word.text.starts_with("--nodelist=") ||
                         (word.text.starts_with("-w") && word.text.size() > 2);
    if (is_node) return HasWord(word.text, kHostWord);
    before = word.text;
  }
  return false;
}

std::string NameOfOwnUser() {
  const passwd* const entry = getpwuid(geteuid());
  return entry != nullptr ? entry->pw_name : absl::StrCat(geteuid());
}

// Returns each {word} that is not ours. The shell's own ${word} is not meant.
std::vector<std::string> UnknownWords(const std::string& launcher) {
  static constexpr std::string_view kKnown[] = {kHostWord, kUserWord, kPortWord, kCommandWord};
  std::vector<std::string> unknown;
  for (size_t open = launcher.find('{'); open != std::string::npos; open = launcher.find('{', open + 1)) {
    const size_t close = launcher.find('}', open);
    if (close == std::string::npos) break;
    const std::string word = launcher.substr(open, close + 1 - open);
    const bool is_name = word.size() > 2 && std::all_of(word.begin() + 1, word.end() - 1, [](char c) {
                           return absl::ascii_isalpha(static_cast<unsigned char>(c));
                         });
    if (!is_name || (open > 0 && launcher[open - 1] == '$')) continue;
    if (std::find(std::begin(kKnown), std::end(kKnown), word) == std::end(kKnown)) unknown.push_back(word);
  }
  return unknown;
}

// A sampler itself touches no files; words.server has what else it needs.
std::string ArgumentsOf(uint32_t place, const WorkerArguments& words, bool sampler = false) {
  return absl::StrCat(" worker --join ", ShellWord(words.join_address), " --join-timeout ",
                      words.join_timeout_s, " --place ", place, words.insecure ? " --insecure" : "",
                      words.credentials_piped ? " --token-file -" : "",
                      sampler ? " --sampler" + words.server : words.rights);
}

std::string ArgumentsFor(const HostEntry& host, uint32_t place, const WorkerArguments& words) {
  return absl::StrCat(ArgumentsOf(place, words, host.sampler),
                      host.slots > 1 && !host.sampler ? absl::StrCat(" --slots ", host.slots) : "");
}

// A login shell may be of any kind.
std::string ForAnyShell(const std::string& script) {
  return absl::StrCat("exec sh -c ", ShellWord(script));
}

std::string DirectoryOfCopies(const ShippedProgram& program) {
  return absl::StrCat("d=\"${XDG_CACHE_HOME:-$HOME/.cache}/cluster-iobench/\"", ShellWord(program.version),
                      "; f=\"$d/cluster-iobench-worker.", program.sha256, "\"; ");
}

// A function of the host's shell: each of the paths is a file or directory that nobody but its user and root can replace.
// ls is everywhere, and find and stat are not.
constexpr char kOwn[] =
    "own() { for p in \"$@\"; do set -- $(ls -ldnL \"$p\"); "
    "case $1 in ?????w*|????????w*) false;; esac && { test \"$3\" = \"$(id -u)\" || test \"$3\" = 0; } || "
    "{ echo \"cluster-iobench: $p can be changed by other users: make it yours alone (chmod go-w), or set "
    "XDG_CACHE_HOME\" >&2; return 1; }; done; }; ";
constexpr char kOwnDirectory[] = "own \"${d%/*}\" \"$d\"";  // after DirectoryOfCopies, like the conditions below

// The copy is there and whole.
std::string HasCopy(const ShippedProgram& program) {
  return absl::StrCat("test \"$( { sha256sum <\"$f\" | cut -c1-64; } 2>/dev/null)\" = ", program.sha256);
}

// Nobody can replace the copy between the check and its start.
std::string OwnsCopy() {
  return absl::StrCat(kOwnDirectory, " && own \"$f\"");
}

}  // namespace

absl::Status CheckLauncher(const std::string& launcher, std::span<const HostEntry> hosts) {
  std::vector<std::string> faults;
  for (const std::string& word : UnknownWords(launcher)) {
    faults.push_back(
        absl::StrCat("--launcher: ", word, " is unknown: use {host}, {user}, {port} and {command}"));
  }
  const bool takes_port = HasWord(launcher, kPortWord) || ProgramOf(launcher) == "ssh";
  // srun would take "user@node7" for the name of a node.
  const bool takes_user = !IsSrun(launcher) || HasWord(launcher, kUserWord) ||
                          (HasWord(launcher, kHostWord) && !HostIsNode(launcher));
  std::set<std::string> refused;  // a client list has a line for each worker
  for (const HostEntry& host : hosts) {
    const bool has_fault = (host.port != 0 && !takes_port) || (!host.user.empty() && !takes_user);
    if (!has_fault || !refused.insert(host.ToText()).second) continue;
    const std::string name = absl::StrCat("host ", host.ToText());
    if (host.port != 0 && !takes_port) {
      faults.push_back(absl::StrCat(name, " has a port, but the remote shell \"", launcher, "\" has no ",
                                    kPortWord, " to pass it on: add it with --launcher"));
    }
    if (!host.user.empty() && !takes_user) {
      faults.push_back(absl::StrCat(name, " has a user, but the remote shell \"", launcher,
                                    "\" starts workers as the user who calls srun: leave out ", host.user,
                                    "@, or use ssh (--launcher ssh)"));
    }
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
}

std::string LauncherFor(const std::string& asked_for) {
  if (!asked_for.empty()) return asked_for;
  const char* const remote_shell = getenv("RSH");
  return remote_shell != nullptr && *remote_shell != '\0' ? remote_shell : "ssh";
}

absl::Status CheckLauncherExists(const std::string& launcher) {
  const std::vector<LauncherWord> words = WordsOf(launcher);
  if (words.empty() || launcher.substr(0, words.front().end).find_first_of("$`*?[]{}~()<>|&;") != std::string::npos) {
    return absl::OkStatus();
  }
  const std::string& program = words.front().text;
  const bool has_place = absl::StrContains(program, '/');
  const char* const path = getenv("PATH");
  std::vector<std::string> places = {""};
  if (!has_place) places = absl::StrSplit(path != nullptr ? path : "/usr/bin:/bin", ':');
  bool exists = false;
  for (const std::string& place : places) {
    const std::string file = has_place ? program : absl::StrCat(place.empty() ? "." : place, "/", program);
    const std::optional<struct stat> facts = files::Stat(file);
    if (!facts.has_value()) IOBENCH_RETURN_IF_ERROR(files::UnansweredCall(absl::StrCat("the remote shell ", file), errno));
    if (!facts.has_value() || !S_ISREG(facts->st_mode)) continue;
    if (files::Access(file, X_OK) == 0) return absl::OkStatus();
    exists = true;
  }
  constexpr char kAdvice[] = "install it, or name another remote shell with --launcher or RSH";
  if (exists) {
    return absl::PermissionDeniedError(
        absl::StrCat("the remote shell \"", program, "\" is not executable on this host: ", kAdvice));
  }
  return absl::NotFoundError(absl::StrCat("there is no remote shell \"", program, "\" on this host",
                                          has_place ? "" : " (PATH)", ": ", kAdvice));
}

bool IsSrun(const std::string& launcher) {
  return ProgramOf(launcher) == "srun";
}

std::string ShellCommand(const std::string& launcher, const HostEntry& host, const std::string& command) {
  const bool is_srun = IsSrun(launcher);
  std::string text = launcher;
  if (!HasWord(text, kCommandWord)) absl::StrAppend(&text, is_srun ? " sh -c " : " ", kCommandWord);
  if (!HasWord(text, kHostWord) && is_srun) {
    // srun takes the last of equal options, so those of the user come after.
    text.insert(WordsOf(text).front().end, kSrunHost);
  } else if (!HasWord(text, kHostWord)) {
    text.insert(text.find(kCommandWord), absl::StrCat(kHostWord, " "));
  }
  if (ProgramOf(launcher) == "ssh") {
    std::string options = " -o BatchMode=yes -o ConnectTimeout=10";
    if (host.port > 0 && !HasWord(text, kPortWord)) absl::StrAppend(&options, " -p ", host.port);
    // ssh reads options right after the host, too, and takes the first of several. What follows {host} may be a
    // command already.
    text.insert(EndOfHost(text), options);
  }
  const bool has_user = HasWord(text, kUserWord);
  const std::string name =
      host.user.empty() || has_user ? host.host : absl::StrCat(host.user, "@", host.host);
  return absl::StrReplaceAll(
      text, {{kHostWord, ShellWord(name)},
             {kUserWord, ShellWord(host.user.empty() && has_user ? NameOfOwnUser() : host.user)},
             {kPortWord, absl::StrCat(host.port > 0 ? host.port : 22)},
             {kCommandWord, ShellWord(command)}});
}

std::string WorkerCommand(const ClientEntry& entry, uint32_t place, const WorkerArguments& words) {
  std::string arguments = ArgumentsOf(place, words);
  if (words.own_paths) {
    // If only three fields are given, the path is ".", so that the shell need not interpret the directory's name again.
    absl::StrAppend(&arguments, " --path ", ShellWord(entry.path.empty() ? "." : entry.path));
  }
  const std::string program = ShellWord(entry.program);
  return absl::StrCat("cd ", ShellWord(entry.directory), " && if test -d ", program, "; then exec ", program,
                      "/cluster-iobench", arguments, "; else exec ", program, arguments, "; fi");
}

std::string HostCommand(const HostEntry& host, uint32_t place, const std::string& program,
                        const WorkerArguments& words) {
  const std::string arguments = ArgumentsFor(host, place, words);
  return ForAnyShell(absl::StrCat("if test -x ", ShellWord(program), "; then exec ", ShellWord(program),
                                  arguments, "; else exec cluster-iobench", arguments, "; fi"));
}

std::string ShippedCommand(const HostEntry& host, uint32_t place, const ShippedProgram& program,
                           const WorkerArguments& words) {
  return ForAnyShell(absl::StrCat(
      "m=$(uname -m); if test \"$m\" != ", program.architecture,
      "; then echo \"this host is $m, and the program to copy is built for ", program.architecture,
      "\" >&2; exit 1; fi; ", kOwn, DirectoryOfCopies(program), "if ", HasCopy(program), " && ", OwnsCopy(),
      "; then exec \"$f\"",
      ArgumentsFor(host, place, words), "; else echo ", ShellWord(kCopyNeeded), "; exit 97; fi"));
}

std::string CopyCommand(const ShippedProgram& program) {
  // Hosts that share a home directory copy at the same time. If one replaced the copy of another, it would remove the
  // program that already runs there, so the first whole copy stays. `mv` replaces a damaged copy, and works without
  // hard links.
  return ForAnyShell(absl::StrCat(
      "umask 077; ", kOwn, DirectoryOfCopies(program), "mkdir -p \"$d\" && ", kOwnDirectory,
      " && t=$(mktemp \"$f.XXXXXX\") || exit 98; "
      "if cat >\"$t\" && test \"$(sha256sum <\"$t\" | cut -c1-64)\" = ",
      program.sha256, " && chmod 700 \"$t\" && { ln \"$t\" \"$f\" 2>/dev/null || { ", HasCopy(program),
      " && own \"$f\"; } || mv -f \"$t\" \"$f\"; }; then rm -f \"$t\"; echo ", ShellWord(kCopied),
      "; else rm -f \"$t\"; echo \"the copy in $d is damaged or cannot be written\" >&2; exit 98; fi"));
}

std::string CleanCommand(std::span<const std::string> directories, bool force, const std::string& program,
                         const ShippedProgram* copy) {
  std::string words = absl::StrCat(" clean", force ? " --force" : "", " --");
  for (const std::string& directory : directories) absl::StrAppend(&words, " ", ShellWord(directory));
  const std::string run_copy =
      copy == nullptr ? ""
                      : absl::StrCat(kOwn, DirectoryOfCopies(*copy), "if ", HasCopy(*copy), "; then { ",
                                     OwnsCopy(), "; } || exit 126; exec \"$f\"", words, "; fi; ");
  return ForAnyShell(absl::StrCat("if test -x ", ShellWord(program), "; then exec ", ShellWord(program), words,
                                  "; fi; if command -v cluster-iobench >/dev/null; then exec cluster-iobench",
                                  words, "; fi; ", run_copy,
                                  "echo \"cluster-iobench: command not found\" >&2; exit 127"));
}

std::string RemoveCopiesCommand() {
  // The name of a copy ends in 64 hexadecimal digits; that of an incomplete copy has seven more characters.
  return ForAnyShell(
      "d=\"${XDG_CACHE_HOME:-$HOME/.cache}/cluster-iobench\"; n=0; "
      "for f in \"$d\"/*/cluster-iobench-worker.*; do "
      "s=${f##*/cluster-iobench-worker.}; h=${s%%.*}; "
      "if test -f \"$f\" && test ${#h} = 64 && test \"${h#*[!0-9a-f]}\" = \"$h\"; then "
      "rm -f \"$f\" && n=$((n+1)); fi; done; "
      "rmdir \"$d\"/* \"$d\" 2>/dev/null; echo \"removed $n copies of the worker program\"");
}

}  // namespace iobench
