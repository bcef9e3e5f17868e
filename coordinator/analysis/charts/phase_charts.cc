#include "coordinator/analysis/charts/phase_charts.h"

#include <memory>
#include <optional>

#include "common/histogram.h"
#include "coordinator/analysis/charts/latency_curve.h"
#include "coordinator/analysis/charts/latency_map.h"
#include "coordinator/analysis/charts/throughput_series.h"
#include "coordinator/analysis/phase/latency.h"
#include "coordinator/analysis/phase/server_figures.h"
#include "coordinator/analysis/phase/window.h"

namespace iobench {

void FillCharts(const PhaseView& view, v1::PhaseReport& report) {
  v1::PhaseCharts& charts = *report.mutable_charts();
  const std::optional<Window> axis = FullWindow(view.aligned.lanes, std::nullopt);
  if (axis && axis->end > axis->begin) {
    FillThroughput(view, *axis, report);
    FillLatencyMap(view, *axis, report);
    FillServerSeries(view, *axis, report);
  }
  const auto all = std::make_unique<Histogram>();  // 37 KB, too large for the stack
  for (const AlignedLane& lane : view.aligned.lanes) {
    AddLatencies(*lane.result, *all).IgnoreError();  // FillClientTables reports it
  }
  if (all->count() > 0) *charts.mutable_latency_histogram() = all->ToProto();
  FillPercentiles(*all, charts);
  FillDistribution(*all, charts);
}

}  // namespace iobench
