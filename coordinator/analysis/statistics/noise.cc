#include "coordinator/analysis/statistics/noise.h"

#include <cmath>
#include <numbers>

namespace iobench {

double Noise::Uniform() {
  return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53;
}

// Box and Muller: std::normal_distribution differs between standard libraries.
double Noise::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2 * std::log(Uniform()));
  const double angle = 2 * std::numbers::pi * Uniform();
  has_spare_ = true;
  spare_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

void Noise::Fill(double correlation, std::span<double> values) {
  const double fresh = std::sqrt(1 - correlation * correlation);
  double last = Normal();
  for (double& value : values) {
    value = last;
    last = correlation * last + fresh * Normal();
  }
}

}  // namespace iobench
