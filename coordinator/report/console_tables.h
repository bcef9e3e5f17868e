// The parts of the console report that name clients and lanes.
#ifndef COORDINATOR_REPORT_CONSOLE_TABLES_H_
#define COORDINATOR_REPORT_CONSOLE_TABLES_H_

#include "coordinator/report/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

size_t LaneCount(const v1::PhaseReport& phase);

// How evenly the lanes ran, and the slowest by name (at most five) where some are stragglers. Nothing for one lane.
void PutLanes(const v1::PhaseReport& phase, ConsolePage& page);

// One row per client; a line for a single one. Of more than 40 only the slowest 20.
void PutClients(const v1::PhaseReport& phase, ConsolePage& page);

// All phases, one row each.
void PutSummary(const v1::RunReport& report, ConsolePage& page);

// Median and interval of phases that were repeated.
void PutRepetitions(const v1::RunReport& report, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_TABLES_H_
