// Worker processes on this host for --spawn: `cluster-iobench worker --join ADDRESS`.
#ifndef COORDINATOR_SPAWNER_H_
#define COORDINATOR_SPAWNER_H_

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/child_processes.h"

namespace iobench {

// A private directory for a Unix socket, removed with what is in it by the destructor. Those of processes that were
// killed are removed by whoever makes the next one.
class SocketDirectory {
 public:
  static absl::StatusOr<SocketDirectory> Make();  // below $TMPDIR or /tmp
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
  int lock_;  // held while we live
};

class Spawner {
 public:
  // Starts this program `count` times with `arguments`. The children die with us.
  static absl::StatusOr<Spawner> Start(uint32_t count, const std::vector<std::string>& arguments);

  // Unavailable: a worker has ended; asked while workers are waited for.
  absl::Status Check();

 private:
  Spawner() = default;
  // Those that have joined end when we hang up; one that is still joining would look for us until its time is over.
  ChildProcesses children_{SIGTERM};
};

}  // namespace iobench

#endif  // COORDINATOR_SPAWNER_H_
