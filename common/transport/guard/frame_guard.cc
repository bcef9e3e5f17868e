#include "common/transport/guard/frame_guard.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum Frame : uint8_t { kData, kHeaders, kPriority, kReset, kSettings, kPush, kPing, kGoAway, kWindow, kContinuation };
constexpr uint8_t kEndStream = 1, kAck = 1, kEndHeaders = 4;
constexpr uint32_t kMaxFrameBytes = 16 << 10;  // HTTP/2's default, which the coordinator never raises
constexpr uint32_t kMaxBlockBytes = 4 << 10;   // a token has at most 512 characters
constexpr uint64_t kMaxHeaderBytes = 16 << 10;
constexpr uint32_t kMaxSettingsBytes = 16 * 6;
constexpr uint32_t kMaxGoAwayBytes = 1 << 10;
constexpr int kMaxGoAways = 4;
// A worker makes one call. One that is turned away may call again over the same connection, every 200 ms for a second.
constexpr size_t kMaxCalls = 64;

constexpr double kMaxControl = 256;
constexpr double kControlPerFrame = 4;
constexpr double kControlPerSecond = 2;
constexpr double kEventBytesPerFrame = 256 << 10;
constexpr double kSecondsOfEvents = 10;

absl::Status Foreign(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("it sent ", what, ", which no worker sends"));
}

}  // namespace

uint32_t FrameGuard::Splitter::stream() const {
  return uint32_t{head[5] & 0x7fu} << 24 | uint32_t{head[6]} << 16 | uint32_t{head[7]} << 8 | head[8];
}

bool FrameGuard::Splitter::TakeHead(std::span<const unsigned char>& bytes) {
  const size_t count = std::min(bytes.size(), head.size() - head_bytes);
  std::copy_n(bytes.begin(), count, head.begin() + static_cast<std::ptrdiff_t>(head_bytes));
  bytes = bytes.subspan(count);
  head_bytes += count;
  if (head_bytes < head.size()) return false;
  head_bytes = 0;
  body_left = length();
  return true;
}

std::span<const unsigned char> FrameGuard::Splitter::TakeBody(std::span<const unsigned char>& bytes) {
  const auto body = bytes.first(std::min<size_t>(bytes.size(), body_left));
  bytes = bytes.subspan(body.size());
  body_left -= static_cast<uint32_t>(body.size());
  return body;
}

FrameGuard::FrameGuard(uint64_t max_event_bytes, int64_t now_ns)
    : max_event_bytes_(max_event_bytes),
      refilled_at_ns_(now_ns),
      events_left_bytes_(2.0 * static_cast<double>(max_event_bytes)),
      control_left_(kMaxControl) {}

absl::Status FrameGuard::Check(std::span<const unsigned char> bytes, int64_t now_ns) {
  while (!bytes.empty() && preface_bytes_ < kPreface.size()) {
    if (bytes.front() != static_cast<unsigned char>(kPreface[preface_bytes_++])) return Foreign("something else than HTTP/2");
    bytes = bytes.subspan(1);
  }
  while (!bytes.empty()) {
    if (in_.body_left == 0) {
      if (!in_.TakeHead(bytes)) break;
      if (absl::Status status = CheckHead(now_ns); !status.ok()) return status;
      if (in_.body_left > 0) continue;
    }
    const auto body = in_.TakeBody(bytes);
    absl::Status status;
    if (in_.type() == kData) {
      status = CheckData(body, now_ns);
    } else if (in_.type() == kHeaders) {
      header_block_.insert(header_block_.end(), body.begin(), body.end());
      if (in_.body_left == 0) status = CheckHeaders();
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status FrameGuard::CheckHead(int64_t now_ns) {
  const uint32_t stream = in_.stream(), bytes = in_.length();
  const uint8_t flags = in_.flags();
  if (bytes > kMaxFrameBytes) return Foreign(absl::StrCat("a frame of ", bytes, " bytes"));
  const auto call = calls_.find(stream);
  switch (in_.type()) {
    case kData:
      if (call == calls_.end() || call->second.ended) return Foreign("data outside of a call");
      if ((flags & ~kEndStream) != 0) return Foreign("padded data");
      if (bytes == 0 && flags == 0) return Foreign("data without content");
      if ((flags & kEndStream) != 0) call->second.ended = true;
      return absl::OkStatus();
    case kHeaders:
      if ((flags & ~kEndStream) != kEndHeaders) return Foreign("headers in parts, with padding or a priority");
      if (bytes > kMaxBlockBytes) return Foreign(absl::StrCat(bytes, " bytes of headers"));
      if (stream % 2 == 0 || (!calls_.empty() && stream <= calls_.rbegin()->first)) return Foreign("headers outside of a call");
      if (calls_.size() >= kMaxCalls) return Foreign(absl::StrCat("more than ", kMaxCalls, " calls over one connection"));
      calls_[stream].ended = (flags & kEndStream) != 0;
      header_block_.clear();
      return bytes == 0 ? CheckHeaders() : absl::OkStatus();
    case kReset:
      if (bytes != 4 || call == calls_.end()) return Foreign("the end of a call that it did not make");
      return SpendControl(now_ns);
    case kSettings:
      if (stream != 0 || bytes > kMaxSettingsBytes || bytes % 6 != 0 || (flags & ~kAck) != 0) return Foreign("such settings");
      return SpendControl(now_ns);
    case kPing:
      if (stream != 0 || bytes != 8 || (flags & ~kAck) != 0) return Foreign("such a ping");
      return SpendControl(now_ns);
    case kGoAway:
      if (stream != 0 || bytes > kMaxGoAwayBytes || ++goaways_ > kMaxGoAways) return Foreign("such a farewell");
      return absl::OkStatus();
    case kWindow:
      if (bytes != 4 || (stream != 0 && call == calls_.end())) return Foreign("such a window");
      return SpendControl(now_ns);
    default:
      return Foreign(absl::StrCat("an HTTP/2 frame of type ", in_.type()));
  }
}

absl::Status FrameGuard::CheckHeaders() {
  const std::optional<uint64_t> bytes = header_bound_.Add(header_block_);
  header_block_.clear();
  if (!bytes.has_value()) return Foreign("damaged headers");
  if (*bytes > kMaxHeaderBytes) return Foreign(absl::StrCat(*bytes, " bytes of headers"));
  return absl::OkStatus();
}

absl::Status FrameGuard::CheckData(std::span<const unsigned char> body, int64_t now_ns) {
  Call& call = calls_[in_.stream()];
  uint64_t cost = body.size();
  while (!body.empty()) {
    const size_t inside = std::min<uint64_t>(body.size(), call.message_left);
    body = body.subspan(inside);
    call.message_left -= inside;
    if (body.empty()) break;
    call.prefix[call.prefix_bytes++] = body.front();
    body = body.subspan(1);
    if (call.prefix_bytes < call.prefix.size()) continue;
    call.prefix_bytes = 0;
    for (size_t i = 1; i < call.prefix.size(); ++i) call.message_left = call.message_left << 8 | call.prefix[i];
    cost += kEventCostBytes;
    if (call.message_left > max_event_bytes_) {
      return absl::ResourceExhaustedError(absl::StrCat("it sent an event that is too large: ", call.message_left, " bytes"));
    }
  }
  return SpendEvents(cost, now_ns);
}

void FrameGuard::Refill(int64_t now_ns) {
  const double seconds = static_cast<double>(std::max<int64_t>(0, now_ns - refilled_at_ns_)) / 1e9;
  refilled_at_ns_ = std::max(now_ns, refilled_at_ns_);
  const auto max_events = static_cast<double>(max_event_bytes_);
  events_left_bytes_ = std::min(2 * max_events, events_left_bytes_ + seconds * max_events / kSecondsOfEvents);
  control_left_ = std::min(kMaxControl, control_left_ + seconds * kControlPerSecond);
}

absl::Status FrameGuard::SpendControl(int64_t now_ns) {
  Refill(now_ns);
  if (--control_left_ >= 0) return absl::OkStatus();
  return absl::ResourceExhaustedError("it sent more control frames of HTTP/2 than a worker needs");
}

absl::Status FrameGuard::SpendEvents(uint64_t bytes, int64_t now_ns) {
  Refill(now_ns);
  events_left_bytes_ -= static_cast<double>(bytes);
  if (events_left_bytes_ >= 0) return absl::OkStatus();
  return absl::ResourceExhaustedError("it sent more than it was asked for");
}

void FrameGuard::Answered(std::span<const unsigned char> bytes) {
  while (!bytes.empty()) {
    if (out_.body_left == 0) {
      if (!out_.TakeHead(bytes)) break;
      if (out_.type() == kData && out_.length() > 0) {
        control_left_ = std::min(kMaxControl, control_left_ + kControlPerFrame);
        events_left_bytes_ =
            std::min(2.0 * static_cast<double>(max_event_bytes_), events_left_bytes_ + kEventBytesPerFrame);
      }
      continue;
    }
    out_.TakeBody(bytes);
  }
}

void FrameGuard::ExpectMuch() {
  const auto max_events = static_cast<double>(max_event_bytes_);
  events_left_bytes_ = std::min(2 * max_events, events_left_bytes_ + max_events);
}

}  // namespace iobench
