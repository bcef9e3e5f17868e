#include "common/transport/grpc/turned_away_log.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

// "10.0.0.7:4242" and "10.0.0.7:4243" are the same host.
std::string HostOf(const std::string& peer) {
  const size_t colon = peer.rfind(':');
  return colon == std::string::npos ? peer : peer.substr(0, colon);
}

std::string SumUp(const RepeatedLines::LeftOut& left_out) {
  const uint64_t count = left_out.all();
  return absl::StrCat(count, count == 1 ? " more connection was" : " more connections were",
                      " turned away in the last seconds");
}

constexpr int64_t kPeriodNs = 10'000'000'000;
constexpr size_t kMaxLines = 8;

}  // namespace

TurnedAwayLog::TurnedAwayLog(Tell tell) : tell_(std::move(tell)), lines_(kPeriodNs, kMaxLines, SumUp) {}

void TurnedAwayLog::Add(const std::string& peer, const std::string& reason, int64_t now_ns) {
  if (tell_ == nullptr) return;
  MutexLock lock(mutex_);
  lines_.Add(absl::StrCat(HostOf(peer), " ", reason), absl::StrCat(peer, " was turned away: ", reason), now_ns);
}

void TurnedAwayLog::Tick(int64_t now_ns) {
  if (tell_ == nullptr) return;
  std::vector<std::string> lines;
  {
    MutexLock lock(mutex_);
    lines = lines_.Take(now_ns);
  }
  for (const std::string& line : lines) tell_(line);
}

}  // namespace iobench
