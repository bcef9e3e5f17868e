#include "coordinator/analysis/charts/phase_charts.h"

#include <memory>
#include <optional>
#include <vector>

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

// Returns all latencies of a kind of ops, or of a flush call.
void JoinLatencies(const PhaseView& view, OpKind kind, Histogram& latencies) {
  latencies.Clear();
  const bool is_call = kFlushCalls.Has(kind);
  for (const AlignedLane& lane : view.aligned.lanes) {
    for (const v1::KindResult& each : is_call ? lane.result->calls() : lane.result->kinds()) {
      if (static_cast<OpKind>(each.kind()) != kind || each.ops() == 0) continue;
      const absl::Status added =
          is_call ? latencies.AddProto(each.latency()) : AddLatenciesOfKind(*lane.result, each, latencies);
      added.IgnoreError();  // FillClientTables reports it
    }
  }
}

// Of each flush call: all its latencies, and what charts show of them. Of each kind of ops, if there are several: all its
// latencies; those of a single one are all that the phase has.
void FillKinds(const PhaseView& view, const std::optional<Window>& axis, v1::PhaseReport& report) {
  std::vector<OpKind> calls, ops;
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (kFlushCalls.Has(kind)) calls.push_back(kind);
    else if (report.by_kind().contains(NameOf(kind))) ops.push_back(kind);
  }
  std::vector<OpKind> shown = calls;
  if (ops.size() > 1) shown.insert(shown.end(), ops.begin(), ops.end());
  const auto latencies = std::make_unique<Histogram>();
  for (const OpKind kind : shown) {
    const bool is_call = kFlushCalls.Has(kind);
    JoinLatencies(view, kind, *latencies);
    const std::optional<v1::LatencyMap> map = is_call && axis ? MapOfCall(view, *axis, kind, report) : std::nullopt;
    if (latencies->count() == 0 && !map) continue;
    v1::KindLatencies& of_kind = is_call ? *report.mutable_charts()->add_calls() : *report.mutable_charts()->add_kinds();
    of_kind.set_name(NameOf(kind));
    if (map) *of_kind.mutable_latency() = *map;
    if (latencies->count() > 0) *of_kind.mutable_histogram() = latencies->ToProto();
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
  FillKinds(view, axis, report);
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
