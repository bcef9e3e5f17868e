#include "coordinator/capacity/capacity_steps.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/text/units.h"

namespace iobench {
namespace {

using Kind = CapacityStep::Kind;

constexpr size_t kEnoughLevels = 6;  // for a fit without a warning
// A search for a load: doublings from a hundredth, bisections, each failure twice, and five tests of both ends, one of
// which is three times as long.
constexpr double kProbesOfSearch = 26;
// Starting and saving a phase, and waiting for its slowest op.
constexpr double kFixedSeconds = 0.3;
constexpr double kLeastMeasureSeconds = 1;

void AddShuffled(std::vector<CapacityStep> round, std::mt19937_64& random, std::vector<CapacityStep>& steps) {
  std::shuffle(round.begin(), round.end(), random);
  steps.insert(steps.end(), round.begin(), round.end());
}

std::vector<CapacityStep> ClosedRound(const CapacitySettings& settings, uint32_t number) {
  CapacityStep step{.round = number,
                    .clients = settings.clients,
                    .lanes_per_worker = settings.max_lanes_per_worker,
                    .seconds = settings.measure_s};
  std::vector<CapacityStep> round;
  for (const uint32_t clients : LevelsUpTo(settings.clients)) {
    step.clients = clients;
    round.push_back(step);
  }
  step.kind = Kind::kLanes;
  step.clients = settings.clients;
  for (const uint32_t lanes : LevelsUpTo(settings.max_lanes_per_worker)) {
    if (lanes == settings.max_lanes_per_worker) continue;
    step.lanes_per_worker = lanes;
    round.push_back(step);
  }
  return round;
}

}  // namespace

std::vector<uint32_t> LevelsUpTo(uint32_t max) {
  std::set<uint32_t> levels = {max};
  for (uint64_t level = 1; level < max; level *= 2) levels.insert(static_cast<uint32_t>(level));
  // Fills the gaps between the largest ones first: that is where throughput bends.
  std::set<uint32_t> between;
  for (uint64_t level = 3; level < max; level *= 2) between.insert(static_cast<uint32_t>(level));
  while (levels.size() < kEnoughLevels && !between.empty()) {
    levels.insert(*between.rbegin());
    between.erase(std::prev(between.end()));
  }
  for (uint32_t level = max; levels.size() < kEnoughLevels && level > 1; --level) levels.insert(level);
  return {levels.begin(), levels.end()};
}

std::vector<CapacityStep> ClosedSteps(const CapacitySettings& settings) {
  std::vector<CapacityStep> steps;
  if (settings.mix_per_s > 0) return steps;
  std::mt19937_64 random(settings.seed);
  for (uint32_t number = 0; number < settings.repetitions; ++number) {
    AddShuffled(ClosedRound(settings, number), random, steps);
  }
  return steps;
}

std::vector<CapacityStep> CurveSteps(const CapacitySettings& settings, double max_per_s) {
  std::vector<CapacityStep> steps;
  std::mt19937_64 random(settings.seed + 1);
  for (uint32_t number = 0; number < settings.repetitions; ++number) {
    std::vector<CapacityStep> round;
    for (uint32_t point = 1; point <= settings.points; ++point) {
      const double share = static_cast<double>(point) / settings.points;
      round.push_back({.kind = Kind::kCurve,
                       .round = number,
                       .clients = settings.clients,
                       .lanes_per_worker = settings.max_lanes_per_worker,
                       .share_of_max = share,
                       .offered_per_s = share * max_per_s,
                       .seconds = settings.measure_s});
    }
    AddShuffled(std::move(round), random, steps);
  }
  return steps;
}

double EstimatedSeconds(const CapacitySettings& settings) {
  const double step_s = settings.measure_s + settings.warmup_s + kFixedSeconds;
  const double searches = (settings.mix_per_s > 0 ? 1 : 0) + (settings.slo.has_value() ? 1 : 0);
  const double probes =
      1 + static_cast<double>(ClosedSteps(settings).size()) + settings.repetitions * settings.points;
  return (probes + searches * kProbesOfSearch) * step_s +
         searches * (SloSearch::kConfirmFactor - 1) * settings.measure_s;
}

absl::Status FitInto(double max_s, CapacitySettings& settings, std::vector<std::string>& notes) {
  const CapacitySettings wanted = settings;
  const auto fits = [&] { return EstimatedSeconds(settings) <= max_s; };
  const uint32_t few_points = std::min(settings.points, 5u);
  while (!fits() && settings.repetitions > 2) --settings.repetitions;
  while (!fits() && settings.points > few_points) --settings.points;
  if (!fits() && settings.repetitions > 1) settings.repetitions = 1;
  const double least_s = std::min(settings.measure_s,
                                  std::max(kLeastMeasureSeconds, settings.least_phase_s - settings.warmup_s));
  while (!fits() && settings.measure_s > least_s)
    settings.measure_s = std::max(least_s, 0.9 * settings.measure_s);
  if (!fits()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max-duration ", FormatSeconds(max_s), " is too short: the minimum is about ",
                     FormatSeconds(EstimatedSeconds(settings)),
                     " plus the time to create files; allow more time or use fewer lanes (-t)"));
  }
  if (settings.repetitions < wanted.repetitions) {
    notes.push_back(absl::StrCat(
        "--max-duration: ", settings.repetitions, settings.repetitions == 1 ? " repetition" : " repetitions",
        " instead of ", wanted.repetitions, settings.repetitions == 1 ? ", so the spread is unknown" : ""));
  }
  if (settings.points < wanted.points)
    notes.push_back(absl::StrCat("--max-duration: a load curve of ", settings.points, " points instead of ",
                                 wanted.points));
  if (settings.measure_s < wanted.measure_s)
    notes.push_back(absl::StrCat("--max-duration: phases of ", FormatSeconds(settings.measure_s),
                                 " instead of ", FormatSeconds(wanted.measure_s)));
  return absl::OkStatus();
}

}  // namespace iobench
