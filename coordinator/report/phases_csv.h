// phases.csv: the first line, and the row of one phase. The rows of its lanes are result.csv (report_writer.h).
#ifndef COORDINATOR_REPORT_PHASES_CSV_H_
#define COORDINATOR_REPORT_PHASES_CSV_H_

#include <ostream>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

absl::Status WritePhasesCsvTitles(std::ostream& out);
// `report`: the run that the phase belongs to; its phases are not looked at.
absl::Status WritePhasesCsvRow(const v1::RunReport& report, const v1::PhaseReport& phase, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_PHASES_CSV_H_
