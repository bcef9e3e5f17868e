#include "coordinator/analysis/compare/ratio_maps.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/compare/verdicts.h"

namespace iobench {
namespace {

using MapKey = std::tuple<uint32_t, std::string, uint32_t, std::string, uint32_t, std::string>;

MapKey MapOf(const v1::PhaseComparison& phase) {
  const v1::PhaseKey& key = phase.phase();
  return {phase.run(), key.operation(), key.lane_count(), key.engine(), key.stride_records(), key.target()};
}

v1::RatioEstimate MeanOfCells(const v1::CompareReport& report, const std::vector<int>& phases,
                              std::span<const std::optional<RatioInterval>> rates, double level) {
  std::vector<RatioInterval> ratios;
  double log_sum = 0;
  int count = 0, without_interval = 0;
  for (const int i : phases) {
    const double ratio = report.phases(i).rate().ratio();
    if (!std::isfinite(ratio)) continue;
    ++count;
    log_sum += std::log(ratio);
    const auto& interval = rates[static_cast<size_t>(i)];
    if (interval.has_value()) ratios.push_back(*interval);
    without_interval += interval.has_value() ? 0 : 1;
  }
  if (count == 0) return UnknownEstimate(std::numeric_limits<double>::quiet_NaN(), "no cell has a ratio");
  if (without_interval == 0) return EstimateFrom(GeometricMean(ratios, level));
  return UnknownEstimate(std::exp(log_sum / count),
                         absl::StrCat(without_interval, " of ", count, " cells have no interval"));
}

}  // namespace

void AddRatioMaps(std::span<const std::optional<RatioInterval>> rates, double level,
                  double margin, v1::CompareReport& report) {
  std::vector<MapKey> order;
  std::map<MapKey, std::vector<int>> phases_of;
  for (int i = 0; i < report.phases_size(); ++i) {
    if (report.phases(i).metadata()) continue;
    const auto [place, is_new] = phases_of.try_emplace(MapOf(report.phases(i)));
    if (is_new) order.push_back(place->first);
    place->second.push_back(i);
  }
  for (const MapKey& key : order) {
    const std::vector<int>& phases = phases_of[key];
    std::set<uint64_t> sizes, records;
    std::set<std::pair<uint64_t, uint64_t>> places;
    for (const int i : phases) {
      const v1::PhaseKey& phase = report.phases(i).phase();
      sizes.insert(phase.bytes_per_lane());
      records.insert(phase.record_bytes());
      places.insert({phase.bytes_per_lane(), phase.record_bytes()});
    }
    if (places.size() < 2 || places.size() != phases.size()) continue;
    v1::RatioMap& map = *report.add_maps();
    map.set_run(report.phases(phases[0]).run());
    const v1::PhaseKey& first = report.phases(phases[0]).phase();
    map.set_operation(first.operation());
    map.set_lane_count(first.lane_count());
    map.set_engine(first.engine());
    map.set_stride_records(first.stride_records());
    map.set_target(first.target());
    map.mutable_sizes_bytes()->Add(sizes.begin(), sizes.end());
    map.mutable_records_bytes()->Add(records.begin(), records.end());
    for (const int i : phases) {
      const v1::PhaseComparison& phase = report.phases(i);
      v1::RatioCell& cell = *map.add_cells();
      cell.set_size_bytes(phase.phase().bytes_per_lane());
      cell.set_record_bytes(phase.phase().record_bytes());
      cell.set_ratio(phase.rate().ratio());
      cell.set_verdict(phase.rate().verdict());
      map.set_cell_count(map.cell_count() + (std::isfinite(cell.ratio()) ? 1 : 0));
    }
    *map.mutable_geometric_mean() = MeanOfCells(report, phases, rates, level);
  }
  std::vector<v1::RatioEstimate*> means;
  for (v1::RatioMap& map : *report.mutable_maps()) means.push_back(map.mutable_geometric_mean());
  SetFamilyVerdicts(means, Better::kAbove, level, margin);
}

}  // namespace iobench
