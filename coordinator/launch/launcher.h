// Starts workers on other hosts with a remote shell, all hosts at the same time, and monitors the shells.
#ifndef COORDINATOR_LAUNCH_LAUNCHER_H_
#define COORDINATOR_LAUNCH_LAUNCHER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/secret.h"
#include "common/unique_fd.h"
#include "coordinator/launch/child_processes.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/launch/host_list.h"
#include "coordinator/launch/join_watch.h"
#include "coordinator/launch/remote_shell.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// One remote shell: its host, and the workers that it starts there.
struct RemoteStart {
  std::string host;          // for advice: "user@node7:2222"
  std::string name;          // for messages: "client node07 (worker 2)", "host user@node7:2222"
  uint32_t first_place = 1;  // its workers' positions begin here
  uint32_t worker_count = 1;
  std::string command;  // what /bin/sh runs on this host
  // Runs if the output of `command` has kCopyNeeded, and then `command` again. Empty: never.
  std::string copy_command;
  bool from_client_list = false;
};

// For the lines of a client list: line i has position i + 1. `launcher`: see ShellCommand.
std::vector<RemoteStart> StartsOfList(std::span<const ClientEntry> clients, const std::string& launcher,
                                      const WorkerArguments& words);
// For --hosts. `shipped`: the program that runs there; null: the one that is installed there, looked for at `program`.
std::vector<RemoteStart> StartsOnHosts(std::span<const HostEntry> hosts, const std::string& launcher,
                                       const WorkerArguments& words, const std::string& program,
                                       const ShippedProgram* shipped);

struct LaunchOptions {
  // Passed only on the standard input of each worker: neither in arguments nor in the environment. Empty: none.
  Secret credentials = {};
  std::string shipped_file = {};  // the standard input of copy commands
  double patience_s = 600;        // workers that have not joined by then are given up
  // Called at once with each line about a host that fails. Null: dropped.
  std::function<void(const std::string& line)> on_fault = nullptr;
};

// Owns the remote shells. Not thread-safe; used on the coordinator's thread.
class Launcher {
 public:
  // Starts all shells and returns at once. REQUIRES: the coordinator already listens. An error is about this host (no
  // process or no memory for output); what goes wrong on a client is found by Check.
  static absl::StatusOr<Launcher> Start(std::vector<RemoteStart> starts, LaunchOptions options);
  Launcher(Launcher&&) = default;
  Launcher& operator=(Launcher&&) = delete;
  // Ends shells whose workers never joined. REQUIRES: the coordinator has disconnected, so that the workers end.
  ~Launcher();

  // Call these while waiting for workers: they belong in a JoinWatch. Check reports each host that fails at once, with
  // its shell's output and what to do, to options.on_fault, and gives the others some seconds to join or to fail as
  // well. Then it returns Unavailable, with the number and the names of all hosts that failed; DeadlineExceeded if they
  // merely did not join in time. A shell that exited successfully has put its worker into the background.
  absl::Status Check();
  void SetPresence(const v1::WorkerFacts& worker, bool present);
  // Returns the clients whose workers have not joined, at most four by name, each with the last line of its remote
  // shell's output.
  std::string Missing() const;
  // Returns how the remote shell of a worker ended that had joined and is lost, with the last line of its output, or the
  // worker itself if it is one of several on its host. Empty: it still runs.
  std::string EndingOf(const v1::WorkerFacts& worker);
  // Returns the hosts that have failed, as Check has reported them.
  const std::vector<JoinFault>& faults() const { return faults_; }

 private:
  enum class Stage { kWorkers, kCopy, kWorkersOfCopy };
  struct Shell {
    RemoteStart start;
    Stage stage = Stage::kWorkers;
    std::optional<size_t> child;  // index of its process; nullopt: it could not be started
    UniqueFd output;              // a memory file, so that nobody has to read it continuously
    int64_t looked_at_bytes = 0;
    std::set<uint32_t> joined;                     // positions
    std::optional<Ending> ending;  // of a shell that failed
    std::optional<int64_t> left_after_ns = {};  // when it ended well: its worker may be in the background
    bool failed = false;
    bool timed_out = false;

    bool complete() const { return joined.size() == start.worker_count; }
    bool settled() const { return failed || complete(); }
  };

  explicit Launcher(LaunchOptions options) : options_(std::move(options)) {}
  absl::Status StartStage(Shell& shell, Stage stage);
  absl::Status OnEnded(Shell& shell, const Ending& ending);
  void FailEnded(Shell& shell);
  void LookAtOutput(Shell& shell);
  void FindLostSlot(Shell& shell, const std::vector<std::string>& lines);
  void Fail(Shell& shell, const std::string& what, int exit_code);
  std::set<uint32_t> PositionsAt(const RemoteStart& failed) const;
  void GiveUpOthers();
  absl::Status Verdict() const;
  std::vector<std::string> LinesOf(const Shell& shell) const;  // output so far
  static std::string WhatItDoes(const Shell& shell);           // "remote shell still runs"

  LaunchOptions options_;
  ChildProcesses processes_;
  std::vector<Shell> shells_;
  std::vector<size_t> shell_of_child_;
  UniqueFd credentials_;  // a memory file
  int64_t started_ns_ = 0;
  std::optional<int64_t> first_fault_ns_;
  std::vector<JoinFault> faults_;
};

// The line by which `worker --slots` reports that the worker at a position has ended while others go on.
std::string SlotEnded(uint32_t place, const std::string& ending);

// Returns the address at which clients reach a coordinator that listens on `bound_address`: `told_host` (-+h) if given,
// otherwise the host it listens on, or this host's name if it listens on all interfaces. InvalidArgument: the address
// is malformed, or a Unix socket, which other hosts cannot reach.
absl::StatusOr<std::string> AddressForClients(const std::string& bound_address, const std::string& told_host);

// Returns the address to listen on if --listen is not given: loopback if all clients are this host, and `told_host`
// (-+h) is empty or a loopback address, which is then the one; otherwise all interfaces. The kernel chooses the port.
std::string ListenAddressFor(std::span<const std::string> clients, const std::string& told_host);

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_LAUNCHER_H_
