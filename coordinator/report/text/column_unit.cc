#include "coordinator/report/text/column_unit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/text/number_words.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr double kMinShown = 1;
constexpr double kMaxShown = 1e5;

}  // namespace

ColumnUnit ColumnUnit::Of(std::span<const double> values, std::span<const Unit> units) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    least = std::min(least, std::fabs(value));
    most = std::max(most, std::fabs(value));
  }
  if (most == 0) return {units[0].name, units[0].size};
  size_t chosen = 0;
  while (chosen + 1 < units.size() &&
         (least / units[chosen + 1].size >= kMinShown || most / units[chosen].size >= kMaxShown)) {
    ++chosen;
  }
  return {units[chosen].name, units[chosen].size};
}

ColumnUnit ColumnUnit::OfBytesPerSecond(std::span<const double> rates) {
  static constexpr Unit kUnits[] = {
      {"B/s", 1}, {"KiB/s", 0x1p10}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}, {"TiB/s", 0x1p40}};
  return Of(rates, kUnits);
}

ColumnUnit ColumnUnit::OfSeconds(std::span<const double> seconds) {
  static constexpr Unit kUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  return Of(seconds, kUnits);
}

std::string ColumnUnit::Text(double value) const {
  const double shown = value / size_;
  const bool small = shown != 0 && std::fabs(shown) < 0.1;
  return small ? FormatSignificant(shown, 2) : FormatCount(shown);
}

}  // namespace iobench
