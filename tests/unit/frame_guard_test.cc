#include "common/transport/guard/frame_guard.h"

#include <catch2/catch.hpp>

#include <string>

namespace iobench {
namespace {

constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr uint64_t kMaxEvents = 1 << 20;
enum : uint8_t { kData, kHeaders, kPriority, kReset, kSettings, kPush, kPing, kGoAway, kWindow, kContinuation };
constexpr int64_t kSecondNs = 1'000'000'000;

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& body) {
  const auto byte = [](size_t value) { return static_cast<char>(value & 0xff); };
  std::string frame;
  for (const int shift : {16, 8, 0}) frame += byte(body.size() >> shift);
  frame += byte(type);
  frame += byte(flags);
  for (const int shift : {24, 16, 8, 0}) frame += byte(stream >> shift);
  return frame + body;
}

std::string Call(uint32_t stream = 1) {
  return Frame(kHeaders, 4, stream, "\x83\x86");
}

// As gRPC writes a message into its stream.
std::string Message(const std::string& body) {
  std::string message(1, '\0');
  for (const int shift : {24, 16, 8, 0}) message += static_cast<char>(body.size() >> shift & 0xff);
  return message + body;
}

std::string Event(size_t bytes) {
  return Frame(kData, 0, 1, Message(std::string(bytes, 'x')));
}

struct Guarded {
  FrameGuard guard{kMaxEvents, 0};
  int64_t now_ns = 0;

  absl::Status Sends(const std::string& bytes) {
    return guard.Check({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, now_ns);
  }
  // How many of these pass before one does not.
  uint64_t CountOf(const std::string& frame, uint64_t max = 100'000) {
    uint64_t count = 0;
    while (count < max && Sends(frame).ok()) ++count;
    return count;
  }
  void IsSent(const std::string& bytes) {
    guard.Answered({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  }
  static Guarded WithCall() {
    Guarded guarded;
    REQUIRE(guarded.Sends(kPreface + Frame(kSettings, 0, 0, "") + Call()).ok());
    return guarded;
  }
};

TEST_CASE("what a worker sends passes, however it is cut into pieces") {
  const std::string bytes = kPreface + Frame(kSettings, 0, 0, std::string(12, 's')) + Frame(kSettings, 1, 0, "") + Call() +
                            Event(100) + Frame(kWindow, 0, 0, "1234") + Frame(kWindow, 0, 1, "1234") +
                            Frame(kPing, 0, 0, "12345678") + Event(0) + Frame(kData, 1, 1, "") +
                            Frame(kReset, 0, 1, "1234") + Frame(kGoAway, 0, 0, "12345678");
  const size_t piece = GENERATE(1u, 2u, 7u, 1000u);
  Guarded guarded;
  for (size_t at = 0; at < bytes.size(); at += piece) REQUIRE(guarded.Sends(bytes.substr(at, piece)).ok());
}

TEST_CASE("what no worker sends is refused, and the reason says so") {
  const auto& [bytes, words] = GENERATE(table<std::string, std::string>({
      {Frame(kContinuation, 0, 1, "x"), "of type 9"},
      {Frame(kPriority, 0, 1, "12345"), "of type 2"},
      {Frame(kPush, 4, 1, "1234"), "of type 5"},
      {Frame(0xfa, 0, 0, "x"), "of type 250"},
      {Frame(kHeaders, 0, 3, "\x83"), "headers in parts"},
      {Frame(kHeaders, 4 | 8, 3, "\x83"), "padding"},
      {Frame(kHeaders, 4, 1, "\x83"), "outside of a call"},  // trailers
      {Frame(kHeaders, 4, 2, "\x83"), "outside of a call"},
      {Frame(kHeaders, 4, 3, std::string(5000, '\x83')), "5000 bytes of headers"},
      {Frame(kHeaders, 4, 3, std::string(300, '\x83')), "19200 bytes of headers"},
      {Frame(kHeaders, 4, 3, "\x80"), "damaged headers"},
      {Frame(kData, 0, 3, "x"), "outside of a call"},
      {Frame(kData, 0, 1, ""), "without content"},
      {Frame(kData, 8, 1, "\x01xx"), "padded"},
      {Frame(kData, 0, 1, std::string(17'000, 'x')), "a frame of 17000 bytes"},
      {Frame(kReset, 0, 3, "1234"), "a call that it did not make"},
      {Frame(kSettings, 0, 0, std::string(600, 's')), "settings"},
      {Frame(kPing, 0, 0, "1"), "ping"},
      {Frame(kWindow, 0, 7, "1234"), "window"},
      {Frame(kGoAway, 0, 0, std::string(2000, 'g')), "farewell"},
      {Frame(kData, 1, 1, "") + Frame(kData, 0, 1, "x"), "outside of a call"},
  }));
  const absl::Status status = Guarded::WithCall().Sends(bytes);
  CAPTURE(words);
  CHECK(absl::IsInvalidArgument(status));
  CHECK(std::string(status.message()).find(words) != std::string::npos);
  CHECK(std::string(status.message()).find("which no worker sends") != std::string::npos);
}

TEST_CASE("a connection that does not begin as HTTP/2 is refused at its first wrong byte") {
  Guarded guarded;
  CHECK(guarded.Sends("PRI * H").ok());
  CHECK_FALSE(guarded.Sends("X").ok());
}

TEST_CASE("a connection makes a limited number of calls") {
  Guarded guarded = Guarded::WithCall();
  uint32_t stream = 3;
  int count = 0;
  while (count < 1000 && guarded.Sends(Call(stream) + Frame(kReset, 0, stream, "1234")).ok()) {
    ++count;
    stream += 2;
  }
  CHECK(count == 63);
}

TEST_CASE("control frames pass as far as their budget lasts") {
  const std::string frame = GENERATE(Frame(kPing, 0, 0, "12345678"), Frame(kSettings, 0, 0, ""), Frame(kSettings, 1, 0, ""),
                                     Frame(kWindow, 0, 0, "1234"), Frame(kReset, 0, 1, "1234"));
  Guarded guarded = Guarded::WithCall();
  REQUIRE(guarded.CountOf(frame, 255) == 255);  // the settings at its beginning were one
  SECTION("and no further") {
    CHECK(absl::IsResourceExhausted(guarded.Sends(frame)));
  }
  SECTION("time adds two a second") {
    guarded.now_ns = 10 * kSecondNs;
    CHECK(guarded.CountOf(frame) == 20);
  }
  SECTION("each frame of a request adds four") {
    guarded.IsSent(Frame(kPing, 1, 0, "12345678") + Frame(kData, 0, 1, "request"));
    CHECK(guarded.CountOf(frame) == 4);
  }
}

TEST_CASE("events pass as far as their budget lasts: twice what results may have, and each costs a KiB") {
  Guarded guarded = Guarded::WithCall();
  const std::string event = Event(1019);  // and 5 of its own, and the cost
  CHECK(guarded.CountOf(event) == 2 * kMaxEvents / 2048);
  CHECK(absl::IsResourceExhausted(guarded.Sends(event)));
  SECTION("a request whose answer may be as large as results adds as much as they may have") {
    Guarded asked = Guarded::WithCall();
    asked.CountOf(event, 2 * kMaxEvents / 2048);
    asked.guard.ExpectMuch();
    CHECK(asked.CountOf(event) == kMaxEvents / 2048);
  }
  SECTION("any other request adds 256 KiB, and ten seconds what results may have") {
    Guarded asked = Guarded::WithCall();
    asked.CountOf(event, 2 * kMaxEvents / 2048);
    asked.IsSent(Frame(kData, 0, 1, "request"));
    CHECK(asked.CountOf(event, 128) == 128);
    asked.now_ns = 10 * kSecondNs;
    CHECK(asked.CountOf(event) == kMaxEvents / 2048);
  }
}

TEST_CASE("events without content have a budget, too, many in one frame") {
  Guarded guarded = Guarded::WithCall();
  std::string events;
  for (int i = 0; i < 3000; ++i) events += Message("");
  CHECK(absl::IsResourceExhausted(guarded.Sends(Frame(kData, 0, 1, events))));
}

TEST_CASE("an event that is larger than results may be is refused by its first bytes") {
  Guarded guarded = Guarded::WithCall();
  CHECK(guarded.Sends(Frame(kData, 0, 1, std::string("\0\0\x10\0\1", 5))).message() ==
        "it sent an event that is too large: 1048577 bytes");
}

TEST_CASE("an event that spans frames counts once") {
  Guarded guarded = Guarded::WithCall();
  const std::string event = Message(std::string(100'000, 'x'));
  for (size_t at = 0; at < event.size(); at += 10'000) {
    REQUIRE(guarded.Sends(Frame(kData, 0, 1, event.substr(at, 10'000))).ok());
  }
  CHECK(guarded.CountOf(Event(1019)) == (2 * kMaxEvents - event.size() - 1024) / 2048);
}

}  // namespace
}  // namespace iobench
