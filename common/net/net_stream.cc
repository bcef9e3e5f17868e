#include "common/net/net_stream.h"

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_util.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr int kBitsPerByte = 8;

// `what`: what the other end still does.
absl::Status TooLong(absl::string_view what, double max_seconds) {
  return absl::DeadlineExceededError(
      absl::StrCat("the other end still ", what, " after ", FormatSeconds(max_seconds)));
}

}  // namespace

absl::StatusOr<Streamed> SendFor(TcpSocket& socket, double seconds, uint32_t record_bytes,
                                 double max_seconds) {
  const std::vector<std::byte> record(record_bytes, std::byte{0x5a});
  Streamed moved;
  const int64_t begin_ns = MonotonicNowNs(), until_ns = begin_ns + NanosFrom(seconds);
  int64_t now_ns = begin_ns;
  while (now_ns < until_ns) {
    for (std::span<const std::byte> left(record); !left.empty();) {
      IOBENCH_ASSIGN_OR_RETURN(const size_t bytes, socket.WriteSome(left));
      left = left.subspan(bytes);
      now_ns = MonotonicNowNs();
      if (SecondsFrom(now_ns - begin_ns) > max_seconds) return TooLong("reads", max_seconds);
    }
    moved.bytes += record.size();
  }
  socket.EndWriting();
  moved.seconds = SecondsFrom(now_ns - begin_ns);
  return moved;
}

absl::StatusOr<Streamed> ReceiveAll(TcpSocket& socket, uint32_t record_bytes, double max_seconds) {
  std::vector<std::byte> buffer(record_bytes);
  IOBENCH_ASSIGN_OR_RETURN(const size_t first, socket.ReadSome(buffer));
  if (first == 0) return absl::UnavailableError("the other end has sent nothing");
  const int64_t begin_ns = MonotonicNowNs();
  int64_t last_ns = begin_ns;
  Streamed moved;
  for (;;) {
    IOBENCH_ASSIGN_OR_RETURN(const size_t bytes, socket.ReadSome(buffer));
    if (bytes == 0) break;
    moved.bytes += bytes;
    last_ns = MonotonicNowNs();
    if (SecondsFrom(last_ns - begin_ns) > max_seconds) return TooLong("sends", max_seconds);
  }
  moved.seconds = SecondsFrom(last_ns - begin_ns);
  return moved;
}

absl::StatusOr<std::vector<int64_t>> RoundTrips(TcpSocket& socket, size_t most, double max_seconds) {
  std::vector<int64_t> times_ns;
  times_ns.reserve(most);
  std::array<std::byte, 1> byte{};
  const int64_t until_ns = MonotonicNowNs() + NanosFrom(max_seconds);
  for (int64_t now_ns = MonotonicNowNs();
       times_ns.size() < most && (times_ns.empty() || now_ns < until_ns);) {
    IOBENCH_RETURN_IF_ERROR(socket.WriteAll(byte));
    IOBENCH_RETURN_IF_ERROR(socket.ReadAll(byte));
    const int64_t back_ns = MonotonicNowNs();
    times_ns.push_back(back_ns - now_ns);
    now_ns = back_ns;
  }
  socket.EndWriting();
  return times_ns;
}

absl::Status Echo(TcpSocket& socket, double max_seconds) {
  std::array<std::byte, 64> bytes{};
  const int64_t begin_ns = MonotonicNowNs();
  for (;;) {
    IOBENCH_ASSIGN_OR_RETURN(const size_t count, socket.ReadSome(bytes));
    if (count == 0) return absl::OkStatus();
    IOBENCH_RETURN_IF_ERROR(socket.WriteAll(std::span(bytes).first(count)));
    if (SecondsFrom(MonotonicNowNs() - begin_ns) > max_seconds) return TooLong("sends", max_seconds);
  }
}

std::array<std::byte, kNetHelloBytes> ToBytes(const NetHello& hello) {
  std::array<std::byte, kNetHelloBytes> bytes{};
  for (size_t i = 0; i < sizeof(hello.token); ++i) {
    bytes[i] = static_cast<std::byte>(hello.token >> (kBitsPerByte * i));
  }
  bytes.back() = std::byte{hello.part};
  return bytes;
}

NetHello NetHelloFrom(const std::array<std::byte, kNetHelloBytes>& bytes) {
  NetHello hello;
  for (size_t i = 0; i < sizeof(hello.token); ++i) {
    hello.token |= uint64_t{std::to_integer<uint8_t>(bytes[i])} << (kBitsPerByte * i);
  }
  hello.part = std::to_integer<uint8_t>(bytes.back());
  return hello;
}

}  // namespace iobench
