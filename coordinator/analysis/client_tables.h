// A report's tables: lanes under their workers under their clients, with their latencies.
#ifndef COORDINATOR_ANALYSIS_CLIENT_TABLES_H_
#define COORDINATOR_ANALYSIS_CLIENT_TABLES_H_

#include "coordinator/analysis/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills clients (with workers and lanes, without marks), latency_us and by_kind; adds an error for each lane whose
// histograms cannot be read. Holds four histograms at a time, however many lanes there are.
void FillClientTables(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CLIENT_TABLES_H_
