#include "common/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

constexpr size_t kMaxSaidBytes = 1000;
constexpr int kShellsSignalBase = 128;  // a shell's exit code if a signal ended its command, less that signal

// Reads to the end, so that a full pipe does not block the program.
std::string ReadAll(int fd) {
  std::string said;
  char piece[512];
  for (;;) {
    const ssize_t count = ::read(fd, piece, sizeof(piece));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (said.size() < kMaxSaidBytes) said.append(piece, static_cast<size_t>(count));
  }
  std::vector<std::string> lines = absl::StrSplit(said, '\n', absl::SkipWhitespace());
  for (std::string& line : lines) absl::StripAsciiWhitespace(&line);
  return absl::StrJoin(lines, "; ");
}

// Returns 0 or an errno. Both outputs of the program go to `output`.
int Start(std::vector<std::string>& arguments, int output, pid_t& process) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int error = ::posix_spawnp(&process, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

absl::Status RunProgram(std::vector<std::string> arguments) {
  const std::string command = absl::StrJoin(arguments, " ");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus("make a pipe", errno);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  pid_t process = -1;
  if (const int error = Start(arguments, writer.get(), process); error != 0) {
    return ErrnoStatus(absl::StrCat("start `", command, "`"), error);
  }
  writer = UniqueFd();
  const std::string said = ReadAll(reader.get());
  int state = 0;
  while (::waitpid(process, &state, 0) < 0) {
    if (errno != EINTR) return ErrnoStatus(absl::StrCat("wait for `", command, "`"), errno);
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("`", command, "` failed (", EndingText(state), "): ", said.empty() ? "it said nothing" : said));
}

std::string EndingText(int wait_status) {
  const auto name_of = [](int number) -> std::string {
    const char* const name = ::sigabbrev_np(number);  // like strsignal, but thread-safe
    return name == nullptr ? "" : name;
  };
  if (WIFSIGNALED(wait_status)) {
    return absl::StrCat("signal ", WTERMSIG(wait_status), " (", name_of(WTERMSIG(wait_status)), ")");
  }
  const int code = WEXITSTATUS(wait_status);
  const std::string by = name_of(code - kShellsSignalBase);
  return absl::StrCat("exit code ", code, by.empty() ? "" : absl::StrCat(" (signal ", code - kShellsSignalBase, ", ", by, ")"));
}

}  // namespace iobench
