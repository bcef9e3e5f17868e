// Checks what a worker sends, frame by frame, before gRPC sees it.
#ifndef COMMON_TRANSPORT_GUARD_FRAME_GUARD_H_
#define COMMON_TRANSPORT_GUARD_FRAME_GUARD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/transport/guard/header_bound.h"

namespace iobench {

// gRPC accepts any HTTP/2, and some of it costs its receiver far more than its sender: each frame that must be answered,
// each call that is cancelled at once, headers without end. A worker needs very little of it. So each connection has a
// guard, which lets pass only what a worker of this project can send, and no more of it than the coordinator's requests
// call for. Whoever sends anything else is hostile or broken, and its connection ends.
//
// | frame                      | passes                                                                              |
// |----------------------------|-------------------------------------------------------------------------------------|
// | HEADERS                    | a new call, in one frame of at most 4 KiB, at most 16 KiB unpacked; 64 a connection |
// | DATA                       | on such a call, unpadded, not empty, as far as the budget of events lasts           |
// | RST_STREAM                 | once for each call                                                                  |
// | SETTINGS, PING, WINDOW     | as far as the budget of control frames lasts                                        |
// | GOAWAY                     | 4 of at most 1 KiB                                                                  |
// | CONTINUATION and all other | never                                                                               |
//
// The budget of events is in bytes; each event counts kEventCostBytes more, about what queueing and handling it costs.
// With E, the max. of bytes that a worker's results may have (GrpcListenOptions::max_event_bytes: 16 MiB and 96 KiB for each
// lane, at most 512 MiB), it is 2 E at first and at most: results, and what is left of the phase before. A request other than
// Ping, Poll and Adjust adds E; any adds 256 KiB for each DATA frame it takes, and time adds E in 10 s, for what workers
// send unasked (ends of lanes, progress). So for each such request, the coordinator handles at most about 2 E.
//
// The budget of control frames: a worker acknowledges each change of settings, pings once in 10 s (kKeepalivePingMs),
// and returns what it has read of each message as two windows. That is 256 at first and at most, 4 for each DATA frame
// it is sent, and 2 a second.
//
// Any thread, one at a time.
class FrameGuard {
 public:
  static constexpr uint64_t kEventCostBytes = 1 << 10;

  explicit FrameGuard(uint64_t max_event_bytes, int64_t now_ns);

  // Checks what came next from the worker. An error is the reason for which the worker is dropped, and completes "the
  // worker at …: "; nothing may be passed on then.
  absl::Status Check(std::span<const unsigned char> bytes, int64_t now_ns);
  // gRPC has sent this to the worker.
  void Answered(std::span<const unsigned char> bytes);
  // The coordinator sends a request whose answer may be as large as results.
  void ExpectMuch();

 private:
  // Splits a connection's bytes into frames: collects a frame's first 9 bytes, then counts down its body.
  struct Splitter {
    std::array<unsigned char, 9> head = {};
    size_t head_bytes = 0;
    uint32_t body_left = 0;

    uint8_t type() const { return head[3]; }
    uint8_t flags() const { return head[4]; }
    uint32_t length() const { return uint32_t{head[0]} << 16 | uint32_t{head[1]} << 8 | head[2]; }
    uint32_t stream() const;
    // Takes bytes of the head away from the front of `bytes`. True: the head is complete now.
    bool TakeHead(std::span<const unsigned char>& bytes);
    std::span<const unsigned char> TakeBody(std::span<const unsigned char>& bytes);
  };
  // A call, and where its stream of messages stands.
  struct Call {
    bool ended = false;
    size_t prefix_bytes = 0;  // of the next message's 5
    std::array<unsigned char, 5> prefix = {};
    uint64_t message_left = 0;
  };

  absl::Status CheckHead(int64_t now_ns);
  absl::Status CheckHeaders();
  absl::Status CheckData(std::span<const unsigned char> body, int64_t now_ns);
  absl::Status SpendControl(int64_t now_ns);
  absl::Status SpendEvents(uint64_t bytes, int64_t now_ns);
  void Refill(int64_t now_ns);

  const uint64_t max_event_bytes_;
  size_t preface_bytes_ = 0;  // how much of the connection's first bytes has arrived
  Splitter in_, out_;
  std::vector<unsigned char> header_block_;
  HeaderBound header_bound_;
  std::map<uint32_t, Call> calls_;  // at most 64, by their streams
  int goaways_ = 0;
  int64_t refilled_at_ns_;
  double events_left_bytes_;
  double control_left_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GUARD_FRAME_GUARD_H_
