#include "coordinator/analysis/explain/rate_changes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "coordinator/analysis/phase/window.h"
#include "coordinator/analysis/statistics/levels.h"

namespace iobench {
namespace {

// The scatter of a level is that of pieces of this share of the whole time, of which it needs a few.
constexpr double kPieces = 24;
constexpr size_t kMinPieces = 4;
// Lanes do not end their passes at the same instant as the storage notices it.
constexpr double kNearPasses = 0.02;
constexpr char kNextPass[] = "the first pass over the data ended";

// The load itself rises, falls or comes in bursts.
bool LoadChanges(const v1::Phase& phase) {
  return std::any_of(phase.assignments().begin(), phase.assignments().end(), [](const v1::Assignment& assignment) {
    const v1::Arrivals& arrivals = assignment.operation().arrivals();
    return arrivals.end_ops_per_s() > 0 || arrivals.burst_s() > 0;
  });
}

double MeanOpsPerSlice(const OverTime& over_time, const v1::PhaseReport& report) {
  const double sum = std::accumulate(over_time.rates.begin(), over_time.rates.end(), 0.0) * over_time.slice_s();
  const double per_op =
      report.headline_in_ops() ? 1 : static_cast<double>(report.bytes()) / static_cast<double>(report.ops());
  return sum / per_op / static_cast<double>(over_time.rates.size());
}

// When lanes ended their first pass, from the first to the last of them.
std::optional<Window> EndsOfFirstPass(std::span<const AlignedLane> lanes) {
  std::optional<Window> ends;
  for (const AlignedLane& lane : lanes) {
    if (!lane.started || !lane.first_pass_end) continue;
    if (!ends) ends = Window{*lane.first_pass_end, *lane.first_pass_end};
    ends->begin = std::min(ends->begin, *lane.first_pass_end);
    ends->end = std::max(ends->end, *lane.first_pass_end);
  }
  return ends;
}

// What all lanes had moved by each instant. Decodes one timeline at a time.
std::vector<Moved> MovedBy(std::span<const CoordTime> instants, std::span<const AlignedLane> lanes) {
  std::vector<Moved> moved(instants.size());
  std::vector<AlignedPoint> timeline;
  for (const AlignedLane& lane : lanes) {
    if (!lane.started) continue;
    TimelineOf(lane, timeline);
    for (size_t i = 0; i < instants.size(); ++i)
      moved[i] += BytesAt(timeline, instants[i], lane.error_ns(instants[i]));
  }
  return moved;
}

double WorstErrorSeconds(std::span<const AlignedLane> lanes, CoordTime at) {
  int64_t error_ns = 0;
  for (const AlignedLane& lane : lanes) {
    if (lane.started) error_ns = std::max(error_ns, lane.error_ns(at));
  }
  return SecondsFrom(error_ns);
}

}  // namespace

void FillRateChanges(const PhaseView& view, const OverTime& over_time, v1::PhaseReport& report) {
  report.clear_changes();
  if (over_time.rates.empty() || report.ops() == 0 || LoadChanges(view.phase.phase())) return;
  const double slice_s = over_time.slice_s();
  const std::vector<LevelChange> found = LevelChangesOf(over_time.rates, MeanOpsPerSlice(over_time, report));
  if (found.empty()) return;
  const std::span<const AlignedLane> lanes = view.aligned.lanes;
  const double begin_s = SecondsFrom(over_time.begin - view.figures.first_op);
  std::vector<CoordTime> instants;
  for (const LevelChange& change : found) instants.push_back(over_time.begin + NanosFrom(change.at * slice_s));
  const std::vector<Moved> moved = MovedBy(instants, lanes);
  const std::optional<Window> passes = EndsOfFirstPass(lanes);
  for (size_t i = 0; i < found.size(); ++i) {
    v1::RateChange& change = *report.add_changes();
    const double clocks_s = WorstErrorSeconds(lanes, instants[i]);
    change.set_at_s(begin_s + found[i].at * slice_s);
    change.set_low_s(begin_s + found[i].low * slice_s - clocks_s);
    change.set_high_s(begin_s + found[i].high * slice_s + clocks_s);
    change.set_before_per_s(found[i].before);
    change.set_after_per_s(found[i].after);
    change.set_bytes_until(static_cast<uint64_t>(std::llround(moved[i].bytes.value)));
    change.set_ops_until(static_cast<uint64_t>(std::llround(moved[i].ops.value)));
    if (!passes) continue;
    const double near_s = kNearPasses * over_time.seconds;
    const double first_s = SecondsFrom(passes->begin - view.figures.first_op) - near_s;
    const double last_s = SecondsFrom(passes->end - view.figures.first_op) + near_s;
    if (change.low_s() <= last_s && change.high_s() >= first_s) change.set_cause(kNextPass);
  }
}

std::vector<RateLevel> RateLevelsOf(const OverTime& over_time, const v1::PhaseReport& report) {
  std::vector<RateLevel> levels;
  if (report.changes().empty()) return levels;
  const std::span<const double> rates(over_time.rates);
  const double count = static_cast<double>(rates.size());
  const size_t piece = std::max<size_t>(1, static_cast<size_t>(count / kPieces));
  // Changes are counted from the first op of all, slices from when all lanes had work.
  const auto slice_of = [&](double at_s) {
    return std::clamp((at_s - over_time.begin_s) / over_time.slice_s(), 0.0, count);
  };
  double begin = 0;
  for (int i = 0; i <= report.changes_size(); ++i) {
    const bool is_last = i == report.changes_size();
    const double end = is_last ? count : slice_of(report.changes(i).at_s());
    RateLevel& level = levels.emplace_back();
    level.scatter = std::numeric_limits<double>::quiet_NaN();
    // Without the slices in which the level changed.
    const auto first = static_cast<size_t>(std::ceil(begin)), last = static_cast<size_t>(std::floor(end));
    std::vector<double> pieces;
    for (size_t at = first + (i > 0 ? 1 : 0); at + piece + (is_last ? 0 : 1) <= last; at += piece) {
      const std::span<const double> of_piece = rates.subspan(at, piece);
      pieces.push_back(std::accumulate(of_piece.begin(), of_piece.end(), 0.0) / static_cast<double>(piece));
    }
    begin = end;
    if (pieces.size() < kMinPieces) continue;
    const double n = static_cast<double>(pieces.size());
    const double mean = std::accumulate(pieces.begin(), pieces.end(), 0.0) / n;
    double squares = 0;
    for (const double value : pieces) squares += (value - mean) * (value - mean);
    level.scatter = std::sqrt(squares / (n - 1)) / mean;
  }
  return levels;
}

}  // namespace iobench
