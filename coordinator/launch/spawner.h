// Starts worker processes on this host for --spawn: `cluster-iobench worker --join ADDRESS`.
#ifndef COORDINATOR_LAUNCH_SPAWNER_H_
#define COORDINATOR_LAUNCH_SPAWNER_H_

#include <sys/types.h>

#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/cgroup_limits.h"
#include "coordinator/launch/child_processes.h"

namespace iobench {

// A private directory for a Unix socket. The destructor removes the socket and the directory, so the coordinator must
// have stopped listening. Directories left by killed processes are removed when the next one is created.
class SocketDirectory {
 public:
  // Creates it in $TMPDIR, or in /tmp if that is unset or has 60 characters or more: a socket's path is limited to 107.
  // Errors: see MakeTemporaryDirectory.
  static absl::StatusOr<SocketDirectory> Make();
  SocketDirectory(SocketDirectory&& other) noexcept
      : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {
    other.path_.clear();
  }
  SocketDirectory& operator=(SocketDirectory&&) = delete;
  ~SocketDirectory();
  std::string address() const { return "unix:" + path_ + "/coordinator"; }

 private:
  SocketDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;  // held during this object's lifetime
};

// Owns the worker processes. Destroy it after the coordinator has disconnected: its destructor ends those that are
// still there with SIGTERM and waits for them (ChildProcesses). Not thread-safe.
class Spawner {
 public:
  // Starts this program `count` times with `arguments`. The children die with this process. The error has the errno of
  // a failed fork; the children started before it are then ended.
  static absl::StatusOr<Spawner> Start(uint32_t count, const std::vector<std::string>& arguments);

  // Call it while waiting for workers. Unavailable: a worker has ended, so it will not join.
  absl::Status Check();
  // Returns how the process of a worker ended that is lost: "its process ended with signal 9 (KILL)". Waits some
  // milliseconds for a process that is just ending. Empty: it still runs.
  std::string EndingOf(pid_t process);
  // The user has interrupted the run: the destructor waits only briefly for workers that hang.
  void Hurry() { children_.Hurry(); }

 private:
  Spawner() = default;
  // Workers that have joined end when the coordinator disconnects; others would keep trying until their timeout.
  ChildProcesses children_{SIGTERM};
  std::vector<pid_t> ids_;            // of all children
  std::map<pid_t, Ending> endings_;  // of those that have ended
  OomWatch oom_watch_;
};

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_SPAWNER_H_
