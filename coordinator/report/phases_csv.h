// Writes phases.csv: the header line, and one row per phase. result.csv (report_writer.h) has one row per lane.
#ifndef COORDINATOR_REPORT_PHASES_CSV_H_
#define COORDINATOR_REPORT_PHASES_CSV_H_

#include <ostream>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

absl::Status WritePhasesCsvTitles(std::ostream& out);
// `report`: the run that the phase belongs to; its own phases are not used.
absl::Status WritePhasesCsvRow(const v1::RunReport& report, const v1::PhaseReport& phase, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_PHASES_CSV_H_
