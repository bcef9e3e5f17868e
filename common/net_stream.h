// What both ends of the network test do with a connection.
#ifndef COMMON_NET_STREAM_H_
#define COMMON_NET_STREAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/tcp_socket.h"

namespace iobench {

// Bytes that went one way, and the time from the first of them to the last.
struct Moved {
  uint64_t bytes = 0;
  double seconds = 0;
};

// Writes records for so long, then ends writing.
absl::StatusOr<Moved> SendFor(TcpSocket& socket, double seconds, uint32_t record_bytes);
// Reads until the peer ends. The time is from the arrival of the first bytes, which do not count, to that of the last.
absl::StatusOr<Moved> ReceiveAll(TcpSocket& socket, uint32_t record_bytes);

// A byte there and back, again and again, at most so often and so long; each time in ns. Then ends writing.
absl::StatusOr<std::vector<int64_t>> RoundTrips(TcpSocket& socket, size_t most, double most_seconds);
absl::Status Echo(TcpSocket& socket);  // the other end of it, until the peer ends

// The worker's first bytes: the token of its request, and which part it is.
struct NetHello {
  uint64_t token = 0;
  uint8_t part = 0;
};
inline constexpr size_t kNetHelloBytes = 9;
std::array<std::byte, kNetHelloBytes> ToBytes(const NetHello& hello);
NetHello NetHelloFrom(const std::array<std::byte, kNetHelloBytes>& bytes);

}  // namespace iobench

#endif  // COMMON_NET_STREAM_H_
