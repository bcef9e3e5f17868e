// Bonnie++'s figures of a test, for all clients or for one. Pure.
#ifndef COORDINATOR_ANALYSIS_FOREIGN_BONNIE_FIGURES_H_
#define COORDINATOR_ANALYSIS_FOREIGN_BONNIE_FIGURES_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

struct BonnieFigure {
  enum class State {
    kNotRun,    // no such phase, or nothing was measured
    kTooShort,  // measured for less than half a second, for which Bonnie++ prints "+++++"
    kMeasured,
  };
  State state = State::kNotRun;
  double bytes_per_s = 0;
  double ops_per_s = 0;       // seeks and files
  double cpu_percent = 0;     // of the lanes' own time, so at most 100; NaN: unknown
  double max_latency_us = 0;  // NaN: unknown
};
BonnieFigure BonnieFigureOf(const v1::PhaseReport& phase);
BonnieFigure BonnieFigureOf(const v1::ClientPhaseReport& client);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_FOREIGN_BONNIE_FIGURES_H_
