// What a soak found (--soak): a line for each round, and the tables at its end.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_SOAK_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_SOAK_H_

#include <string>

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the line about the round that ends with this phase; it may have any length. Empty after other phases.
std::string RoundTextAfter(const v1::RunReport& report, const v1::PhaseReport& phase);

// Adds what was found over all rounds. Nothing for other runs.
void PrintSoak(const v1::RunReport& report, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_SOAK_H_
