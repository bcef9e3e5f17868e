// The table of all marks: what each says about the figures of its phase, and what to do about it. Criteria, limits, layers,
// capacity, validations and the page ask it; none of them has a list of codes of its own.
#ifndef COORDINATOR_ANALYSIS_MARKS_MARK_TABLE_H_
#define COORDINATOR_ANALYSIS_MARKS_MARK_TABLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "iobench/v1/result.pb.h"

namespace iobench {

enum class MarkMeans : uint8_t {
  kNote,          // what limited the phase, or what happened in it: the figures stand
  kBrief,         // the phase is too short for the uncertainty at its ends; a longer one has no such mark
  kUnsound,       // the figures do not belong to the whole of what was asked: a part is missing, the load was another
                  // one, or what was added up or timed does not fit together
  kClientMemory,  // the figures are or may be those of the client's memory, at least in part
  kNotStorage,    // data came neither from the client's memory nor from where they are stored
};

// What the client's memory had to do with what was measured. kNothing, unless the meaning is kClientMemory.
enum class MemoryPart : uint8_t {
  kNothing,
  kRead,       // some of what was read came from it
  kMaybeRead,  // the same, but no counter shows it
  kWritten,    // some of what was written stayed in it
  kFiles,      // it is where the files are
};

struct MarkRow {
  std::string_view code;
  MarkMeans means;
  std::string_view advice = {};  // what to do; empty: the function that sets the mark says it, as far as anything helps
  MemoryPart memory = MemoryPart::kNothing;
  bool client_full = false;  // a processor, link or limit of the client was used up
  // It is about reads, or about what was written after the last flush call: the latencies of flush calls stand.
  bool spares_flush_calls = false;
};

// In the order of docs/marks.md, which has a heading for each code.
std::span<const MarkRow> AllMarks();

// The row of a code; for one that is not in the table (a report of a later version), that of a note without advice.
const MarkRow& RowOf(std::string_view code);
MarkMeans MeaningOf(std::string_view code);
// As docs/marks.md has it: "client memory".
std::string_view WordOf(MarkMeans means);
// How bad it is for a reader of the figure: "invalid" (kUnsound), "doubtful", or "note".
std::string_view SeverityOf(MarkMeans means);
// "docs/marks.md#CODE"; empty for a code that is not in the table.
std::string DocOf(std::string_view code);

// True if a figure of a phase with this mark may not be that of the storage and of the whole run, so that nothing can be
// decided by it: every meaning except kNote.
bool SpoilsFigures(std::string_view code);
// The same of the latencies of flush calls.
bool SpoilsFlushCalls(std::string_view code);

// True if the phase has a mark with this meaning, with this part of the memory, or one of a client with nothing left.
bool HasMarkThatMeans(const v1::PhaseReport& report, MarkMeans means);
bool HasMarkOfMemory(const v1::PhaseReport& report, MemoryPart memory);
bool HasMarkOfFullClient(const v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_MARK_TABLE_H_
