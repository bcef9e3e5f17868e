// The answer of a run on the console: whether its figures can be used, and each mark once.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_VERDICT_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_VERDICT_H_

#include <string>

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// True if the run has one phase, which then has the text of its marks itself.
bool IsOfOnePhase(const v1::Plan& plan);

// Adds a paragraph: whether the run ended, its criteria, and which phases are invalid or doubtful (SeverityOf in
// coordinator/analysis/marks/mark_table.h). Nothing without any phase. The phases may be briefs.
void PrintVerdict(const v1::RunReport& report, ConsolePage& page);

// Adds a paragraph for each code of a mark, the worst first: the phases that have it, with the number of their repetitions,
// and the text of the first. The phases may be briefs.
void PrintMarksOfRun(const v1::RunReport& report, ConsolePage& page);

// "too_short; cached on node01, node02 and 3 more": the codes of a phase's marks. Empty: it has none.
std::string MarkCodesText(const v1::PhaseReport& phase);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_VERDICT_H_
