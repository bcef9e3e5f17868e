// Accepts the connections of a gRPC server, and closes those whose worker does not join in time.
#ifndef COMMON_TRANSPORT_GRPC_DOORKEEPER_H_
#define COMMON_TRANSPORT_GRPC_DOORKEEPER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "common/transport/door/unix_peer.h"
#include "common/transport/grpc/listening_sockets.h"
#include "common/transport/grpc/turned_away_log.h"
#include "common/unique_fd.h"

namespace iobench {

// The last descriptors below the limit of open files, which no waiting connection may use: for results, plans and gRPC
// itself.
inline constexpr int kReservedDescriptors = 64;
// What one connection takes once it is given away: its own, and the pair that leads to gRPC (ConnectionRelay).
inline constexpr int kDescriptorsPerConnection = 3;

// gRPC itself neither limits the number of connections nor reports which peers failed to connect. So this class
// listens, and gives a connection away (to the relay) only after its first byte has shown the expected protocol (TLS or
// HTTP/2). Until its worker has joined, it keeps a duplicate of the descriptor, which can end the connection: after
// `join_within_ns`, or after 256 KiB of input. At most `max_waiting` connections may wait; the oldest is closed when another
// arrives beyond that, or when the process has only a few descriptors left.
//
// Connections over Unix sockets have no address: they are numbered. Those of other users are closed if nothing else says who
// they are.
class Doorkeeper {
 public:
  struct Options {
    bool tls = false;
    UnixPeer unix_peer = UnixPeer::kAnybody;  // who may connect, where it listens on a Unix socket
    int64_t join_within_ns = 0;
    size_t max_waiting = 0;
    // Takes ownership of the descriptor of the connection from `peer`. Called on the doorkeeper's thread.
    std::function<void(int fd, const std::string& peer)> admit;
    // Called on the doorkeeper's thread every 250 ms, or as often as every 20 ms while connections wait.
    std::function<void(int64_t now_ns)> tick;
  };

  // `log` must outlive it.
  Doorkeeper(ListeningSockets sockets, Options options, TurnedAwayLog& log);
  ~Doorkeeper();  // closes the sockets, and connections that were not given to gRPC
  // Serves the sockets from Start to Stop, on a thread of its own. Connections that arrive before or after that wait in
  // the kernel's queue. Stop may be called again; the destructor does. ResourceExhausted: the system refuses the thread.
  absl::Status Start();
  void Stop();

  // A worker has joined on the connection from `peer` (as PeerText has it), which is gRPC's alone from now on.
  // Callable from any thread.
  void Joined(const std::string& peer);
  // The connection from `peer`, which was given away, has ended; `reason` is empty if it hung up. Callable from any
  // thread.
  void Ended(const std::string& peer, const std::string& reason);
  // gRPC has refused the call of `peer`, which has been logged. The connection is closed soon. Callable from any
  // thread.
  void Refused(const std::string& peer);

 private:
  struct Waiting {
    UniqueFd fd;  // once `given`, the relay has another for the same connection
    std::string peer;
    int64_t accepted_ns = 0;
    int64_t close_at_ns = 0;
    bool given = false;    // away
    bool refused = false;  // the refusal has been logged, so its end is not
  };
  using Place = std::list<Waiting>::iterator;

  void Serve();
  int64_t TickNs();  // until waiting connections are checked again
  void Accept(int listener);
  // Handles an event of a connection. Returns a descriptor to give away, with its peer, or -1.
  int Look(int fd, std::string& peer);
  int ReadFirstByte(Place place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int Duplicate(Place place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CloseOverdue(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // An empty reason is not logged, and the connection stays open if it was given away.
  void Close(Place place, const std::string& reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  TurnedAwayLog& log_;
  ListeningSockets sockets_;
  UniqueFd epoll_;
  UniqueFd stop_;  // an eventfd
  uint64_t unix_peers_ = 0;  // of the doorkeeper's thread
  int max_fd_;     // descriptors from this number on are left to the rest of the program

  Mutex mutex_;
  std::list<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  std::map<int, Place> by_fd_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Place> by_peer_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_DOORKEEPER_H_
