// Console lines about where the data that a phase wrote ended up, and where the data that it read came from.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_WRITES_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_WRITES_H_

#include <string_view>

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Steps with a line of their own, since they are not done before the phase.
inline constexpr std::string_view kFlushPassesStep = "flush-passes";
inline constexpr std::string_view kDropPassesStep = "drop-passes";  // drops pages that a pass has read

// Adds the figure of the first pass over new files; nothing if the phase has none.
void PrintFirstPass(const v1::PhaseReport& phase, ConsolePage& page);

// Adds the flushes of passes; nothing if there were none.
void PrintPasses(const v1::PhaseReport& phase, ConsolePage& page);

// Adds how much of the written data arrived at the storage; nothing if all of it did. kFull: also says where no counter
// shows it.
void PrintReached(const v1::PhaseReport& phase, Detail detail, ConsolePage& page);

// Adds where the bytes that were read came from. kBrief: only if some came from memory or
// holes, or might have.
void PrintReadSources(const v1::PhaseReport& phase, Detail detail, ConsolePage& page);

// Adds how full the file systems were when the phase began; nothing if that is unknown. kBrief: only if the plan fills
// them or one was nearly full.
void PrintFullness(const v1::RunReport& report, const v1::PhaseReport& phase, Detail detail, ConsolePage& page);

// Adds what --cold achieved; nothing without it.
void PrintCold(const v1::PhaseReport& phase, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_WRITES_H_
