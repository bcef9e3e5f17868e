// The columns of result.csv and phases.csv. report_format.h declares how the files are written.
#ifndef COORDINATOR_REPORT_CSV_WRITER_H_
#define COORDINATOR_REPORT_CSV_WRITER_H_

#include <vector>

#include "coordinator/report/text/csv_text.h"

namespace iobench {

// In the order of the file.
std::vector<CsvColumn> LanesCsvColumns();   // result.csv
std::vector<CsvColumn> PhasesCsvColumns();  // phases.csv: those that describe the phase are as in result.csv, and first

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CSV_WRITER_H_
