#include "worker/loop/arrivals.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace iobench {
namespace {

double RampCount(const ArrivalRate& rate) {
  return rate.ramp_s * (rate.begin_per_s + rate.end_per_s) / 2;
}

// The rate within a burst.
double BurstPerS(const ArrivalRate& rate) {
  return rate.begin_per_s * rate.burst_every_s / rate.burst_s;
}

double Slope(const ArrivalRate& rate) {
  return (rate.end_per_s - rate.begin_per_s) / rate.ramp_s;
}

// At the lower end of a ramp; with bursts, within them.
double MeanGapNs(const ArrivalRate& rate) {
  if (rate.burst_s > 0) return 1e9 / BurstPerS(rate);
  return 1e9 / (rate.ramp_s > 0 ? std::min(rate.begin_per_s, rate.end_per_s) : rate.begin_per_s);
}

}  // namespace

ArrivalTimes::ArrivalTimes(const ArrivalRate& rate, uint64_t seed)
    : rate_(rate),
      ramp_count_(RampCount(rate)),
      random_(seed),
      count_(rate.poisson ? 0 : rate.first_gap - 1) {
  assert(rate.begin_per_s > 0 && (rate.ramp_s == 0 || rate.end_per_s > 0));
  assert(rate.burst_s == 0 || (rate.burst_s <= rate.burst_every_s && rate.ramp_s == 0));
}

double ArrivalTimes::NextNs() {
  count_ += rate_.poisson ? std::exponential_distribution<double>(1)(random_) : 1;
  return SecondsAt(count_) * 1e9;
}

double ArrivalTimes::SecondsAt(double count) const {
  if (rate_.burst_s > 0) {
    const double busy_s = count / BurstPerS(rate_);
    return busy_s + std::floor(busy_s / rate_.burst_s) * (rate_.burst_every_s - rate_.burst_s);
  }
  if (rate_.ramp_s == 0) return count / rate_.begin_per_s;
  if (count > ramp_count_) return rate_.ramp_s + (count - ramp_count_) / rate_.end_per_s;
  // The rate's integral is begin * t + slope * t^2 / 2. This form of the solution does not subtract nearly equal
  // numbers if the slope is small.
  const double squared = rate_.begin_per_s * rate_.begin_per_s + 2 * Slope(rate_) * count;
  const double root = std::sqrt(std::max(0.0, squared));
  return 2 * count / (rate_.begin_per_s + root);
}

double ArrivalTimes::CountAt(double seconds) const {
  if (rate_.burst_s > 0) {
    const double periods = std::floor(seconds / rate_.burst_every_s);
    const double in_period_s = seconds - periods * rate_.burst_every_s;
    return BurstPerS(rate_) * (periods * rate_.burst_s + std::min(in_period_s, rate_.burst_s));
  }
  if (rate_.ramp_s == 0) return seconds * rate_.begin_per_s;
  if (seconds > rate_.ramp_s) return ramp_count_ + (seconds - rate_.ramp_s) * rate_.end_per_s;
  return seconds * (rate_.begin_per_s + Slope(rate_) * seconds / 2);
}

Arrivals::Arrivals(const ArrivalRate& rate, uint64_t seed, const TickScale& scale, int64_t measured_from_ns)
    : rate_(rate), scale_(scale), measured_from_ns_(measured_from_ns), times_(rate, seed) {
  constexpr size_t kMaxLanes = 4096;  // each puts back at most one op; with more lanes, the loop may allocate
  put_back_.reserve(kMaxLanes);
}

Ticks Arrivals::Take(Ticks now) {
  const MutexLock lock(mutex_);
  if (!start_) start_ = now;
  if (put_back_.empty()) return Draw();
  const auto first = std::min_element(put_back_.begin(), put_back_.end());
  const Ticks due = *first;
  put_back_.erase(first);
  return due;
}

Ticks Arrivals::Draw() {
  return {start_->value + scale_.DurationTicks(std::llround(times_.NextNs()))};
}

double Arrivals::CountAt(Ticks at) const {
  return times_.CountAt(SecondsFrom(static_cast<int64_t>(scale_.DurationNs(at.value - start_->value))));
}

void Arrivals::PutBack(Ticks due) {
  const MutexLock lock(mutex_);
  put_back_.push_back(due);
}

uint64_t Arrivals::MissedBefore(Ticks end, int64_t limit_ns) {
  const MutexLock lock(mutex_);
  if (!start_) return 0;
  if (limit_ns < INT64_MAX) end = std::min(end, Ticks{start_->value + scale_.DurationTicks(limit_ns)});
  const Ticks measured_from{start_->value + scale_.DurationTicks(measured_from_ns_)};
  const auto is_missed = [&](Ticks due) { return due >= measured_from && due < end; };
  auto count = static_cast<uint64_t>(std::count_if(put_back_.begin(), put_back_.end(), is_missed));
  // A rate far beyond what the storage can do leaves more ops than can be drawn one by one.
  constexpr int kMaxDraws = 10'000'000;
  Ticks due = Draw();
  for (int i = 0; i < kMaxDraws && due < end; ++i, due = Draw()) count += is_missed(due) ? 1 : 0;
  const Ticks rest_begin = std::max(due, measured_from);
  if (rest_begin < end) count += std::llround(CountAt(end) - CountAt(rest_begin));
  return count;
}

// Ops are due only within bursts, so this much time within them has that many pauses in it.
double Arrivals::LongestNs(double gap_count) const {
  const double busy_ns = gap_count * MeanGapNs(rate_);
  if (rate_.burst_s == 0) return busy_ns;
  const double pause_count = std::floor(busy_ns / 1e9 / rate_.burst_s) + 1;
  return busy_ns + pause_count * (rate_.burst_every_s - rate_.burst_s) * 1e9;
}

}  // namespace iobench
