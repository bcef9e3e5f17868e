// Console lines about what a phase did: how much, in what time, and what had to be done before it.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_MOVED_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_MOVED_H_

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Adds what the headline counts and its time, and what it does not count: enough to check the rate.
void PrintAmount(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page);

// Adds the same with records, items and whose files they were, and a line on the steps before the phase.
void PrintMoved(const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_MOVED_H_
