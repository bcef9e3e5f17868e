// The console's lines on what became of a phase's writes.
#ifndef COORDINATOR_REPORT_CONSOLE_WRITES_H_
#define COORDINATOR_REPORT_CONSOLE_WRITES_H_

#include <string_view>

#include "coordinator/report/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The step that has a line of its own, as it is none before the phase.
inline constexpr std::string_view kFlushPassesStep = "flush-passes";
inline constexpr std::string_view kDropPassesStep = "drop-passes";  // pages that a pass has read

// Passes that were flushed, and how much of what was written arrived at the storage; nothing where it all did.
void PutWritten(const v1::PhaseReport& phase, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_WRITES_H_
