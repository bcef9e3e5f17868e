// Transfer functions of the network test, used at both ends of a connection.
#ifndef COMMON_NET_NET_STREAM_H_
#define COMMON_NET_NET_STREAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/tcp_socket.h"

namespace iobench {

// The bytes transferred in one direction and the time that took.
struct Streamed {
  uint64_t bytes = 0;
  double seconds = 0;
};

inline constexpr double kUnlimitedSeconds = 1e9;

// Writes records for `seconds`, then closes the writing side. Returns the bytes written and the time used.
// DeadlineExceeded: the peer reads so slowly that the last record is not written after `max_seconds`, checked after
// each call of the kernel, which the socket's timeout limits. Otherwise the socket's errors.
absl::StatusOr<Streamed> SendFor(TcpSocket& socket, double seconds, uint32_t record_bytes,
                                 double max_seconds = kUnlimitedSeconds);
// Reads until the peer closes its writing side. The time runs from the arrival of the first chunk, whose bytes are not
// counted, to that of the last. Unavailable: the peer sent nothing. DeadlineExceeded: it still sends after
// `max_seconds`. Otherwise the socket's errors.
absl::StatusOr<Streamed> ReceiveAll(TcpSocket& socket, uint32_t record_bytes,
                                    double max_seconds = kUnlimitedSeconds);

// Sends one byte and waits for its echo, at most `most` times and for at most `max_seconds`, but at least once. Returns
// each round-trip time in ns, then closes the writing side.
// Errors are those of the socket.
absl::StatusOr<std::vector<int64_t>> RoundTrips(TcpSocket& socket, size_t most, double max_seconds);
// The other end of RoundTrips: sends back everything that arrives, until the peer closes its writing side.
// DeadlineExceeded: it still sends after `max_seconds`.
absl::Status Echo(TcpSocket& socket, double max_seconds = kUnlimitedSeconds);

// The first bytes that a worker sends: the token of its request, and the part of the test (v1::NetTest::Part) that this
// connection is for. The coordinator sends them back, and one more byte when the part begins. It closes connections
// with an unknown token: some other program has connected.
struct NetHello {
  uint64_t token = 0;
  uint8_t part = 0;
};
// Format: the token in 8 bytes, least significant first, then the part in one byte.
inline constexpr size_t kNetHelloBytes = 9;
std::array<std::byte, kNetHelloBytes> ToBytes(const NetHello& hello);
NetHello NetHelloFrom(const std::array<std::byte, kNetHelloBytes>& bytes);

}  // namespace iobench

#endif  // COMMON_NET_NET_STREAM_H_
