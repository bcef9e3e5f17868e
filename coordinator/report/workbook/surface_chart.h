// A surface of a workbook as Excel's own 3-D surface chart, which libxlsxwriter cannot write.
#ifndef COORDINATOR_REPORT_WORKBOOK_SURFACE_CHART_H_
#define COORDINATOR_REPORT_WORKBOOK_SURFACE_CHART_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

// A table of a sheet: record sizes in row titles_row, from column 1 to last_column; below, up to last_row, one file
// size per row, with its title in column 0. Rows and columns count from 0.
struct SurfaceChart {
  std::string sheet;
  uint32_t titles_row = 0;
  uint32_t last_row = 0;
  uint16_t last_column = 0;
  const char* unit = "";  // of the cells
};

// Returns the chart as a part of a workbook: surface3DChart of ECMA-376 Part 1, 21.2.2.205, with one series per row.
// Figures are references to the sheet, without a cached copy.
std::string SurfaceChartXml(const SurfaceChart& chart);

// Returns the workbook (the bytes of an .xlsx file) with its area charts replaced by `charts`, in the order in which
// they were added. Internal: the workbook has fewer area charts, or is no zip archive. REQUIRES: no other area charts.
absl::StatusOr<std::string> WithSurfaceCharts(std::string workbook, const std::vector<SurfaceChart>& charts);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_WORKBOOK_SURFACE_CHART_H_
