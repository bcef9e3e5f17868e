// IOzone's table of automatic mode, and its Excel text of the same figures.
#ifndef COORDINATOR_REPORT_IOZONE_IOZONE_TABLE_H_
#define COORDINATOR_REPORT_IOZONE_IOZONE_TABLE_H_

#include <string>
#include <vector>

#include "coordinator/report/iozone/iozone_tests.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The phases of one combination of file size and record size, by column; null: not run.
struct IozoneRow {
  uint64_t file_bytes = 0, record_bytes = 0;
  std::vector<const v1::PhaseReport*> phases = std::vector<const v1::PhaseReport*>(kAllColumns);
};

// One repetition of the run's phases on one path.
struct IozoneTable {
  uint32_t repetition = 0;
  std::string target;           // with --each-path, otherwise empty
  std::vector<IozoneRow> rows;  // in the order of the run; a phase that repeats a cell begins another row
  // Phases without a column, such as mixes and metadata operations.
  std::vector<const v1::PhaseReport*> others;
};

// The tables refer to the phases of `report`, which must outlive them.
std::vector<IozoneTable> IozoneTablesOf(const v1::RunReport& report);

// "\tRepetition 2 of 5", "\tPath: /mnt/b": empty if the run has one table.
std::string TableTitle(const v1::RunReport& report, const IozoneTable& table);

// The heading and the rows. Widths are IOzone's; a figure that fills its column gets one more blank, where IOzone's
// figures run into each other.
std::string TableText(const v1::RunReport& report, const IozoneTable& table);

// The blocks of -R, each with its title, one per test that was run; and the same for the CPU utilization (-+u).
std::string ExcelText(const v1::RunReport& report, const IozoneTable& table);
std::string CpuExcelText(const IozoneTable& table);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_IOZONE_IOZONE_TABLE_H_
