#include "coordinator/analysis/marks/mark_table.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "common/text/mark_codes.h"

namespace iobench {
namespace {

using enum MarkMeans;
using enum MemoryPart;

constexpr MarkRow kMarks[] = {
    {.code = mark_code::kRefusedResult, .means = kUnsound, .advice = "check the worker's program and host, and who may join"},
    {.code = mark_code::kStartLate, .means = kUnsound, .advice = "start fewer workers per processor"},
    // Counters and residency show whether anything was in memory; their marks decide.
    {.code = mark_code::kBegunBefore, .means = kNote},
    {.code = mark_code::kSkewedStart, .means = kBrief},
    {.code = mark_code::kClockStep, .means = kUnsound,
     .advice = "stop time services and VM migration during a run, and repeat"},
    {.code = mark_code::kClockUncertain, .means = kBrief,
     .advice = "use a quieter or shorter network path to the coordinator, or a longer phase"},
    {.code = mark_code::kTooShort, .means = kBrief},
    {.code = mark_code::kUnflushed, .means = kClientMemory, .memory = kWritten, .spares_flush_calls = true},
    {.code = mark_code::kCached, .means = kClientMemory, .memory = kRead, .spares_flush_calls = true},
    {.code = mark_code::kMaybeCached, .means = kClientMemory, .memory = kMaybeRead, .spares_flush_calls = true},
    {.code = mark_code::kServerCached, .means = kNotStorage,
     .advice = "let samplers of root empty it (--cold, with --allow drop-caches), or use files larger than their memory",
     .spares_flush_calls = true},
    {.code = mark_code::kHoles, .means = kNotStorage},
    {.code = mark_code::kNotCold, .means = kClientMemory, .memory = kRead, .spares_flush_calls = true},
    {.code = mark_code::kAbsorbed, .means = kClientMemory, .memory = kWritten},
    {.code = mark_code::kRepeatedData, .means = kNote,
     .advice = "leave out --data same, unless another tool that repeats its data is to be compared"},
    {.code = mark_code::kNotShared, .means = kUnsound,
     .advice = "mount the same file system on all of them, or test each separately"},
    {.code = mark_code::kMemoryFs, .means = kClientMemory, .advice = "set --path to the file system to test", .memory = kFiles},
    {.code = mark_code::kPartial, .means = kUnsound, .advice = "fix the errors listed, and repeat"},
    {.code = mark_code::kFailedOps, .means = kNote,
     .advice = "look for their cause on the server and in the clients' kernel logs"},
    {.code = mark_code::kResumed, .means = kNote},
    {.code = mark_code::kReconnected, .means = kNote},
    {.code = mark_code::kCoordinatorStopped, .means = kNote,
     .advice = "find out what stopped it or its host (SIGSTOP, a suspended VM, an overloaded host), and repeat"},
    {.code = mark_code::kRetriedOps, .means = kNote},
    {.code = mark_code::kStalled, .means = kNote, .advice = "find out what stopped the client or the server then, and repeat"},
    {.code = mark_code::kRateChanged, .means = kNote,
     .advice = "use a longer --time, with --warmup past the last change, to measure the level that lasts"},
    {.code = mark_code::kCpuQuota, .means = kNote,
     .advice = "raise cpu.max (CPUQuota=, limits.cpu), and repeat", .client_full = true},
    {.code = mark_code::kIoLimited, .means = kNote,
     .advice = "raise io.max (blkio.throttle, IOReadBandwidthMax=, IOWriteBandwidthMax=), and repeat", .client_full = true},
    {.code = mark_code::kCpuBound, .means = kNote, .client_full = true},
    {.code = mark_code::kNetworkBound, .means = kNote, .advice = "use more clients or a faster link", .client_full = true},
    {.code = mark_code::kRetransmits, .means = kNote, .advice = "check for network drops and the server's load"},
    {.code = mark_code::kRetransmissions, .means = kNote,
     .advice = "look for errors and drops of its interface (ethtool -S) and of switch ports, for cables, and for a full link"},
    {.code = mark_code::kNothingFound, .means = kUnsound, .advice = "check --find-name and --find-bytes"},
    {.code = mark_code::kNotOffloaded, .means = kUnsound,
     .advice = "mount with vers=4.2 from a server that offers it, or compare with copy, which is meant to move the data"},
    {.code = mark_code::kDataTime, .means = kNote},
    {.code = mark_code::kPaceMissed, .means = kNote, .advice = "lower the pace, or use more lanes"},
    {.code = mark_code::kGeneratorBound, .means = kUnsound},
    {.code = mark_code::kSharedTransport, .means = kNote,
     .advice = "unmount all mounts of this server, and mount and measure one after the other"},
    {.code = mark_code::kOptionsDiffer, .means = kNote,
     .advice = "mount the same way on all clients, or test each kind separately"},
};

template <typename Holds>
bool AnyRow(const v1::PhaseReport& report, Holds holds) {
  return std::any_of(report.marks().begin(), report.marks().end(),
                     [&holds](const v1::Mark& mark) { return holds(RowOf(mark.code())); });
}

}  // namespace

std::span<const MarkRow> AllMarks() {
  return kMarks;
}

const MarkRow& RowOf(std::string_view code) {
  static constexpr MarkRow kUnknown = {.code = "", .means = kNote};
  const auto* const row = std::find_if(std::begin(kMarks), std::end(kMarks),
                                       [code](const MarkRow& each) { return each.code == code; });
  return row == std::end(kMarks) ? kUnknown : *row;
}

MarkMeans MeaningOf(std::string_view code) {
  return RowOf(code).means;
}

std::string_view WordOf(MarkMeans means) {
  switch (means) {
    case kNote:
      return "note";
    case kBrief:
      return "brief";
    case kUnsound:
      return "unsound";
    case kClientMemory:
      return "client memory";
    case kNotStorage:
      return "not storage";
  }
  return "";
}

std::string_view SeverityOf(MarkMeans means) {
  if (means == kNote) return "note";
  return means == kUnsound ? "invalid" : "doubtful";
}

std::string DocOf(std::string_view code) {
  const std::string_view known = RowOf(code).code;
  return known.empty() ? "" : absl::StrCat("docs/marks.md#", std::string(known));
}

bool SpoilsFigures(std::string_view code) {
  return MeaningOf(code) != kNote;
}

bool SpoilsFlushCalls(std::string_view code) {
  return SpoilsFigures(code) && !RowOf(code).spares_flush_calls;
}

bool HasMarkThatMeans(const v1::PhaseReport& report, MarkMeans means) {
  return AnyRow(report, [means](const MarkRow& row) { return row.means == means; });
}

bool HasMarkOfMemory(const v1::PhaseReport& report, MemoryPart memory) {
  return AnyRow(report, [memory](const MarkRow& row) { return row.memory == memory; });
}

bool HasMarkOfFullClient(const v1::PhaseReport& report) {
  return AnyRow(report, [](const MarkRow& row) { return row.client_full; });
}

}  // namespace iobench
