// Tables for sweeps over sizes, records and lanes, in the style of IOzone.
#ifndef COORDINATOR_REPORT_CONSOLE_CONSOLE_SWEEP_H_
#define COORDINATOR_REPORT_CONSOLE_CONSOLE_SWEEP_H_

#include "coordinator/report/console/console_page.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// True if the plan is a sweep (IsSweep in coordinator/analysis/across/surfaces.h) with more than 20 phases, repetitions included: too many to show each in full. The tables
// then have all that is reported.
bool IsLongSweep(const v1::Plan& plan);

// Adds the tables. With several numbers of workers: for each operation, size and record, a table of rates and scaling
// by workers. Otherwise, with several sizes or records: for each operation (and number of lanes), a table of file sizes by records; if no operation has two of these at one number of lanes, one table of lanes
// by operations. Each table is in one unit, ops/s where the headline is in ops; medians for repetitions. Cells
// of phases with marks have a letter that is explained below the table; marks of all cells are stated once. With
// --each-path, each path has tables of its own. REQUIRES: IsSweep.
void PrintSweep(const v1::RunReport& report, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_CONSOLE_SWEEP_H_
