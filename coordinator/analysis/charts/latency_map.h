// Latencies over time: the lanes' slices on the phase's common axis.
#ifndef COORDINATOR_ANALYSIS_CHARTS_LATENCY_MAP_H_
#define COORDINATOR_ANALYSIS_CHARTS_LATENCY_MAP_H_

#include <cstdint>
#include <optional>

#include "common/latency_slices.h"
#include "common/model/op.h"
#include "coordinator/analysis/phase/phase_view.h"
#include "coordinator/analysis/phase/window.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Sets report.charts.latency; absent if no lane has slices (records of earlier versions) or measured an op. A slice of
// the map is as long as the longest one of the lanes, and long enough that there are at most 64. The ops of a lane's
// slice that lies in two slices of the map are divided in proportion to the time in each, and rounded so that no op is
// lost. Only lanes whose slices are damaged are left out; they are listed in report.errors. `axis`: from T_first to the
// end of the last timed region; not empty.
void FillLatencyMap(const PhaseView& view, const Window& axis, v1::PhaseReport& report);

// Fewer have no shape over time: most of the 64 slices are empty.
inline constexpr uint64_t kMinCallsForMap = LatencySlices::kSliceCount;
// Returns the map of a flush call in the same way; nullopt: the lanes made it fewer than kMinCallsForMap times.
std::optional<v1::LatencyMap> MapOfCall(const PhaseView& view, const Window& axis, OpKind call, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CHARTS_LATENCY_MAP_H_
