#include "coordinator/cluster/ping_log.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace iobench {
namespace {

CoordTime TimeOf(const v1::PingBurst& burst) {
  return {burst.samples(burst.samples_size() - 1).returned_coord_ns()};
}

}  // namespace

void PingLog::Add(v1::PingBurst burst) {
  bursts_.push_back(std::move(burst));
  if (bursts_.size() > kMaxBursts) Thin();
}

void PingLog::StartPhase() {
  if (bursts_.size() > 1) bursts_.erase(bursts_.begin(), bursts_.end() - 1);
  instants_.clear();
}

void PingLog::Thin() {
  std::vector<bool> kept(bursts_.size(), false);
  kept.front() = kept.back() = true;
  for (const CoordTime instant : instants_) {
    const auto after = std::find_if(bursts_.begin(), bursts_.end(),
                                    [&](const v1::PingBurst& burst) { return TimeOf(burst) >= instant; });
    if (after != bursts_.end()) kept[static_cast<size_t>(after - bursts_.begin())] = true;
    if (after != bursts_.begin()) kept[static_cast<size_t>(after - bursts_.begin()) - 1] = true;
  }
  size_t dropped = 0;
  int64_t min_gap_ns = std::numeric_limits<int64_t>::max();
  for (size_t i = 1; i + 1 < bursts_.size(); ++i) {
    const int64_t gap_ns = TimeOf(bursts_[i + 1]) - TimeOf(bursts_[i - 1]);
    if (kept[i] || gap_ns >= min_gap_ns) continue;
    dropped = i;
    min_gap_ns = gap_ns;
  }
  if (dropped > 0) bursts_.erase(bursts_.begin() + static_cast<ptrdiff_t>(dropped));
}

}  // namespace iobench
