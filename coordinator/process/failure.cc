#include "coordinator/process/failure.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/terminal_width.h"
#include "coordinator/files/file_patience.h"

namespace iobench {
namespace {

// True for `cluster-iobench … | head`: the reader has exited.
bool StdoutHasNoReader() {
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

int ExitCodeFor(const absl::Status& status, int exit_code) {
  const int errno_value = ErrnoOf(status);
  if (errno_value == kErrnoStoppedWaiting) return kExitInterrupted;
  if (errno_value == kErrnoNoAnswer) return absl::IsUnavailable(status) ? kExitPartial : kExitIo;
  return exit_code;
}

}  // namespace

void PrintError(const std::string& message) {
  std::string one_line = message;
  std::replace(one_line.begin(), one_line.end(), '\n', ' ');
  // As one write: workers on one host share standard error.
  const std::string line = absl::StrCat("cluster-iobench: ", WithShortValues(Printable(one_line)));
  std::cerr << absl::StrCat(LinesFor(STDERR_FILENO, line), "\n") << std::flush;
}

int Fail(const absl::Status& status, int exit_code) {
  PrintError(std::string(status.message()));
  return ExitCodeFor(status, exit_code);
}

int FailEach(const absl::Status& status, int exit_code) {
  std::istringstream lines{std::string(status.message())};
  for (std::string line; std::getline(lines, line);) PrintError(line);
  return ExitCodeFor(status, exit_code);
}

int ExitOfPrinting(int exit_code, int exit_if_lost) {
  std::cout.flush();
  if (std::cout.good() || StdoutHasNoReader()) return exit_code;
  PrintError("cannot write to standard output");
  return exit_code == kExitOk ? exit_if_lost : exit_code;
}

}  // namespace iobench
