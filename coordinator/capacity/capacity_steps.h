// What `capacity` measures: levels of a closed loop and loads of an open one, as steps of known length. Pure.
#ifndef COORDINATOR_CAPACITY_CAPACITY_STEPS_H_
#define COORDINATOR_CAPACITY_CAPACITY_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/analysis/capacity/slo.h"
#include "coordinator/analysis/capacity/slo_search.h"

namespace iobench {

struct CapacitySettings {
  uint32_t clients = 1;               // that take part
  uint32_t max_lanes_per_worker = 1;  // of the lane sweep, and in every other step
  uint32_t repetitions = 3;           // of each level and of each point of the load curve
  uint32_t points = 10;               // of the load curve
  double measure_s = 5;               // of each step, without its warm-up; probes may be longer
  double warmup_s = 1;
  // > 0: ops/s of the plan's own phase, an open loop of several operations (--mix), which is scaled. There are no
  // closed loops then; the highest load is the highest sustained one.
  double mix_per_s = 0;
  double least_phase_s = 0;  // the shortest time of a phase, warm-up included: a period of its bursts
  std::optional<Slo> slo = std::nullopt;
  uint64_t seed = 1;  // of the order of steps
};

// One phase. A step without offered_per_s is a closed loop.
struct CapacityStep {
  enum class Kind {
    kClients,  // the closed loop with some of the clients, each with all its lanes
    kLanes,    // the closed loop with all clients and some of the lanes
    kKeepUp,   // the open loop: a probe for the highest load of a mix
    kCurve,    // the open loop, at a share of the highest load
    kSlo,      // the open loop: a probe of the search for the highest load under the SLO
  };
  Kind kind = Kind::kClients;
  uint32_t round = 0;  // of the repetitions
  uint32_t clients = 1;
  uint32_t lanes_per_worker = 1;
  double share_of_max = 0;                                 // kCurve
  double offered_per_s = 0;                                // 0: a closed loop
  double seconds = 0;                                      // measured
  SloProbe::Purpose purpose = SloProbe::Purpose::kDouble;  // kKeepUp and kSlo

  bool is_open() const { return offered_per_s > 0; }
};

// 1, 2, 4 … max; with few of these, also 3, 6, 12 …, so that a fit has enough levels. Ascending.
std::vector<uint32_t> LevelsUpTo(uint32_t max);

// The closed loops of all repetitions: each repetition has every level once, in a random order of its own, so that
// neither drift nor the after-effects of a level look like scaling. All clients with all lanes is one level, not two.
std::vector<CapacityStep> ClosedSteps(const CapacitySettings& settings);

// The open loops of the load curve, at max_per_s / points, twice that … max_per_s, in random order.
std::vector<CapacityStep> CurveSteps(const CapacitySettings& settings, double max_per_s);

// Returns the max. time of the measurement, without preparing files, if a search needs the usual number of probes.
double EstimatedSeconds(const CapacitySettings& settings);

// Chooses fewer repetitions, fewer points and shorter phases until the estimate is at most `max_s`, and adds a sentence
// to `notes` for each reduction. InvalidArgument: `max_s` is too short for any measurement; the message says how much
// is needed.
absl::Status FitInto(double max_s, CapacitySettings& settings, std::vector<std::string>& notes);

}  // namespace iobench

#endif  // COORDINATOR_CAPACITY_CAPACITY_STEPS_H_
