// A round of a run until its figures are steady, as a line. In steady_tables.cc, which has the rounds as a table too.
#ifndef COORDINATOR_REPORT_TABLES_STEADY_ROUND_H_
#define COORDINATOR_REPORT_TABLES_STEADY_ROUND_H_

#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns one line about the newest complete round: rates, and what is not steady yet. Names are as the user typed them.
std::string SteadyRoundLine(const v1::SteadyReport& steady, const v1::Steady& asked, uint32_t round);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TABLES_STEADY_ROUND_H_
