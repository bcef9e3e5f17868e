// Starts workers on other hosts by a remote shell, as IOzone's -+m does, all at the same time, and watches the shells.
#ifndef COORDINATOR_LAUNCHER_H_
#define COORDINATOR_LAUNCHER_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/child_processes.h"
#include "coordinator/client_list.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct LaunchOptions {
  std::string remote_shell = "ssh";  // with its options, as a shell reads them (the environment's RSH); see Impatient
  std::string join_address;          // the coordinator's, as clients see it
  double join_timeout_s = 10;        // for a worker to reach it: the coordinator listens already
  bool own_paths = true;             // each worker tests its entry's path; false: the plan says what
};

class Launcher {
 public:
  // $RSH CLIENT -n 'cd DIRECTORY && PROGRAM worker --join …', for each entry; worker i has place i + 1.
  static absl::StatusOr<Launcher> Start(std::span<const ClientEntry> clients, const LaunchOptions& options);
  Launcher(Launcher&& other) noexcept
      : shells_(std::move(other.shells_)),
        names_(std::move(other.names_)),
        outputs_(std::exchange(other.outputs_, {})) {}
  ~Launcher();  // REQUIRES: the coordinator has hung up, so that the workers end

  // Unavailable: a remote shell has ended with an error, with its client, how, and what it printed. Asked while workers
  // are waited for. One that ends well has put its worker into the background.
  absl::Status Check();
  // Clients whose workers are not among these, each with the last line that its remote shell has printed.
  std::string Missing(const std::vector<v1::WorkerFacts>& joined) const;

 private:
  Launcher() = default;
  std::vector<std::string> LinesOf(size_t index) const;  // printed so far

  ChildProcesses shells_;
  std::vector<std::string> names_;  // "client node07 (line 3)"
  std::vector<int> outputs_;        // memory files: nobody needs to read along
};

// ssh told not to wait for minutes for a host that does not answer, nor for a password that nobody can type; its own
// options come first, and other shells stay as they are. Pure.
std::string Impatient(const std::string& remote_shell);

// What the remote shell is told to run. Pure.
std::string WorkerCommand(const ClientEntry& entry, uint32_t place, const LaunchOptions& options);

// Where clients find a coordinator that listens on `bound_address`: `told_host` (-+h) where it is given, else the host
// listened on, or this host's name where those are all.
absl::StatusOr<std::string> AddressForClients(const std::string& bound_address, const std::string& told_host);

// Where to listen for these clients when --listen does not say: loopback where all of them are this host.
std::string ListenAddressFor(std::span<const ClientEntry> clients);

}  // namespace iobench

#endif  // COORDINATOR_LAUNCHER_H_
