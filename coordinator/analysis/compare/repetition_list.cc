#include "coordinator/analysis/compare/repetition_list.h"

#include <cmath>
#include <vector>

#include "coordinator/analysis/statistics/trend.h"
#include "coordinator/analysis/across/repeat.h"

namespace iobench {
namespace {

constexpr size_t kMinForOutliers = 5;
constexpr double kOutlierScore = 3.5;  // Iglewicz and Hoaglin, 1993
constexpr double kNormalMad = 0.6745;  // MAD of a normal distribution, in standard deviations

}  // namespace

v1::RepetitionSeries RepetitionListOf(const PhaseSamples& samples) {
  v1::RepetitionSeries list;
  *list.mutable_phase() = samples.key;
  list.set_metadata(samples.metadata);
  const std::vector<double> rates = samples.Rates();
  *list.mutable_figures() = RepetitionsOf(rates);
  list.mutable_figures()->set_name(samples.key.name());
  list.mutable_figures()->set_metadata(samples.metadata);
  const double median = list.figures().median();
  std::vector<double> distances;
  for (const double rate : rates) distances.push_back(std::abs(rate - median));
  const double mad = MedianOfSeries(distances);
  for (const Measurement& made : samples.measurements) {
    v1::RepeatedFigure& figure = *list.add_repetitions();
    figure.set_repetition(made.repetition);
    figure.set_rate(made.rate);
    figure.set_of_median(made.rate / median);
    figure.set_left_out(!made.counts);
    figure.set_outlier(made.counts && rates.size() >= kMinForOutliers &&
                       kNormalMad * std::abs(made.rate - median) > kOutlierScore * mad);
    for (const std::string& code : made.marks) figure.add_marks(code);
  }
  return list;
}

}  // namespace iobench
