// Console lines about data verification and about time between ops.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_DATA_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_DATA_H_

#include <string>

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Describes what a plan writes and whether it is checked: "incompressible, differs by lane, block and phase (seed 1)".
std::string DescribeData(const v1::Plan& plan);

// Adds what was verified and what failed; nothing if there was no verification.
void PrintVerified(const v1::PhaseReport& phase, ConsolePage& page);

// Adds the rate that was asked for, how much of it was done, and response times; nothing for a closed loop.
void PrintOpenLoop(const v1::PhaseReport& phase, ConsolePage& page);

// Adds pace, pauses and the time for generating and checking data; nothing if there was no time between ops.
void PrintBetween(const v1::PhaseReport& phase, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_DATA_H_
