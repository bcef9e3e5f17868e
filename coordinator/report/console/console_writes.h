// Console lines about where the data that a phase wrote ended up.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_WRITES_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_WRITES_H_

#include <string_view>

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Steps with a line of their own, since they are not done before the phase.
inline constexpr std::string_view kFlushPassesStep = "flush-passes";
inline constexpr std::string_view kDropPassesStep = "drop-passes";  // drops pages that a pass has read

// Adds the flushes of passes, and how much of the written data arrived at the storage; nothing if all of it did.
void PutWritten(const v1::PhaseReport& phase, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_WRITES_H_
