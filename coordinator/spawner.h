// Worker processes on this host for --spawn: `cluster-iobench worker --join ADDRESS`.
#ifndef COORDINATOR_SPAWNER_H_
#define COORDINATOR_SPAWNER_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

// A private directory for a Unix socket, removed with what is in it by the destructor.
class SocketDirectory {
 public:
  static absl::StatusOr<SocketDirectory> Make();  // below $TMPDIR or /tmp
  SocketDirectory(SocketDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  SocketDirectory& operator=(SocketDirectory&&) = delete;
  ~SocketDirectory();
  std::string address() const { return "unix:" + path_ + "/coordinator"; }

 private:
  explicit SocketDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

class Spawner {
 public:
  // Starts this program `count` times with `arguments`. The children are in process groups of their own, so that the
  // terminal's Ctrl-C reaches only us, and die with us.
  static absl::StatusOr<Spawner> Start(uint32_t count, const std::vector<std::string>& arguments);
  Spawner(Spawner&&) = default;
  // Waits up to five seconds for the children to end by themselves, then kills the rest.
  ~Spawner();

  // A child that has ended already: its number and how, for a message; empty: all run.
  std::string Ended();

 private:
  Spawner() = default;
  std::vector<pid_t> children_;
};

}  // namespace iobench

#endif  // COORDINATOR_SPAWNER_H_
