#include "coordinator/analysis/capacity/load_curve.h"

#include <algorithm>
#include <cmath>

#include "coordinator/analysis/phase/spread.h"

namespace iobench {
namespace {

bool IsMeasured(const LoadPoint& point) {
  return std::isfinite(point.achieved_per_s) && point.achieved_per_s > 0 && std::isfinite(point.mean_us) &&
         point.mean_us > 0;
}

// Indices of the points that were measured.
std::vector<size_t> MeasuredPoints(std::span<const LoadPoint> points) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < points.size(); ++i) {
    if (IsMeasured(points[i])) indices.push_back(i);
  }
  return indices;
}

// Kneedle (Satopää et al. 2011) for a curve that bends upward: both axes scaled to 0 … 1, the point farthest under the
// diagonal.
std::optional<size_t> KneedleKnee(std::span<const LoadPoint> points, const std::vector<size_t>& measured) {
  const LoadPoint& first = points[measured.front()];
  const LoadPoint& last = points[measured.back()];
  const double width = last.achieved_per_s - first.achieved_per_s, height = last.mean_us - first.mean_us;
  if (width <= 0 || height <= 0) return std::nullopt;
  std::optional<size_t> knee;
  double farthest = 0;
  for (const size_t i : measured) {
    const double x = (points[i].achieved_per_s - first.achieved_per_s) / width;
    const double y = (points[i].mean_us - first.mean_us) / height;
    if (x - y <= farthest + 1e-12) continue;  // a straight line has no knee, even with rounding errors
    farthest = x - y;
    knee = i;
  }
  return knee;
}

}  // namespace

std::span<const LoadPoint> UpToPeak(std::span<const LoadPoint> points) {
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i].achieved_per_s <= points[i - 1].achieved_per_s) return points.first(i);
  }
  return points;
}

double SaturationN(double x_max_per_s, double min_response_us) {
  return x_max_per_s * min_response_us / 1e6;
}

std::optional<Knee> KneeOf(std::span<const LoadPoint> points) {
  const std::vector<size_t> measured = MeasuredPoints(points);
  if (measured.size() < 3) return std::nullopt;
  const auto power = [&](size_t i) { return points[i].achieved_per_s / points[i].mean_us; };
  Knee knee;
  knee.kleinrock = *std::max_element(measured.begin(), measured.end(),
                                     [&](size_t a, size_t b) { return power(a) < power(b); });
  knee.kneedle = KneedleKnee(points, measured);
  knee.broad = true;
  if (knee.kneedle.has_value()) {
    const auto [low, high] =
        std::minmax({points[knee.kleinrock].achieved_per_s, points[*knee.kneedle].achieved_per_s});
    knee.broad = high - low > kBroadKnee * low;
  }
  return knee;
}

std::optional<OverallResponse> OverallResponseOf(std::span<const LoadPoint> points) {
  const std::vector<size_t> measured = MeasuredPoints(points);
  if (measured.size() < 2) return std::nullopt;
  double area = 0;
  for (size_t k = 1; k < measured.size(); ++k) {
    const LoadPoint& from = points[measured[k - 1]];
    const LoadPoint& to = points[measured[k]];
    area += (to.achieved_per_s - from.achieved_per_s) * (from.mean_us + to.mean_us) / 2;
  }
  const double first = points[measured.front()].achieved_per_s, last = points[measured.back()].achieved_per_s;
  return OverallResponse{.ort_spec_us = area / last, .mean_latency_over_range_us = area / (last - first)};
}

LittleCheck CheckLittle(double achieved_per_s, double mean_us, double in_flight) {
  const double error = std::abs(achieved_per_s * mean_us / 1e6 - in_flight) / in_flight;
  return {.error = error, .holds = error <= kMaxLittleError};
}

Headroom HeadroomAt(double load_per_s, double limit_per_s, std::span<const LoadPoint> points) {
  Headroom headroom = {
      .factor = limit_per_s / load_per_s, .unused_share = 1 - load_per_s / limit_per_s, .mean_us = {}};
  const std::vector<size_t> measured = MeasuredPoints(points);
  for (size_t k = 1; k < measured.size(); ++k) {
    const LoadPoint& from = points[measured[k - 1]];
    const LoadPoint& to = points[measured[k]];
    if (load_per_s < from.achieved_per_s || load_per_s > to.achieved_per_s) continue;
    const double share = (load_per_s - from.achieved_per_s) / (to.achieved_per_s - from.achieved_per_s);
    headroom.mean_us = from.mean_us + share * (to.mean_us - from.mean_us);
    break;
  }
  return headroom;
}

std::vector<double> EfficiencyPerAddedClient(std::span<const ScalePoint> points) {
  std::vector<double> shares;
  for (size_t i = 1; i < points.size(); ++i) {
    const double added = (points[i].ops_per_s - points[i - 1].ops_per_s) / (points[i].n - points[i - 1].n);
    shares.push_back(added / (points[0].ops_per_s / points[0].n));
  }
  return shares;
}

double FairnessOf(std::span<const double> rates) {
  return SpreadOf(rates).jain();
}

}  // namespace iobench
