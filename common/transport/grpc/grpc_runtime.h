// gRPC settings that both ends of a connection share.
#ifndef COMMON_TRANSPORT_GRPC_GRPC_RUNTIME_H_
#define COMMON_TRANSPORT_GRPC_GRPC_RUNTIME_H_

#if defined(IOBENCH_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

#include <string>

#include "absl/status/status.h"

namespace iobench {

// A peer that disappears silently (power or cable failure) is detected within 30 s. Idle streams are pinged too, since no
// messages may pass during a long phase. The coordinator leaves the pings to the kernel (ListeningSockets).
inline constexpr int kKeepalivePingMs = 10'000;
inline constexpr int kKeepaliveTimeoutMs = 20'000;
// The min. interval between a worker's pings; gRPC treats more frequent pings as an attack.
inline constexpr int kKeepaliveMinPingMs = 5'000;
// How much a peer may send before it is read. By default, gRPC probes for this with a ping for nearly every message,
// which is half the cost of thousands of connections with little traffic.
inline constexpr int kWindowBytes = 1 << 20;
// Requests have at most this many bytes: plans of 10,000 lanes in one worker need a few MiB.
inline constexpr int kMaxRequestBytes = 64 << 20;
// Until a worker has joined, its messages have at most this many bytes.
inline constexpr size_t kMaxJoinedBytes = 64 << 10;

// The coordinator puts this key into the initial metadata of every stream that it accepts, with the number of the
// worker's events that have arrived: 0 for a new worker. The mere arrival of metadata would not prove anything: a call
// that failed to connect may have empty metadata.
inline constexpr char kAcceptedKey[] = "cluster-iobench-accepted";

// Keys that a worker puts into the metadata of its call: the run's token, and a random text that differs for every
// attempt to join, so that a recorded call is not accepted again.
inline constexpr char kTokenKey[] = "cluster-iobench-token";
inline constexpr char kAttemptKey[] = "cluster-iobench-attempt";
// Keys that let a worker reconnect: a secret that it has chosen itself, the same for all its attempts, which nobody
// else can present; and, once the coordinator has accepted the worker, the number of requests that have arrived.
inline constexpr char kIdentityKey[] = "cluster-iobench-identity";
inline constexpr char kReceivedKey[] = "cluster-iobench-received";

// Call it before any other use of gRPC; from any thread, any number of times. Turns off gRPC's own log lines ("E1121 …
// chttp2_server.cc:1045] …"), which would clutter the output; the statuses report the same errors. The environment
// variable GRPC_VERBOSITY turns them on again. Also turns off Abseil's deadlock detection for gRPC's locks.
// ResourceExhausted: gRPC could not start its threads.
absl::Status PrepareGrpc();

// From now on, every TLS connection that this process makes refuses certificates that are on these revocation lists (PEM), or
// whose issuer has no list among them that is valid today. Empty: none is checked. gRPC 1.51 has no such setting for
// certificates in memory. Callable from any thread.
void UseRevocationLists(const std::string& crl_pem);

// Raises the limit of open files to the hard limit. Each connection needs a file descriptor, and the default soft limit
// of 1024 is too low for a large cluster. For the end that accepts many connections.
void AllowManyConnections();

// ThreadSanitizer annotations for objects passed to gRPC. gRPC calls back on its own threads, or returns objects from a
// queue, and synchronises with the caller, but ThreadSanitizer cannot see this because Debian's gRPC is built without
// it. Call GiveToGrpc before passing an object to gRPC, and create a Reaction in every callback, or when an object is
// returned. No effect in other builds.
inline void GiveToGrpc([[maybe_unused]] void* object) {
#if defined(IOBENCH_TSAN)
  __tsan_release(object);
#endif
}
// Acquires the object for the duration of one callback, and gives it back at its end.
class Reaction {
 public:
  explicit Reaction(void* object) : object_(object) {
#if defined(IOBENCH_TSAN)
    __tsan_acquire(object_);
#endif
  }
  ~Reaction() {
    GiveToGrpc(object_);
  }
  Reaction(const Reaction&) = delete;
  Reaction& operator=(const Reaction&) = delete;

 private:
  [[maybe_unused]] void* const object_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_GRPC_RUNTIME_H_
