// Passes the bytes of connections on to gRPC, and drops those that a guard does not let pass.
#ifndef COMMON_TRANSPORT_GUARD_CONNECTION_RELAY_H_
#define COMMON_TRANSPORT_GUARD_CONNECTION_RELAY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "common/transport/guard/openssl_types.h"
#include "common/unique_fd.h"

namespace iobench {

// TLS ends here, because a frame can be checked (FrameGuard) only once it is decrypted; what gRPC gets is plain, over a
// pair of Unix sockets in this process. A connection thus needs three descriptors. Of a connection that does not read
// or that gRPC does not read, the relay holds one read of at most 16 KiB in each direction.
//
// One thread serves all connections, a read of 16 KiB at a time, so that none delays the others.
class ConnectionRelay {
 public:
  struct Options {
    OwnedContext tls = nullptr;  // null: connections are plain
    uint64_t max_event_bytes = 0;
    // Takes ownership of gRPC's end of a connection. On the relay's thread.
    std::function<void(int fd)> admit;
    // A connection is about to be closed. `reason` is empty if either end has hung up; otherwise the TLS handshake has
    // failed, or the guard did not let something pass. On the relay's thread.
    std::function<void(const std::string& peer, const std::string& reason)> ended;
  };

  explicit ConnectionRelay(Options options);
  ~ConnectionRelay();  // ends all connections
  // Connections that were added before wait until then. ResourceExhausted: the system refuses a thread or a descriptor.
  absl::Status Start();
  // Connections that gRPC has closed are still flushed, for at most two seconds.
  void Stop();

  // Takes ownership of a connection's descriptor, which does not block. `peer` names it in `ended`, and gRPC's name of the
  // peer ends with it. Any thread.
  void Add(int fd, const std::string& peer);
  // The coordinator is about to send the worker at `peer` a request whose answer may be as large as results. Any thread.
  void ExpectMuch(const std::string& peer);

 private:
  class Connection;
  using Expected = std::shared_ptr<std::atomic<int>>;  // such requests that the guard has not been told of
  struct Added {
    UniqueFd fd;
    std::string peer;
    Expected expected;
  };

  void Serve();
  bool GoesOn(int64_t now_ns) const;
  void Open(Added added);
  void Step(uint64_t number, int side);  // after an event

  Options options_;
  UniqueFd epoll_;
  UniqueFd wake_;  // an eventfd
  std::map<uint64_t, std::unique_ptr<Connection>> connections_;  // of the relay's thread
  uint64_t next_number_ = 1;
  std::atomic<int64_t> stop_at_ns_{0};  // 0: not yet
  std::vector<unsigned char> buffer_;
  std::thread thread_;

  Mutex mutex_;
  std::vector<Added> added_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Expected> expected_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GUARD_CONNECTION_RELAY_H_
