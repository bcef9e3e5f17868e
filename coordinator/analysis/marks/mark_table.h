// The table of all marks, and what each says about the figures of its phase. Criteria, limits, layers, capacity and
// validations ask it; none of them has a list of codes of its own.
#ifndef COORDINATOR_ANALYSIS_MARKS_MARK_TABLE_H_
#define COORDINATOR_ANALYSIS_MARKS_MARK_TABLE_H_

#include <cstdint>
#include <span>
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

struct MarkRow {
  std::string_view code;
  MarkMeans means;
};

// In the order of docs/marks.md, which has a heading for each code: docs/marks.md#CODE.
std::span<const MarkRow> AllMarks();

// kNote for a code that is not in the table: a report of a later version.
MarkMeans MeaningOf(std::string_view code);

// True if a figure of a phase with this mark may not be that of the storage and of the whole run, so that nothing can be
// decided by it: every meaning except kNote.
bool SpoilsFigures(std::string_view code);

// True if the phase has a mark with this meaning.
bool HasMarkThatMeans(const v1::PhaseReport& report, MarkMeans means);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_MARK_TABLE_H_
