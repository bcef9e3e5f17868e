#include "coordinator/analysis/marks/mark_table.h"

#include <algorithm>
#include <iterator>

#include "common/text/mark_codes.h"

namespace iobench {
namespace {

using enum MarkMeans;

constexpr MarkRow kMarks[] = {
    {mark_code::kRefusedResult, kUnsound},
    {mark_code::kStartLate, kUnsound},
    // Counters and residency show whether anything was in memory; their marks decide.
    {mark_code::kBegunBefore, kNote},
    {mark_code::kSkewedStart, kBrief},
    {mark_code::kClockStep, kUnsound},
    {mark_code::kClockUncertain, kBrief},
    {mark_code::kTooShort, kBrief},
    {mark_code::kUnflushed, kClientMemory},
    {mark_code::kCached, kClientMemory},
    {mark_code::kMaybeCached, kClientMemory},
    {mark_code::kServerCached, kNotStorage},
    {mark_code::kHoles, kNotStorage},
    {mark_code::kNotCold, kClientMemory},
    {mark_code::kAbsorbed, kClientMemory},
    {mark_code::kNotShared, kUnsound},
    {mark_code::kMemoryFs, kClientMemory},
    {mark_code::kPartial, kUnsound},
    {mark_code::kFailedOps, kNote},
    {mark_code::kResumed, kNote},
    {mark_code::kReconnected, kNote},
    {mark_code::kRetriedOps, kNote},
    {mark_code::kStalled, kNote},
    {mark_code::kCpuQuota, kNote},
    {mark_code::kIoLimited, kNote},
    {mark_code::kCpuBound, kNote},
    {mark_code::kNetworkBound, kNote},
    {mark_code::kRetransmits, kNote},
    {mark_code::kNothingFound, kUnsound},
    {mark_code::kDataTime, kNote},
    {mark_code::kPaceMissed, kNote},
    {mark_code::kGeneratorBound, kUnsound},
    {mark_code::kSharedTransport, kNote},
    {mark_code::kOptionsDiffer, kNote},
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
