// The verdicts on a run's criteria (--require), on the console.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_CRITERIA_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_CRITERIA_H_

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Appends the verdict on the run and a table with one row per criterion; nothing if there are none.
void PrintCriteria(const v1::RunReport& report, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_CRITERIA_H_
