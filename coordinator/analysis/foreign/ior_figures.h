// What IOR's and mdtest's summaries show: the headlines of a phase over its repetitions. Pure.
#ifndef COORDINATOR_ANALYSIS_FOREIGN_IOR_FIGURES_H_
#define COORDINATOR_ANALYSIS_FOREIGN_IOR_FIGURES_H_

#include <cstdint>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Over the repetitions that are whole; all 0: there is none.
struct OverRepetitions {
  uint32_t count = 0;
  double max = 0, min = 0, mean = 0;
  double stddev = 0;  // 0 also for a single repetition, as in IOR
};

// A phase of all clients, as in the plan. Borrows the report.
struct RepeatedPhase {
  std::vector<const v1::PhaseReport*> repetitions;  // at least one
  OverRepetitions bytes_per_s, ops_per_s, seconds;
  uint32_t tasks = 0, tasks_per_client = 0;  // lanes
  uint64_t all_bytes = 0;                    // the files of all lanes

  const v1::PhaseReport& first() const { return *repetitions.front(); }
};
// The phases by their names, in the order of the run. Those of one client alone, of servers or beside a load are left out.
std::vector<RepeatedPhase> RepeatedPhasesOf(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_FOREIGN_IOR_FIGURES_H_
