// A round of a soak as a line. In soak_tables.cc, which has the rounds as a table too.
#ifndef COORDINATOR_REPORT_TABLES_SOAK_ROUND_H_
#define COORDINATOR_REPORT_TABLES_SOAK_ROUND_H_

#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the round of a phase; null: the report has none.
const v1::SoakRound* RoundOf(const v1::PhaseReport& phase, const v1::SoakReport& soak);

// Returns one line about a round: rates, errors and the longest pause. Names are as the user typed them.
std::string RoundLine(const v1::SoakRound& round, const v1::SoakReport& soak);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TABLES_SOAK_ROUND_H_
