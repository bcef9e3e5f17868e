// Fills a report's tables: clients, their workers and their lanes, with latencies.
#ifndef COORDINATOR_ANALYSIS_CLIENT_TABLES_H_
#define COORDINATOR_ANALYSIS_CLIENT_TABLES_H_

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills clients (with workers and lanes, without marks), latency_us and by_kind. Adds an error for each lane with
// unreadable histograms. Needs memory for only four histograms, however many lanes there are.
void FillClientTables(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CLIENT_TABLES_H_
