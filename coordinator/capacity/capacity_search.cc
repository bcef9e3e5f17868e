#include "coordinator/capacity/capacity_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/phase/spread.h"
#include "coordinator/analysis/statistics/median.h"

namespace iobench {
namespace {

using Kind = CapacityStep::Kind;

// The load of a search's first probe, as a share of the highest rate: as low as possible while the longest probe still
// has the ops that the SLO's figure needs.
constexpr double kLeastShare = 0.01, kMostShare = 0.25;
// The largest multiple of a mix's own rates that is tried.
constexpr double kMaxMixFactor = 1e6;
constexpr double kLeastMixFactor = 1.0 / 64;
constexpr double kLongestProbe = 8;  // times measure_s

auto KeyOf(const CapacityStep& step) {
  return std::tuple(step.clients, step.lanes_per_worker, step.share_of_max);
}

bool IsOf(const CapacityStep& step, Kind kind, const CapacitySettings& settings) {
  if (step.kind == kind) return true;
  return kind == Kind::kLanes && step.kind == Kind::kClients && step.clients == settings.clients &&
         step.lanes_per_worker == settings.max_lanes_per_worker;
}

// Ops that took longer than the SLO allows fail it, whether or not all due ops could be begun: more lanes would only
// add to their wait.
SloResult SloResultOf(const StepFigures& figures, const Slo& slo) {
  const bool ops_fail = !Meets(slo, figures.slo_service_figure_us);
  return {.achieved_per_s = figures.ops_per_s,
          .done_share = ops_fail ? 1 : figures.done_share,
          .figure_us = figures.slo_figure_us,
          .low_us = figures.slo_figure_us,
          .high_us = figures.slo_figure_us,
          .percentiles_us = figures.percentiles_us,
          .ops = figures.ops,
          .errors = figures.errors,
          .generator_bound = figures.generator_bound && !ops_fail && !Meets(slo, figures.slo_figure_us),
          .worker_lost = figures.worker_lost};
}

// Whether the load was sustained, at any response time.
SloResult KeepUpResultOf(const StepFigures& figures) {
  SloResult result = {.achieved_per_s = figures.ops_per_s,
                      .done_share = figures.done_share,
                      .figure_us = figures.mean_us,
                      .low_us = figures.mean_us,
                      .high_us = figures.mean_us,
                      .ops = figures.ops,
                      .errors = figures.errors,
                      .worker_lost = figures.worker_lost};
  return result;
}

bool WasSustained(const StepFigures& figures) {
  return figures.errors == 0 && figures.done_share >= kMinDoneShare;
}

}  // namespace

std::vector<LevelFigures> LevelsOf(std::span<const MeasuredStep> steps, Kind kind,
                                   const CapacitySettings& settings) {
  std::vector<LevelFigures> levels;
  for (const MeasuredStep& measured : steps) {
    if (!IsOf(measured.step, kind, settings) || !measured.figures.whole) continue;
    auto level = std::find_if(levels.begin(), levels.end(), [&](const LevelFigures& known) {
      return KeyOf(known.step) == KeyOf(measured.step);
    });
    if (level == levels.end()) level = levels.insert(levels.end(), {measured.step, {}});
    level->repetitions.push_back(&measured.figures);
  }
  std::sort(levels.begin(), levels.end(),
            [](const LevelFigures& a, const LevelFigures& b) { return KeyOf(a.step) < KeyOf(b.step); });
  return levels;
}

CapacitySearch::CapacitySearch(const CapacitySettings& settings) : settings_(settings) {
  const std::vector<CapacityStep> closed = ClosedSteps(settings);
  waiting_.assign(closed.begin(), closed.end());
  if (settings.mix_per_s > 0) SearchKeepUp(settings.mix_per_s, kMaxMixFactor * settings.mix_per_s);
  if (ended_early_.empty()) Continue();
}

void CapacitySearch::SearchKeepUp(double lowest_per_s, double most_per_s) {
  const Slo any{.text = "any", .limit_us = std::numeric_limits<double>::infinity()};
  auto search = SloSearch::Create({.slo = any,
                                   .lowest_per_s = lowest_per_s,
                                   .closed_loop_max_per_s = most_per_s,
                                   .probe_s = settings_.measure_s,
                                   .max_probe_s = settings_.measure_s});
  if (!search.ok()) return End(std::string(search.status().message()));
  keep_up_search_ = *std::move(search);
}

std::optional<CapacityStep> CapacitySearch::Next() const {
  if (!ended_early_.empty() || waiting_.empty()) return std::nullopt;
  return waiting_.front();
}

void CapacitySearch::Note(const StepFigures& figures) {
  const CapacityStep step = waiting_.front();
  waiting_.pop_front();
  steps_.push_back({step, figures});
  if (step.kind == Kind::kKeepUp) keep_up_search_->Note(KeepUpResultOf(figures));
  if (step.kind == Kind::kSlo) slo_search_->Note(SloResultOf(figures, *settings_.slo));
  if (figures.worker_lost)
    return End("a worker was lost: further measurements would not be comparable with the earlier ones");
  Continue();
}

// Plans the next part when one is done.
void CapacitySearch::Continue() {
  if (!waiting_.empty()) return;
  if (keep_up_search_.has_value() && !highest_.has_value()) {
    if (const std::optional<SloProbe> probe = keep_up_search_->Next(); probe.has_value()) {
      waiting_.push_back(StepOf(*probe, Kind::kKeepUp));
      return;
    }
    EndKeepUp();
    if (!ended_early_.empty() || !waiting_.empty()) return;
  } else if (!highest_.has_value()) {
    FindHighest();
  }
  if (!highest_.has_value()) return End("nothing could be measured: see the errors of the phases");
  if (!planned_curve_) {
    planned_curve_ = true;
    const std::vector<CapacityStep> curve = CurveSteps(settings_, highest_->ops_per_s);
    waiting_.assign(curve.begin(), curve.end());
    if (!waiting_.empty()) return;
  }
  if (!settings_.slo.has_value()) return;
  if (!slo_search_.has_value()) BeginSlo();
  if (!slo_search_.has_value()) return;
  if (const std::optional<SloProbe> probe = slo_search_->Next(); probe.has_value()) {
    waiting_.push_back(StepOf(*probe, Kind::kSlo));
  }
}

void CapacitySearch::FindHighest() {
  for (const Kind kind : {Kind::kClients, Kind::kLanes}) {
    for (const LevelFigures& level : LevelsOf(steps_, kind, settings_)) {
      std::vector<double> rates, lane_counts;
      for (const StepFigures* const each : level.repetitions) {
        if (each->errors == 0) rates.push_back(each->ops_per_s);
        lane_counts.push_back(each->lane_count);
      }
      const double median = MedianOf(rates);
      if (!(median > 0) || (highest_.has_value() && median <= highest_->ops_per_s)) continue;
      const StepFigures& nearest =
          **std::min_element(level.repetitions.begin(), level.repetitions.end(),
                             [&](const StepFigures* a, const StepFigures* b) {
                               return std::abs(a->ops_per_s - median) < std::abs(b->ops_per_s - median);
                             });
      highest_ = {.ops_per_s = median,
                  .bytes_per_s = nearest.bytes_per_s * median / nearest.ops_per_s,
                  .lane_count = MedianOf(lane_counts),
                  .step = level.step,
                  .limits = nearest.limits,
                  .uses = nearest.uses};
    }
  }
}

// A mix may ask for more than the storage sustains. Then lower loads are tried, so that the answer is, say, 0.4 times
// the mix.
void CapacitySearch::EndKeepUp() {
  if (keep_up_search_->outcome().max_per_s > 0) return AddKeptUp();
  const SloOutcome& outcome = keep_up_search_->outcome();
  const StepFigures& last = steps_.back().figures;
  const bool too_high = last.errors == 0 && last.done_share < kMinDoneShare;  // false for NaN: no op was due
  if (below_mix_ || !too_high) {
    const bool is_unknown = outcome.kind == SloOutcome::Kind::kInconclusive || (below_mix_ && !too_high);
    const char* const what = is_unknown   ? "it is unknown which load of the mix is sustained. "
                             : below_mix_ ? "not even 1/64 of the mix's load was sustained. "
                                          : "the load of the mix was not measured. ";
    return End(absl::StrCat(what, outcome.text,
                            below_mix_ && too_high
                                ? " If the storage is the limit, begin with less (--mix-factor, --rate)."
                                : ""));
  }
  below_mix_ = true;
  SearchKeepUp(kLeastMixFactor * settings_.mix_per_s, settings_.mix_per_s);
  if (const std::optional<SloProbe> probe = keep_up_search_->Next(); probe.has_value())
    waiting_.push_back(StepOf(*probe, Kind::kKeepUp));
}

// The highest sustained load, as confirmed. Its limit shows in the lowest load that was not sustained: in the newest step
// of that load, since earlier ones may have passed.
void CapacitySearch::AddKeptUp() {
  const SloOutcome& outcome = keep_up_search_->outcome();
  const MeasuredStep* kept = nullptr;
  const MeasuredStep* missed = nullptr;
  for (const MeasuredStep& measured : steps_) {
    const double offered = measured.step.offered_per_s;
    if (offered == outcome.max_per_s) kept = &measured;
    if (!(offered > outcome.max_per_s) || WasSustained(measured.figures)) continue;
    if (missed == nullptr || offered <= missed->step.offered_per_s) missed = &measured;
  }
  if (kept == nullptr) return End("the sustained load was not measured");
  const MeasuredStep& limiting = missed != nullptr ? *missed : *kept;
  highest_ = {.ops_per_s = outcome.max_per_s,
              .bytes_per_s = kept->figures.bytes_per_s,
              .lane_count = kept->figures.lane_count,
              .step = kept->step,
              .limits = limiting.figures.limits,
              .uses = limiting.figures.uses};
}

void CapacitySearch::BeginSlo() {
  const double max_probe_s = kLongestProbe * settings_.measure_s;
  const double needed_per_s = SecondsForNeededOps(*settings_.slo, 1) / max_probe_s;
  const double least_per_s = kLeastShare * highest_->ops_per_s;
  auto search = SloSearch::Create(
      {.slo = *settings_.slo,
       .lowest_per_s = std::clamp(needed_per_s, least_per_s, kMostShare * highest_->ops_per_s),
       .longer_begins_lower = needed_per_s > least_per_s,
       .closed_loop_max_per_s = highest_->ops_per_s,
       .probe_s = settings_.measure_s,
       .max_probe_s = max_probe_s});
  if (!search.ok()) return End(std::string(search.status().message()));
  slo_search_ = *std::move(search);
}

CapacityStep CapacitySearch::StepOf(const SloProbe& probe, Kind kind) const {
  return {.kind = kind,
          .clients = settings_.clients,
          .lanes_per_worker = settings_.max_lanes_per_worker,
          .offered_per_s = probe.offered_per_s,
          .seconds = probe.seconds,
          .purpose = probe.purpose};
}

void CapacitySearch::End(std::string why) {
  ended_early_ = std::move(why);
  waiting_.clear();
}

}  // namespace iobench
