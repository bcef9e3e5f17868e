// The lines of IOzone's throughput mode: one block per phase, and the Excel text of -R.
#ifndef COORDINATOR_REPORT_IOZONE_IOZONE_THROUGHPUT_H_
#define COORDINATOR_REPORT_IOZONE_IOZONE_THROUGHPUT_H_

#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// The block of one phase, beginning with an empty line: what children and parent see, min, max and average of a child,
// the smallest amount, with -+u the CPU line, with -C a line per child, and which lanes are not counted.
std::string ThroughputText(const v1::RunReport& report, const v1::PhaseReport& phase);

// All phases, with a heading wherever the number of lanes, file size, record size, repetition or path changes.
std::string ThroughputsText(const v1::RunReport& report);

// The block of -R: a row per test, a column per number of lanes. With -+u, also one for the CPU utilization.
std::string ThroughputExcelText(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_IOZONE_IOZONE_THROUGHPUT_H_
