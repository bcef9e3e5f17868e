// Console lines about servers: what samplers saw of a phase.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_SERVERS_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_SERVERS_H_

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// kBrief: a paragraph for each server, with its processors, its busiest disk, its busiest interface and its NFS server.
// kFull: also the others. Nothing if no sampler took part.
void PrintServers(const v1::PhaseReport& phase, Detail detail, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_SERVERS_H_
