// Starts workers on other hosts with a remote shell, as IOzone's -+m does, all at the same time, and monitors the
// shells.
#ifndef COORDINATOR_LAUNCH_LAUNCHER_H_
#define COORDINATOR_LAUNCH_LAUNCHER_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/launch/child_processes.h"
#include "coordinator/launch/client_list.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct LaunchOptions {
  std::string remote_shell = "ssh";  // with its options, in shell syntax (from $RSH); see Impatient
  std::string join_address;          // the coordinator's address as seen by clients
  double join_timeout_s = 10;        // for a worker to connect; the coordinator is already listening
  bool own_paths = true;             // each worker tests its entry's path; false: the plan has the paths
};

// Owns the remote shells. Not thread-safe; used on the coordinator's thread.
class Launcher {
 public:
  // Runs $RSH CLIENT -n 'cd DIRECTORY && PROGRAM worker --join …' for each entry and returns at once. Worker i gets
  // position i + 1. REQUIRES: the coordinator already listens at options.join_address. An error is about this host (no
  // process or no memory for output); what goes wrong on a client is found by Check.
  static absl::StatusOr<Launcher> Start(std::span<const ClientEntry> clients, const LaunchOptions& options);
  Launcher(Launcher&& other) noexcept
      : shells_(std::move(other.shells_)),
        names_(std::move(other.names_)),
        outputs_(std::exchange(other.outputs_, {})) {}
  ~Launcher();  // REQUIRES: the coordinator has disconnected, so that the workers end

  // Call it while waiting for workers. Unavailable: a remote shell has failed; the message has its client, how it ended
  // and its output. A shell that exited successfully has put its worker into the background.
  absl::Status Check();
  // Returns the clients whose workers have not joined, at most four by name, each with the last line of its remote
  // shell's output.
  std::string Missing(const std::vector<v1::WorkerFacts>& joined) const;

 private:
  Launcher() = default;
  std::vector<std::string> LinesOf(size_t index) const;  // output so far

  ChildProcesses shells_;
  std::vector<std::string> names_;  // "client node07 (worker 2)"
  std::vector<int> outputs_;        // memory files, so that nobody has to read them continuously
};

// Adds options to ssh so that it neither waits for minutes for an unreachable host nor asks for a password. The user's
// own options come first; other shells are returned unchanged. Pure.
std::string Impatient(const std::string& remote_shell);

// Returns the command for the remote shell, in the client's shell syntax with all names quoted. `place`: the worker's
// position in the client list, from 1. Pure.
std::string WorkerCommand(const ClientEntry& entry, uint32_t place, const LaunchOptions& options);

// Returns the address at which clients reach a coordinator that listens on `bound_address`: `told_host` (-+h) if given,
// otherwise the host it listens on, or this host's name if it listens on all interfaces. InvalidArgument: the address
// is malformed, or a Unix socket, which other hosts cannot reach.
absl::StatusOr<std::string> AddressForClients(const std::string& bound_address, const std::string& told_host);

// Returns the address to listen on if --listen is not given: loopback if all clients are this host, otherwise all
// interfaces. The kernel chooses the port.
std::string ListenAddressFor(std::span<const ClientEntry> clients);

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_LAUNCHER_H_
