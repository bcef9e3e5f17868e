// The parts of the console report about individual clients and lanes.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_TABLES_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_TABLES_H_

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Counts the lanes in the report's tables, including those that failed or sat out.
size_t LaneCount(const v1::PhaseReport& phase);

// Adds how evenly the lanes ran. Nothing for one lane.
void PrintLanes(const v1::PhaseReport& phase, ConsolePage& page);
// Adds the stragglers by name, slowest first, at most five. Nothing for one lane.
void PrintSlowLanes(const v1::PhaseReport& phase, ConsolePage& page);

// Adds one row per client, or a line if there is only one with one worker. With more than 40 clients, only the slowest
// 20.
void WriteOutClients(const v1::PhaseReport& phase, ConsolePage& page);

// Adds a line with the slowest and the fastest client. Nothing for one client.
void PrintClientRange(const v1::PhaseReport& phase, ConsolePage& page);

// Adds one row per phase that was not repeated, with the headline, latencies and the codes of its marks. The phases may be
// briefs (coordinator/analysis/brief.h).
void WriteSummary(const v1::RunReport& report, ConsolePage& page);

// Adds one row per operation and one column per path of a run with --each-path (RunReport.each_path), followed by a
// blank line. Nothing for other runs.
void PrintPaths(const v1::RunReport& report, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_TABLES_H_
