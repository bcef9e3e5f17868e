#include "coordinator/analysis/across/surfaces.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/across/repeat.h"

namespace iobench {
namespace {

// The phases of one name in one place.
struct SurfacePoint {
  std::string name;
  std::vector<double> whole, partial;  // rates of repetitions
  std::vector<std::string> marks;
  std::vector<uint32_t> phases;
};

struct Surface {
  v1::SurfaceReport report;
  const v1::PhaseReport* first = nullptr;
  std::map<std::pair<uint64_t, uint64_t>, std::vector<SurfacePoint>> points;  // by size and record; the last one counts
};

SweepPlace PlaceOfMeasured(const v1::Plan& plan, const v1::Phase* planned, const v1::PhaseReport& phase) {
  if (planned != nullptr) return PlaceOf(plan, *planned);
  return {.lanes = phase.lane_count(),
          .bytes = phase.metadata() ? 0 : phase.bytes_per_lane(),
          .record_bytes = phase.record_bytes()};
}

void AddMarks(const google::protobuf::RepeatedPtrField<v1::Mark>& marks, std::vector<std::string>& codes) {
  for (const v1::Mark& mark : marks) {
    if (std::find(codes.begin(), codes.end(), mark.code()) == codes.end()) codes.push_back(mark.code());
  }
}

// Phases with different names are kept apart; the name of the newest phase comes last.
void AddToPoint(const v1::PhaseReport& phase, std::vector<SurfacePoint>& named) {
  auto known = std::find_if(named.begin(), named.end(),
                            [&phase](const SurfacePoint& point) { return point.name == phase.name(); });
  if (known == named.end()) {
    named.emplace_back().name = phase.name();
  } else {
    std::rotate(known, known + 1, named.end());
  }
  SurfacePoint& point = named.back();
  point.phases.push_back(phase.index());
  AddMarks(phase.marks(), point.marks);
  for (const v1::ClientPhaseReport& client : phase.clients()) AddMarks(client.marks(), point.marks);
  const double rate = HeadlineRate(phase);
  if (phase.ops() == 0 || !std::isfinite(rate)) return;
  (phase.not_whole().empty() ? point.whole : point.partial).push_back(rate);
}

void FillCell(const SurfacePoint& point, v1::SurfaceCell& cell) {
  const std::vector<double>& rates = point.whole.empty() ? point.partial : point.whole;
  const v1::RepetitionReport figures = RepetitionsOf(rates);
  cell.set_rate(figures.median());
  cell.set_low(figures.low());
  cell.set_high(figures.high());
  cell.set_level_percent(figures.level_percent());
  cell.set_count(figures.count());
  cell.set_not_whole(!rates.empty() && point.whole.empty());
  for (const std::string& code : point.marks) cell.add_marks(code);
  for (const uint32_t phase : point.phases) cell.add_phases(phase);
}

void FillCells(Surface& surface) {
  std::set<uint64_t> sizes, records;
  for (const auto& [place, named] : surface.points) {
    const auto& [bytes, record_bytes] = place;
    sizes.insert(bytes);
    records.insert(record_bytes);
    v1::SurfaceCell& cell = *surface.report.add_cells();
    cell.set_bytes_per_lane(bytes);
    cell.set_record_bytes(record_bytes);
    FillCell(named.back(), cell);
  }
  for (const uint64_t bytes : sizes) surface.report.add_bytes_per_lane(bytes);
  for (const uint64_t record_bytes : records) surface.report.add_record_bytes(record_bytes);
}

// The smallest that a client has; 0: unknown.
uint64_t LeastOf(const v1::RunReport& report, uint64_t (v1::ClientReport::*bytes_of)() const) {
  uint64_t least = 0;
  for (const v1::ClientReport& client : report.clients()) {
    const uint64_t bytes = (client.*bytes_of)();
    if (bytes > 0 && (least == 0 || bytes < least)) least = bytes;
  }
  return least;
}

// Each lane has a level 2 cache; the lanes of a client share its level 3 cache and its memory.
void AddLimits(const v1::RunReport& report, const v1::PhaseReport& first, v1::SurfaceReport& surface) {
  if (surface.metadata() || first.lane_count() == 0) return;
  const int clients = first.clients().empty() ? report.clients_size() : first.clients_size();
  const double lanes = static_cast<double>(first.lane_count()) / std::max(1, clients);
  const auto add = [&](const char* name, uint64_t bytes, double sharing) {
    if (bytes == 0) return;
    v1::SurfaceLimit& limit = *surface.add_limits();
    limit.set_name(name);
    limit.set_bytes_per_lane(static_cast<double>(bytes) / sharing);
  };
  add("L2 cache", LeastOf(report, &v1::ClientReport::l2_cache_bytes), 1);
  add("L3 cache", LeastOf(report, &v1::ClientReport::l3_cache_bytes), lanes);
  add("clients' memory", LeastOf(report, &v1::ClientReport::memory_bytes), lanes);
}

}  // namespace

SweepPlace PlaceOf(const v1::Plan& plan, const v1::Phase& phase) {
  const PhaseShape shape = ShapeOf(plan, phase);
  const v1::Operation& operation = FirstOperationOf(phase);
  const auto workers =
      static_cast<uint32_t>(phase.assignments().empty() ? 0 : phase.assignments(0).who().workers_size());
  return {workers, shape.lanes_per_worker, IsMetadata(operation) ? 0 : shape.files.bytes_per_lane(),
          operation.record_bytes()};
}

bool IsSweep(const v1::Plan& plan) {
  struct Seen {
    std::string operation;  // without the record size
    std::set<SweepPlace> places;
  };
  std::map<std::pair<std::string, uint32_t>, Seen> seen;  // by operation and target
  for (const v1::Phase& phase : plan.phases()) {
    const bool same_kind = (phase.only_target() > 0) == (plan.phases(0).only_target() > 0);
    const bool has_target = phase.only_target() <= static_cast<uint32_t>(plan.targets_size());
    if (phase.assignments_size() != 1 || !same_kind || !has_target || DividesClients(phase)) return false;
    v1::Operation operation = FirstOperationOf(phase);
    const SweepPlace place = PlaceOf(plan, phase);
    operation.clear_record_bytes();
    const std::string rest = MeaningOf(operation);
    const auto [known, is_new] = seen.try_emplace({operation.name(), phase.only_target()}, Seen{rest, {}});
    if (known->second.operation != rest || !known->second.places.insert(place).second) return false;
  }
  return !seen.empty() && std::all_of(seen.begin(), seen.end(),
                                      [](const auto& named) { return named.second.places.size() > 1; });
}

bool CoversSizes(const v1::SurfaceReport& surface) {
  const int sizes = surface.bytes_per_lane_size(), records = surface.record_bytes_size();
  return surface.cells_size() > (sizes == 1 || records == 1 ? 1 : std::max(sizes, records));
}

void UpdateSurfaces(v1::RunReport& report) {
  report.clear_surfaces();
  const v1::Plan& plan = report.run().plan();
  std::vector<Surface> surfaces;
  std::map<std::tuple<std::string, std::string, uint32_t, uint32_t, uint32_t>, size_t> number_of;
  for (const v1::PhaseReport& phase : report.phases()) {
    const v1::Phase* const planned = PlannedPhase(plan, phase);
    if (planned != nullptr && DividesClients(*planned)) continue;
    const SweepPlace place = PlaceOfMeasured(plan, planned, phase);
    const std::string operation = planned != nullptr ? OperationNames(*planned) : phase.operation();
    const std::string target = planned != nullptr ? OnlyTargetPath(plan, *planned) : phase.target();
    const uint32_t stride = planned != nullptr ? StrideOf(*planned) : phase.stride_records();
    const auto [known, is_new] =
        number_of.try_emplace({operation, target, place.workers, place.lanes, stride}, surfaces.size());
    if (is_new) surfaces.emplace_back().first = &phase;
    Surface& surface = surfaces[known->second];
    if (is_new) {
      surface.report.set_operation(operation);
      surface.report.set_title(phase.title());
      surface.report.set_target(target);
      surface.report.set_worker_count(place.workers > 0 ? place.workers : report.run().worker_count());
      surface.report.set_lanes_per_worker(planned != nullptr ? place.lanes : 0);
      surface.report.set_stride_records(stride);
      surface.report.set_metadata(phase.metadata());
    }
    surface.report.set_in_ops(phase.headline_in_ops());
    AddToPoint(phase, surface.points[{place.bytes, place.record_bytes}]);
  }
  const bool all = IsSweep(plan);
  for (Surface& surface : surfaces) {
    FillCells(surface);
    if (!all && !CoversSizes(surface.report)) continue;
    surface.report.set_lane_count(PlannedLanes(report.run(), *surface.first));
    AddLimits(report, *surface.first, surface.report);
    *report.add_surfaces() = std::move(surface.report);
  }
}

}  // namespace iobench
