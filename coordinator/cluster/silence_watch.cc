#include "coordinator/cluster/silence_watch.h"

#include <algorithm>
#include <utility>

namespace iobench {
namespace {

constexpr int64_t kLongestBeatNs = 5 * kNanosPerSecond;
constexpr int64_t kLongestToldNs = 10 * kNanosPerSecond;
// A question costs both sides about 70 us over gRPC, so at most 500 of ten thousand workers are asked per second.
constexpr int64_t kAskApartNs = 2'000'000;
constexpr int64_t kLookApartNs = kNanosPerSecond / 10;
constexpr int64_t kLongestAbsenceNs = kNanosPerSecond;

int64_t LeastBeatNs(uint32_t worker_count) {
  return int64_t{worker_count} * kAskApartNs;
}

}  // namespace

int64_t GrantedLeaseNs(uint32_t worker_count, int64_t lease_ns) {
  return std::max(lease_ns, 3 * LeastBeatNs(worker_count));
}

SilenceWatch::SilenceWatch(uint32_t worker_count, int64_t lost_after_ns, int64_t lease_ns, CoordTime now)
    : lost_after_ns_(lost_after_ns),
      told_after_ns_(std::min(kLongestToldNs, lost_after_ns / 2)),
      beat_ns_(
          std::max(std::min({kLongestBeatNs, lost_after_ns / 4, lease_ns / 3}), LeastBeatNs(worker_count))),
      looked_(now),
      workers_(worker_count, Worker{.heard = now, .sent = now}) {}

bool SilenceWatch::Heard(uint32_t worker, CoordTime now) {
  Worker& one = workers_[worker];
  one.heard = now;
  one.asked.ns = INT64_MAX;
  return std::exchange(one.told, false);
}

SilenceWatch::Findings SilenceWatch::Look(CoordTime now) {
  Findings findings;
  const int64_t absence_ns = now - looked_;
  if (absence_ns < kLookApartNs) return findings;
  looked_ = now;
  // Silent for the limit, and for half of it in spite of a question.
  const auto unanswered = [now](const Worker& worker, int64_t limit_ns) {
    return now - worker.heard >= limit_ns && now - worker.asked >= limit_ns / 2;
  };
  const bool was_away = absence_ns > kLongestAbsenceNs;
  for (uint32_t number = 0; number < workers_.size(); ++number) {
    Worker& worker = workers_[number];
    if (worker.gone) continue;
    if (was_away) {
      worker.heard = std::min(now, worker.heard + absence_ns);
      if (worker.asked.ns != INT64_MAX) worker.asked = worker.asked + absence_ns;
    }
    if (worker.asked.ns == INT64_MAX) {
      if (now - worker.heard < beat_ns_ && now - worker.sent < beat_ns_) continue;
      worker.asked = now;
      findings.to_ask.push_back(number);
    } else if (unanswered(worker, lost_after_ns_)) {
      findings.to_give_up.push_back(number);
    } else if (!worker.told && unanswered(worker, told_after_ns_)) {
      worker.told = true;
      findings.to_tell.push_back(number);
    }
  }
  return findings;
}

}  // namespace iobench
