#include "coordinator/analysis/charts/phase_charts.h"

#include <memory>
#include <optional>

#include "common/histogram.h"
#include "common/model/op.h"
#include "coordinator/analysis/charts/latency_curve.h"
#include "coordinator/analysis/charts/latency_map.h"
#include "coordinator/analysis/charts/throughput_series.h"
#include "coordinator/analysis/phase/latency.h"
#include "coordinator/analysis/phase/server_figures.h"
#include "coordinator/analysis/phase/window.h"

namespace iobench {
namespace {

// Of each flush call: all its latencies, and what charts show of them.
void FillCalls(const PhaseView& view, const std::optional<Window>& axis, v1::PhaseReport& report) {
  const auto latencies = std::make_unique<Histogram>();
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto call = static_cast<OpKind>(i);
    if (!kFlushCalls.Has(call)) continue;
    latencies->Clear();
    for (const AlignedLane& lane : view.aligned.lanes) {
      for (const v1::KindResult& of_call : lane.result->calls()) {
        if (static_cast<OpKind>(of_call.kind()) == call && of_call.ops() > 0)
          latencies->AddProto(of_call.latency()).IgnoreError();  // FillClientTables reports it
      }
    }
    const std::optional<v1::LatencyMap> map = axis ? MapOfCall(view, *axis, call, report) : std::nullopt;
    if (latencies->count() == 0 && !map) continue;
    v1::CallLatencies& of_call = *report.mutable_charts()->add_calls();
    of_call.set_name(NameOf(call));
    if (map) *of_call.mutable_latency() = *map;
    if (latencies->count() > 0) *of_call.mutable_histogram() = latencies->ToProto();
  }
}

}  // namespace

void FillCharts(const PhaseView& view, v1::PhaseReport& report) {
  v1::PhaseCharts& charts = *report.mutable_charts();
  std::optional<Window> axis = FullWindow(view.aligned.lanes, std::nullopt);
  if (axis && axis->end <= axis->begin) axis.reset();
  if (axis) {
    FillThroughput(view, *axis, report);
    FillLatencyMap(view, *axis, report);
  }
  FillCalls(view, axis, report);
  if (axis) FillServerSeries(view, *axis, report);
  const auto all = std::make_unique<Histogram>();  // 37 KB, too large for the stack
  for (const AlignedLane& lane : view.aligned.lanes) {
    AddLatencies(*lane.result, *all).IgnoreError();  // FillClientTables reports it
  }
  if (all->count() > 0) *charts.mutable_latency_histogram() = all->ToProto();
  *charts.mutable_percentiles() = PercentileCurve(*all);
  FillDistribution(*all, charts);
}

}  // namespace iobench
