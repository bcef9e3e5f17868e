#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/not_a_number.h"
#include "coordinator/analysis/phase/figures.h"

namespace iobench {
namespace {

// The window of the first pass. Lanes that began no second pass have written nothing but the first.
Window FirstPassWindow(const PhaseTraits& traits, std::span<const AlignedLane> lanes, CoordTime begin) {
  CoordTime first_end{INT64_MAX}, last_end{INT64_MIN};
  for (const AlignedLane& lane : lanes) {
    if (!lane.started) continue;
    if (lane.first_pass_end) first_end = std::min(first_end, *lane.first_pass_end);
    last_end = std::max(last_end, lane.first_pass_end.value_or(lane.region_end));
  }
  return {.begin = begin, .end = traits.flushes_passes ? last_end : first_end};
}

// The part of `done` that belongs to the first pass.
double OfFirstPass(double done, uint64_t pass) {
  return std::min(done, static_cast<double>(pass));
}

uint64_t OpsPerPass(const v1::LaneResult& lane) {
  return lane.passes() == 0 ? UINT64_MAX : (lane.ops() - std::min(lane.ops(), lane.pass_ops())) / lane.passes();
}

}  // namespace

std::optional<v1::FirstPassReport> FirstPassOf(const v1::PhaseRecord& phase, const PhaseTraits& traits,
                                               const AlignedPhase& aligned, const PhaseFigures& figures) {
  const std::vector<AlignedLane>& lanes = aligned.lanes;
  const bool loops = std::any_of(lanes.begin(), lanes.end(), [](const AlignedLane& lane) {
    return lane.started && lane.first_pass_end && lane.result->bytes_per_pass() > 0;
  });
  if (!traits.writes_new_files || !loops) return std::nullopt;
  const bool warms_up = traits.warmup_s > 0;
  const CoordTime begin =
      warms_up ? CoordTime{phase.start_coord_ns()} + NanosFrom(traits.warmup_s) : figures.first_op;
  const Window window = FirstPassWindow(traits, lanes, begin);

  double bytes = 0, ops = 0, measured = 0, overwritten = 0;
  std::vector<AlignedPoint> timeline;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const AlignedLane& lane = lanes[i];
    if (!lane.started) continue;
    TimelineOf(lane, timeline);
    const uint64_t pass_bytes = lane.result->bytes_per_pass(), pass_ops = OpsPerPass(*lane.result);
    const Moved before = warms_up ? BytesAt(timeline, begin, 0) : Moved();
    const Moved after = BytesAt(timeline, window.end, 0);
    if (window.end > begin) {
      bytes += OfFirstPass(after.bytes.value, pass_bytes) - OfFirstPass(before.bytes.value, pass_bytes);
      ops += OfFirstPass(after.ops.value, pass_ops) - OfFirstPass(before.ops.value, pass_ops);
    }
    const double counted = figures.lanes[i].measured.bytes.value;
    const double first = OfFirstPass(before.bytes.value + counted, pass_bytes) -
                         OfFirstPass(before.bytes.value, pass_bytes);
    measured += counted;
    overwritten += counted - first;
  }
  v1::FirstPassReport report;
  report.set_kind(traits.flushes_passes ? "flushed" : "retroactive");
  report.set_seconds(window.seconds());
  report.set_bytes(static_cast<uint64_t>(std::llround(std::max(0.0, bytes))));
  report.set_bytes_per_s(Rate(bytes, window.seconds()));
  report.set_ops_per_s(Rate(ops, window.seconds()));
  report.set_overwritten_percent(measured > 0 ? 100 * overwritten / measured : kNaN);
  if (overwritten > 0) report.set_headline(overwritten > measured / 2 ? "overwriting" : "partly overwriting");
  return report;
}

std::string TitleWhenOverwriting(const std::string& title, const std::string& headline) {
  if (headline.empty()) return title;
  return absl::StrCat(absl::StripPrefix(title, "initial "), ", ", headline);
}

}  // namespace iobench
