#include "coordinator/analysis/statistics/levels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "coordinator/analysis/statistics/trend.h"

namespace iobench {
namespace {

constexpr size_t kMaxGroups = 48;  // enough to show how much they depend on each other, and quick to test
constexpr size_t kMinGroups = 16;
constexpr double kOpsPerGroup = 10;
constexpr double kMinOpsOfLevel = 30;  // with fewer, storage stood still (mark stalled) or was hardly seen
// Of 1000 phases whose noise is as ChangePoints takes it to be, one has a change by chance.
constexpr double kByChance = 0.001;
// A level that lasts for less than this share of the time, between two that are alike, is an interruption.
constexpr double kInterruption = 0.25;
// The pieces on both sides of a change, a quarter of the shorter level long, differ by at least this share of what the levels
// differ by. What rises or falls for some time differs by less.
constexpr double kSharpness = 0.6;
constexpr double kBesideIt = 0.25;
constexpr size_t kAround = 3;  // rates on either side of a change, whose sum shows where exactly it was

// Sums of rates up to a position, which need not be whole.
class Sums {
 public:
  explicit Sums(std::span<const double> rates) : rates_(rates), up_to_{0} {
    for (const double rate : rates) up_to_.push_back(up_to_.back() + rate);
  }
  double Mean(double begin, double end) const { return (At(end) - At(begin)) / (end - begin); }
  // The same, of whole rates: one in which the level changed is of neither level.
  double Level(double begin, double end) const {
    const double first = std::ceil(begin), last = std::floor(end);
    return first < last ? Mean(first, last) : Mean(begin, end);
  }
  double At(double position) const {
    const auto whole = std::min(static_cast<size_t>(position), rates_.size());
    const double rest = whole < rates_.size() ? (position - static_cast<double>(whole)) * rates_[whole] : 0;
    return up_to_[whole] + rest;
  }
  double end() const { return static_cast<double>(rates_.size()); }

 private:
  std::span<const double> rates_;
  std::vector<double> up_to_;
};

bool AreAlike(double a, double b) { return std::max(a, b) < kLeastLevelRatio * std::min(a, b); }

// The ends of the levels: 0, each change, the number of rates.
using Ends = std::vector<double>;

// The change between levels i - 1 and i.
double Jump(const Sums& sums, const Ends& ends, size_t i) {
  return sums.Level(ends[i], ends[i + 1]) - sums.Level(ends[i - 1], ends[i]);
}

bool IsSharp(const Sums& sums, const Ends& ends, size_t i) {
  const double beside = kBesideIt * std::min(ends[i] - ends[i - 1], ends[i + 1] - ends[i]);
  const double step = sums.Mean(ends[i], ends[i] + beside) - sums.Mean(ends[i] - beside, ends[i]);
  return step / Jump(sums, ends, i) >= kSharpness;
}

// Removes changes that are too small, gradual, or beside a level of few ops, the smallest first, and interruptions.
void KeepLasting(const Sums& sums, double ops_per_amount, Ends& ends) {
  const auto at = [&ends](size_t i) { return ends.begin() + static_cast<std::ptrdiff_t>(i); };
  for (;;) {
    size_t worst = 0, interruption = 0;
    double smallest = 0;
    for (size_t i = 1; i + 1 < ends.size(); ++i) {
      const double before = sums.Level(ends[i - 1], ends[i]), after = sums.Level(ends[i], ends[i + 1]);
      const double jump = std::abs(after - before);
      const double least = std::min(before * (ends[i] - ends[i - 1]), after * (ends[i + 1] - ends[i]));
      const bool lasts =
          !AreAlike(before, after) && IsSharp(sums, ends, i) && least * ops_per_amount >= kMinOpsOfLevel;
      if (!lasts && (worst == 0 || jump < smallest)) {
        worst = i;
        smallest = jump;
      }
      if (i + 2 < ends.size() && ends[i + 1] - ends[i] < kInterruption * sums.end() &&
          AreAlike(before, sums.Level(ends[i + 1], ends[i + 2])))
        interruption = i;
    }
    if (worst > 0) {
      ends.erase(at(worst));
    } else if (interruption > 0) {
      ends.erase(at(interruption), at(interruption + 2));
    } else {
      return;
    }
  }
}

// Where a change of these levels is that groups show at `near`: first the split of the rates that fits best, then, because a
// rate there is of both levels, the position at which two lines meet that fit the sums on both sides.
double Exactly(std::span<const double> rates, const Sums& sums, double before, double after, double near, double group) {
  const auto clamped = [&](double position) {
    return static_cast<size_t>(std::clamp(position, static_cast<double>(kAround), sums.end() - static_cast<double>(kAround)));
  };
  const size_t from = clamped(near - 2 * group), to = clamped(near + 2 * group);
  size_t best = from;
  double gain = 0, most = 0;
  for (size_t k = from; k < to; ++k) {  // what rate k leaves less if it belongs to the level before
    gain += (rates[k] - after) * (rates[k] - after) - (rates[k] - before) * (rates[k] - before);
    if (gain <= most) continue;
    most = gain;
    best = k + 1;
  }
  const double a = static_cast<double>(best - kAround), b = std::min(sums.end(), static_cast<double>(best + kAround));
  const double meets = (sums.At(b) - sums.At(a) - after * b + before * a) / (before - after);
  return std::clamp(meets, a, b);
}

// How much the sum of 2 * kAround rates scatters around what the levels beside a change make of it.
double ScatterOfSums(const Sums& sums, const Ends& ends, size_t i) {
  constexpr double kWidth = 2 * kAround;
  double squares = 0;
  size_t count = 0;
  for (const size_t level : {i - 1, i}) {
    const double mean = sums.Level(ends[level], ends[level + 1]);
    for (double begin = ends[level]; begin + kWidth <= ends[level + 1]; begin += 1) {
      const double rest = sums.At(begin + kWidth) - sums.At(begin) - kWidth * mean;
      squares += rest * rest;
      ++count;
    }
  }
  return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

}  // namespace

std::vector<LevelChange> LevelChangesOf(std::span<const double> rates, double ops_per_rate) {
  if (!(ops_per_rate > 0)) return {};
  const double n = static_cast<double>(rates.size());
  const double group = std::ceil(std::max(n / kMaxGroups, kOpsPerGroup / ops_per_rate));
  const auto count = static_cast<size_t>(n / group);
  if (count < kMinGroups) return {};
  const Sums sums(rates);
  std::vector<double> groups;
  for (size_t i = 0; i < count; ++i) {
    const double begin = static_cast<double>(i) * group;
    groups.push_back(sums.Mean(begin, i + 1 == count ? n : begin + group));
  }
  Ends ends = {0};
  for (const Change& change : ChangePoints(groups, kByChance)) ends.push_back(static_cast<double>(change.first) * group);
  ends.push_back(n);
  const auto place_exactly = [&] {
    for (size_t i = 1; i + 1 < ends.size(); ++i) {
      const double before = sums.Level(ends[i - 1], ends[i]), after = sums.Level(ends[i], ends[i + 1]);
      if (before != after) ends[i] = Exactly(rates, sums, before, after, ends[i], group);
    }
  };
  place_exactly();
  KeepLasting(sums, ops_per_rate * n / sums.At(n), ends);
  place_exactly();  // the levels are better known now
  std::vector<LevelChange> changes;
  for (size_t i = 1; i + 1 < ends.size(); ++i) {
    // Twice the standard error of where the lines meet, and half a rate, within which nothing is known.
    const double error = 0.5 + 2 * ScatterOfSums(sums, ends, i) / std::abs(Jump(sums, ends, i));
    changes.push_back({.at = ends[i],
                       .low = std::max(ends[i - 1], ends[i] - error),
                       .high = std::min(ends[i + 1], ends[i] + error),
                       .before = sums.Level(ends[i - 1], ends[i]),
                       .after = sums.Level(ends[i], ends[i + 1])});
  }
  return changes;
}

}  // namespace iobench
