// What a soak found (--soak), as lines and the cells of tables.
#ifndef COORDINATOR_REPORT_TEXT_SOAK_TABLE_H_
#define COORDINATOR_REPORT_TEXT_SOAK_TABLE_H_

#include <string>
#include <utility>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the round of a phase; null: the report has none.
const v1::SoakRound* RoundOf(const v1::PhaseReport& phase, const v1::SoakReport& soak);

// Returns one line about a round: rates, errors and the longest pause. Names are as the user typed them.
std::string RoundLine(const v1::SoakRound& round, const v1::SoakReport& soak);

// Returns labels and texts, in display order: rounds, what was moved, data loss, failed ops, fullness.
std::vector<std::pair<std::string, std::string>> SoakTexts(const v1::SoakReport& soak);

// The titles of the columns after the first one, which has the phase's name, and a row for each phase.
const std::vector<std::string>& SoakTrendColumns();
std::vector<std::vector<std::string>> SoakTrendCells(const v1::SoakReport& soak);

// The same for the clients. Columns of events that occurred on none of them are left out.
std::vector<std::string> SoakClientColumns(const v1::SoakReport& soak);
std::vector<std::vector<std::string>> SoakClientCells(const v1::SoakReport& soak);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_SOAK_TABLE_H_
