#include "coordinator/analysis/across/repeat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "coordinator/analysis/across/phase_facts.h"

namespace iobench {
namespace {

constexpr double kWantedLevel = 0.95;

// P(Bin(n, 1/2) = k), computed with logarithms because 2^-n alone underflows for n > 1074.
double FairBinomial(size_t n, size_t k) {
  const double log_choose = std::lgamma(static_cast<double>(n) + 1) -
                            std::lgamma(static_cast<double>(k) + 1) -
                            std::lgamma(static_cast<double>(n - k) + 1);
  return std::exp(log_choose - static_cast<double>(n) * std::log(2.0));
}

struct Ranks {
  size_t k = 1;  // k-th smallest and k-th largest, counted from 1
  double level = 0;
};

Ranks TightestRanks(size_t n) {
  double tail = FairBinomial(n, 0);  // P(Bin < k)
  Ranks ranks{1, 1 - 2 * tail};
  for (size_t k = 2; 2 * k <= n; ++k) {
    tail += FairBinomial(n, k - 1);
    if (1 - 2 * tail < kWantedLevel) break;
    ranks = {k, 1 - 2 * tail};
  }
  return ranks;
}

}  // namespace

v1::RepetitionReport RepetitionsOf(std::span<const double> values) {
  v1::RepetitionReport report;
  report.set_count(static_cast<uint32_t>(values.size()));
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (n == 0) {
    for (const auto set :
         {&v1::RepetitionReport::set_median, &v1::RepetitionReport::set_low, &v1::RepetitionReport::set_high,
          &v1::RepetitionReport::set_min, &v1::RepetitionReport::set_max, &v1::RepetitionReport::set_mean,
          &v1::RepetitionReport::set_stddev}) {
      (report.*set)(nan);
    }
    return report;
  }
  const Ranks ranks = TightestRanks(n);
  report.set_median((sorted[(n - 1) / 2] + sorted[n / 2]) / 2);
  report.set_low(sorted[ranks.k - 1]);
  report.set_high(sorted[n - ranks.k]);
  report.set_level_percent(100 * std::max(0.0, ranks.level));
  report.set_min(sorted.front());
  report.set_max(sorted.back());
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(n);
  double squares = 0;
  for (const double value : sorted) squares += (value - mean) * (value - mean);
  report.set_mean(mean);
  report.set_stddev(n > 1 ? std::sqrt(squares / static_cast<double>(n - 1)) : nan);
  return report;
}

namespace {

template <typename Phases>
std::vector<v1::RepetitionReport> RepetitionsOfAll(const Phases& phases) {
  struct Named {
    std::string name;
    std::vector<double> values;
    size_t phase_count = 0;
    uint32_t partial_count = 0;
    bool metadata = false;
  };
  std::vector<Named> all;
  std::unordered_map<std::string, size_t> index_of;
  bool any_repeated = false;
  for (const v1::PhaseReport& phase : phases) {
    const auto [position, is_new] = index_of.try_emplace(phase.name(), all.size());
    if (is_new) all.push_back({.name = phase.name(), .values = {}});
    Named& named = all[position->second];
    any_repeated |= ++named.phase_count > 1;
    // A repetition that is not whole measured something different from the others.
    named.metadata = phase.headline_in_ops();
    const double value = HeadlineRate(phase);
    if (!phase.not_whole().empty()) {
      ++named.partial_count;
    } else if (std::isfinite(value)) {
      named.values.push_back(value);
    }
  }
  std::vector<v1::RepetitionReport> reports;
  if (!any_repeated) return reports;
  for (const Named& named : all) {
    reports.push_back(RepetitionsOf(named.values));
    reports.back().set_name(named.name);
    reports.back().set_metadata(named.metadata);
    reports.back().set_partial_count(named.partial_count);
  }
  return reports;
}

}  // namespace

std::vector<v1::RepetitionReport> SummarizeRepetitions(std::span<const v1::PhaseReport> phases) {
  return RepetitionsOfAll(phases);
}

std::vector<v1::RepetitionReport> SummarizeRepetitions(
    const google::protobuf::RepeatedPtrField<v1::PhaseReport>& phases) {
  return RepetitionsOfAll(phases);
}

}  // namespace iobench
