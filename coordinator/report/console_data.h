// The console's lines on data that were verified, and on what lay between ops.
#ifndef COORDINATOR_REPORT_CONSOLE_DATA_H_
#define COORDINATOR_REPORT_CONSOLE_DATA_H_

#include <string>

#include "coordinator/report/console_page.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// "incompressible, differs by lane, block and phase (seed 1)": what a plan writes, and whether it is checked.
std::string DescribeData(const v1::Plan& plan);

// What was verified and what failed; nothing where nothing was.
void PutVerified(const v1::PhaseReport& phase, ConsolePage& page);

// Pace, pauses, and the time that making and checking data took; nothing where nothing lay between ops.
void PutBetween(const v1::PhaseReport& phase, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_DATA_H_
