// What limited the rate of a phase, where its marks tell.
#ifndef COORDINATOR_ANALYSIS_LIMITED_BY_H_
#define COORDINATOR_ANALYSIS_LIMITED_BY_H_

#include <string>

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns one clause, such as "client CPU: lab1 98 %", or "" if nothing is known:
// - "the requested pace": every operation had one, and no lane missed it;
// - else the processors or the network, if they limited at least half of the clients that took part; with both, the one
//   that limited more clients. The clause names the fullest client and counts the others: "client CPU: lab1 98 % (3 of 4
//   clients)".
// REQUIRES: the report has its clients and marks.
std::string LimitedBy(const PhaseView& view, const v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_LIMITED_BY_H_
