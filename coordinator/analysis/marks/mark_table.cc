#include "coordinator/analysis/marks/mark_table.h"

#include <algorithm>
#include <iterator>

namespace iobench {
namespace {

using enum MarkMeans;

constexpr MarkRow kMarks[] = {
    {"refused_result", kUnsound},
    {"start_late", kUnsound},
    // Counters and residency show whether anything was in memory; their marks decide.
    {"begun_before", kNote},
    {"skewed_start", kBrief},
    {"clock_step", kUnsound},
    {"clock_uncertain", kBrief},
    {"too_short", kBrief},
    {"unflushed", kClientMemory},
    {"cached", kClientMemory},
    {"maybe_cached", kClientMemory},
    {"server_cached", kNotStorage},
    {"holes", kNotStorage},
    {"not_cold", kClientMemory},
    {"absorbed", kClientMemory},
    {"not_shared", kUnsound},
    {"memory_fs", kClientMemory},
    {"partial", kUnsound},
    {"failed_ops", kNote},
    {"resumed", kNote},
    {"reconnected", kNote},
    {"retried_ops", kNote},
    {"stalled", kNote},
    {"cpu_quota", kNote},
    {"io_limited", kNote},
    {"cpu_bound", kNote},
    {"network_bound", kNote},
    {"retransmits", kNote},
    {"nothing_found", kUnsound},
    {"data_time", kNote},
    {"pace_missed", kNote},
    {"generator_bound", kUnsound},
    {"shared_transport", kNote},
    {"options_differ", kNote},
};

}  // namespace

std::span<const MarkRow> AllMarks() {
  return kMarks;
}

MarkMeans MeaningOf(std::string_view code) {
  const auto* const row = std::find_if(std::begin(kMarks), std::end(kMarks),
                                       [code](const MarkRow& each) { return each.code == code; });
  return row == std::end(kMarks) ? kNote : row->means;
}

bool SpoilsFigures(std::string_view code) {
  return MeaningOf(code) != kNote;
}

bool HasMarkThatMeans(const v1::PhaseReport& report, MarkMeans means) {
  return std::any_of(report.marks().begin(), report.marks().end(),
                     [means](const v1::Mark& mark) { return MeaningOf(mark.code()) == means; });
}

}  // namespace iobench
