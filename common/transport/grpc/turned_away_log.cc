#include "common/transport/grpc/turned_away_log.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

// "10.0.0.7:4242" and "10.0.0.7:4243" are the same host.
std::string HostOf(const std::string& peer) {
  const size_t colon = peer.rfind(':');
  return colon == std::string::npos ? peer : peer.substr(0, colon);
}

}  // namespace

void TurnedAwayLog::EndPeriod(int64_t now_ns) {
  if (now_ns < period_ends_ns_) return;
  period_ends_ns_ = now_ns + kPeriodNs;
  told_.clear();
  const uint64_t left_out = std::exchange(left_out_, 0);
  if (left_out == 0) return;
  lines_.push_back(absl::StrCat(left_out, left_out == 1 ? " more connection was" : " more connections were",
                                " turned away in the last seconds"));
}

void TurnedAwayLog::Add(const std::string& peer, const std::string& reason, int64_t now_ns) {
  if (tell_ == nullptr) return;
  MutexLock lock(mutex_);
  EndPeriod(now_ns);
  if (told_.size() < kMaxLines && told_.insert(absl::StrCat(HostOf(peer), " ", reason)).second) {
    lines_.push_back(absl::StrCat(peer, " was turned away: ", reason));
  } else {
    ++left_out_;
  }
}

void TurnedAwayLog::Tick(int64_t now_ns) {
  if (tell_ == nullptr) return;
  std::vector<std::string> lines;
  {
    MutexLock lock(mutex_);
    if (left_out_ > 0) EndPeriod(now_ns);
    lines.swap(lines_);
  }
  for (const std::string& line : lines) tell_(line);
}

}  // namespace iobench
