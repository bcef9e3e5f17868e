// Sweeps over sizes, records and lanes as tables, as IOzone's users know them.
#ifndef COORDINATOR_REPORT_CONSOLE_SWEEP_H_
#define COORDINATOR_REPORT_CONSOLE_SWEEP_H_

#include "coordinator/report/console_page.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Whether all of a plan's phases are the same operations at several sizes, records or numbers of lanes.
bool IsSweep(const v1::Plan& plan);

// A sweep of so many phases that nobody reads a page of each: what there is to say of them stands in the tables.
bool IsLongSweep(const v1::Plan& plan);

// Of several sizes or records: for each operation (and number of lanes) a table of file sizes by records. Of several
// numbers of lanes alone: one table of lanes by operations. KiB/s, or ops/s of names; of repetitions the median.
// Cells of phases with marks carry a letter that is explained below; what all cells share is said once. REQUIRES:
// IsSweep.
void PutSweep(const v1::RunReport& report, ConsolePage& page);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_SWEEP_H_
