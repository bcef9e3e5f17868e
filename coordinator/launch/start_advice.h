// What a user can do about a host on which no worker starts.
#ifndef COORDINATOR_LAUNCH_START_ADVICE_H_
#define COORDINATOR_LAUNCH_START_ADVICE_H_

#include <span>
#include <string>

namespace iobench {

// How the start of a host's workers failed.
struct StartFailure {
  std::string host = {};          // as in the list: "user@node7:2222"
  int exit_code = 0;              // -1: it was killed by a signal
  bool late = false;              // it has not ended, but its workers have not joined in time
  bool left = false;              // it ended with exit code 0, and its workers have not joined in time
  bool from_client_list = false;  // -+m, which names the program; otherwise --hosts
  bool copies_program = false;    // --copy-binary
};

// Returns advice such as "check the name, and that this host can resolve it", or an empty string if nothing in the
// output of the remote shell (`lines`) or its exit code is known. Pure.
std::string AdviceFor(const StartFailure& failure, std::span<const std::string> lines);

// Returns the line that says most about the failure, or an empty string. A shell prints the cause first; a worker that
// cannot join prints it last.
std::string CauseIn(const StartFailure& failure, std::span<const std::string> lines);

// True if the last line is a prompt for a password or the like, which a remote shell without a terminal cannot get.
bool AsksForSecret(std::span<const std::string> lines);

// True if a worker's last message is that it looks for its coordinator.
bool LooksForCoordinator(std::span<const std::string> lines);

// The exit code of a worker that cannot reach its coordinator.
inline constexpr int kWorkerCannotJoin = 3;

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_START_ADVICE_H_
