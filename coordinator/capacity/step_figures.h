// The figures of one step of a capacity measurement, from the report of its phase. Pure.
#ifndef COORDINATOR_CAPACITY_STEP_FIGURES_H_
#define COORDINATOR_CAPACITY_STEP_FIGURES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/analysis/capacity/slo.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// A resource that the phase used, and the used share of its capacity; of a client's processors, the run's share of what
// others leave.
struct ResourceUse {
  std::string name;  // "link eth0 of filer1"
  double share = 0;
  std::string server = "";      // whose it is; empty: a client's
  double link_bytes_per_s = 0;  // 0: it is no link
};

// Times are those of the ops in a closed loop, and response times in an open one.
struct StepFigures {
  double ops_per_s = 0;  // 0: nothing was done
  double bytes_per_s = 0;
  double mean_us = 0;
  double p50_us = 0;
  double p99_us = 0;
  double slo_figure_us = 0;          // NaN: no SLO
  double slo_service_figure_us = 0;  // the same for the ops alone, without the wait behind late ones
  Percentiles percentiles_us = {kNotMeasured, kNotMeasured, kNotMeasured, kNotMeasured};
  uint64_t ops = 0;
  uint64_t errors = 0;    // failed ops and lanes
  double due_per_s = 0;   // open loop: the rate that was due
  double done_share = 1;  // open loop: of the ops that were due
  bool generator_bound = false;
  bool worker_lost = false;
  bool whole = true;  // false: of fewer lanes or less time than planned, so it counts for no law, level or trend
  double lane_count = 0;                // that took part
  double fairness = 0;                  // Jain's index of the clients' rates; NaN: one client
  std::vector<std::string> marks = {};  // codes, each once
  std::vector<v1::Limit> limits = {};
  std::vector<ResourceUse> uses = {};  // the busiest first
  double measured_s = 0;
};

StepFigures FiguresOf(const v1::PhaseReport& phase, const std::optional<Slo>& slo);

}  // namespace iobench

#endif  // COORDINATOR_CAPACITY_STEP_FIGURES_H_
