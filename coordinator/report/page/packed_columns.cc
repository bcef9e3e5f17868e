#include "coordinator/report/page/packed_columns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace iobench {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are copied as they are in memory");

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Limits {
  double low = kUnknown;   // smallest value above 0
  double high = kUnknown;  // largest; NaN: there is none above 0
};

Limits LimitsOf(std::span<const double> values) {
  Limits limits;
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) continue;
    limits.low = std::isnan(limits.low) ? value : std::min(limits.low, value);
    limits.high = std::isnan(limits.high) ? value : std::max(limits.high, value);
  }
  return limits;
}

// 0 is 0, 65535 unknown, and 1 … 65534 are spaced evenly on a logarithmic scale from low to high.
uint16_t OnLogScale(double value, const Limits& limits) {
  if (!std::isfinite(value)) return 65535;
  if (value <= 0) return 0;
  const double span = std::log(limits.high / limits.low);
  if (span == 0) return 1;
  return static_cast<uint16_t>(1 + std::lround(std::log(value / limits.low) / span * 65533));
}

// 0 … 254 between 0 and max; 255 is unknown.
uint8_t Shade(double value, double max) {
  if (!std::isfinite(value)) return 255;
  if (value <= 0) return 0;
  return static_cast<uint8_t>(std::lround(std::min(value / max, 1.0) * 254));
}

}  // namespace

template <typename Number>
nlohmann::json PackedColumns::Append(const std::vector<Number>& values, const char* type) {
  bytes_.resize((bytes_.size() + 7) / 8 * 8);
  nlohmann::json description = {{"at", bytes_.size()}, {"count", values.size()}, {"type", type}};
  bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
  return description;
}

nlohmann::json PackedColumns::AddCounts(std::span<const uint32_t> values) {
  return Append(std::vector<uint32_t>(values.begin(), values.end()), "u32");
}

nlohmann::json PackedColumns::Add(std::span<const double> values, Precision precision) {
  const Limits limits = LimitsOf(values);
  switch (precision) {
    case Precision::kExact:
      return Append(std::vector<double>(values.begin(), values.end()), "f64");
    case Precision::kSingle:
      return Append(std::vector<float>(values.begin(), values.end()), "f32");
    case Precision::kThree: {
      std::vector<uint16_t> codes;
      codes.reserve(values.size());
      for (const double value : values) codes.push_back(OnLogScale(value, limits));
      nlohmann::json description = Append(codes, "log16");
      description["low"] = limits.low;
      description["high"] = limits.high;
      return description;
    }
    case Precision::kShade: {
      std::vector<uint8_t> codes;
      codes.reserve(values.size());
      for (const double value : values) codes.push_back(Shade(value, limits.high));
      nlohmann::json description = Append(codes, "shade8");
      description["max"] = limits.high;
      return description;
    }
  }
  return {};
}

}  // namespace iobench
