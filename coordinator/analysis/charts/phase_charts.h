// The data of one phase's charts, which only reports with charts need.
#ifndef COORDINATOR_ANALYSIS_CHARTS_PHASE_CHARTS_H_
#define COORDINATOR_ANALYSIS_CHARTS_PHASE_CHARTS_H_

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Sets report.charts. Latency slices that are damaged are left out and listed in report.errors. If no lane did
// anything, the charts are empty. Memory is bounded by the report, not by the record: lanes are decoded one at a time.
// REQUIRES: report.clients is filled.
void FillCharts(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CHARTS_PHASE_CHARTS_H_
