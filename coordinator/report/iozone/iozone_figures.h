// The figures of a phase in the units of IOzone's formats, and which figures of the message they correspond to.
#ifndef COORDINATOR_REPORT_IOZONE_IOZONE_FIGURES_H_
#define COORDINATOR_REPORT_IOZONE_IOZONE_FIGURES_H_

#include <string>
#include <vector>

#include "coordinator/analysis/foreign/iozone_cpu.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// True if the run has a single lane, and no phase names the number of lanes, so that its figures form a table as in IOzone's
// automatic mode. Otherwise each phase has lines of its own, as in IOzone's throughput mode.
bool HasTable(const v1::RunReport& report);

// What a figure counts. Metadata operations, which move no data, are always in ops.
enum class IozoneUnit { kKilobytes, kOps, kMicroseconds };
IozoneUnit UnitOf(const v1::IozoneOutput& output);
IozoneUnit UnitOf(const v1::IozoneOutput& output, const v1::PhaseReport& phase);

// The table's figure: the rate that IOzone measures (`children`), truncated to a whole number, as IOzone does. A time
// per op is the inverse of the rate. Empty: unknown.
std::string TableValue(const v1::IozoneOutput& output, const v1::PhaseReport& phase);

// The figures of one phase of throughput mode, in kB/s and kB or in ops/s and ops; NaN: unknown.
struct ThroughputFigures {
  double children = 0, parent = 0;   // sums over lanes
  double min = 0, max = 0, avg = 0;  // of the lanes' own rates; a lane that did nothing counts as 0
  double min_xfer = 0;               // the smallest amount that a lane moved by the stonewall, 0 included
};
ThroughputFigures ThroughputOf(const v1::PhaseReport& phase, IozoneUnit unit);

// What IOzone calls a child: "process", or "thread" with -T; "processes" if `many`.
const char* ChildWord(const v1::IozoneOutput& output, bool many = false);

// A lane that counts in the figures of its phase.
struct IozoneChild {
  uint32_t lane = 0;
  double xfer = 0, rate = 0;  // in the unit
  IozoneCpu cpu;
};
std::vector<IozoneChild> ChildrenOf(const v1::PhaseReport& phase, IozoneUnit unit);

// A size in kB: "64", "0.5".
std::string KilobytesText(uint64_t bytes);
// "%10.2f", with "-" for an unknown figure.
std::string FigureText(double figure);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_IOZONE_IOZONE_FIGURES_H_
