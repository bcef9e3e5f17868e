// Console lines about NFS: what the requests of a phase cost, and where clients differ.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_NFS_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_NFS_H_

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// kBrief: one line, the requests that moved data and their times. kFull: also each kind of request beside the ops'
// latency, sizes, connections, and whatever went wrong. Nothing if the phase was not on NFS.
void PrintNfs(const v1::PhaseReport& phase, Detail detail, ConsolePage& page);

// Adds where clients are not alike. kBrief: at most four lines.
void PrintDifferences(const v1::RunReport& report, Detail detail, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_NFS_H_
