// What both ends of a gRPC connection agree on.
#ifndef COMMON_TRANSPORT_GRPC_RUNTIME_H_
#define COMMON_TRANSPORT_GRPC_RUNTIME_H_

#if defined(IOBENCH_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace iobench {

// A peer that vanished without a word (power, cable) is noticed within half a minute. Idle streams are pinged too:
// between two events of a long phase nothing else passes.
inline constexpr int kKeepalivePingMs = 10'000;
inline constexpr int kKeepaliveTimeoutMs = 20'000;
// The least distance of a peer's pings that is not taken for an attack.
inline constexpr int kKeepaliveMinPingMs = 5'000;
inline constexpr int kUnlimitedBytes = -1;

// Stands in the initial metadata of every stream that a coordinator has accepted. Metadata alone would not do: a call
// that failed to connect may have an empty set of it.
inline constexpr char kAcceptedKey[] = "cluster-iobench-accepted";

// gRPC's own log lines ("E1121 … chttp2_server.cc:1045] …") would stand between our reports; what they say is in our
// statuses. They come where the environment variable GRPC_VERBOSITY asks for them. Any thread, as often as you like.
void QuietGrpcLog();

// A connection is a file descriptor, and the usual soft limit of 1024 would end a large cluster: raises it to the hard
// limit. For the end that holds many connections.
void AllowManyConnections();

// gRPC calls what it was given on threads of its own, and takes care that all that came before is seen there.
// ThreadSanitizer cannot know: Debian's gRPC is not built for it. So we say it: GiveToGrpc before an object is handed
// over, and a Reaction in whatever gRPC calls. Nothing in other builds.
inline void GiveToGrpc([[maybe_unused]] void* object) {
#if defined(IOBENCH_TSAN)
  __tsan_release(object);
#endif
}
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

#endif  // COMMON_TRANSPORT_GRPC_RUNTIME_H_
