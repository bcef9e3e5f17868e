// gRPC settings that both ends of a connection share.
#ifndef COMMON_TRANSPORT_GRPC_GRPC_RUNTIME_H_
#define COMMON_TRANSPORT_GRPC_GRPC_RUNTIME_H_

#if defined(IOBENCH_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace iobench {

// A peer that disappears silently (power or cable failure) is detected within 30 s. Idle streams are pinged too, since
// no messages may pass during a long phase.
inline constexpr int kKeepalivePingMs = 10'000;
inline constexpr int kKeepaliveTimeoutMs = 20'000;
// The min. interval between a peer's pings; gRPC treats more frequent pings as an attack.
inline constexpr int kKeepaliveMinPingMs = 5'000;
// For gRPC's limits of message sizes: results of many lanes exceed its default of 4 MiB.
inline constexpr int kUnlimitedBytes = -1;

// The coordinator puts this key into the initial metadata of every stream that it accepts. The mere arrival of metadata
// would not prove anything: a call that failed to connect may have empty metadata.
inline constexpr char kAcceptedKey[] = "cluster-iobench-accepted";

// Turns off gRPC's own log lines ("E1121 … chttp2_server.cc:1045] …"), which would clutter the output; the statuses
// report the same errors. The environment variable GRPC_VERBOSITY turns them on again. Callable from any thread, any
// number of times.
void QuietGrpcLog();

// Raises the limit of open files to the hard limit. Each connection needs a file descriptor, and the default soft limit
// of 1024 is too low for a large cluster. For the end that accepts many connections.
void AllowManyConnections();

// ThreadSanitizer annotations for objects passed to gRPC. gRPC calls back on its own threads and synchronises with the
// caller, but ThreadSanitizer cannot see this because Debian's gRPC is built without it. Call GiveToGrpc before passing
// an object to gRPC, and create a Reaction in every callback. No effect in other builds.
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
