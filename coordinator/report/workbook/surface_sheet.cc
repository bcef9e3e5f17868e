#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/across/surfaces.h"
#include "coordinator/report/workbook/sheets.h"

namespace iobench {
namespace {

constexpr double kKiB = 1024;
constexpr size_t kMaxSeries = 255;       // of a chart
constexpr uint16_t kRightOfSurface = 9;  // a column

// Light to dark: the larger figure stands out, and black digits stay readable.
void AddColours(const Sheet& sheet, uint32_t first_row, uint32_t last_row, uint16_t last_column) {
  lxw_conditional_format scale{};
  scale.type = LXW_CONDITIONAL_2_COLOR_SCALE;
  scale.min_color = 0xF7FBFF;
  scale.max_color = 0x6BAED6;
  worksheet_conditional_format_range(sheet.worksheet(), first_row, 1, last_row, last_column, &scale);
}

void PrintBelow(const Sheet& sheet, uint32_t last_row, uint16_t first_column, lxw_chart* chart) {
  lxw_chart_options place{};
  place.x_scale = 1.8;
  place.y_scale = 1.5;
  worksheet_insert_chart_opt(sheet.worksheet(), last_row + 4, first_column, chart, &place);
}

// Lines over the record sizes, one for each file size, for programs that have no surface charts.
void AddLineChart(const Sheet& sheet, uint32_t titles_row, uint32_t last_row, uint16_t last_column,
                  const char* unit, uint16_t first_column, const Book& book) {
  lxw_chart* chart = workbook_add_chart(book.workbook(), LXW_CHART_LINE);
  const char* name = sheet.name().c_str();
  for (uint32_t row = titles_row + 1; row <= last_row && row - titles_row <= kMaxSeries; ++row) {
    lxw_chart_series* series = chart_add_series(chart, nullptr, nullptr);
    chart_series_set_categories(series, name, titles_row, 1, titles_row, last_column);
    chart_series_set_values(series, name, row, 1, row, last_column);
    chart_series_set_name_range(series, name, row, 0);
    chart_series_set_marker_type(series, LXW_CHART_MARKER_AUTOMATIC);
  }
  chart_title_set_name(chart, "throughput by record size; one line per file size (KiB)");
  chart_axis_set_name(chart->x_axis, "record size (KiB)");
  chart_axis_set_name(chart->y_axis, unit);
  chart_axis_set_num_format(chart->y_axis, "#,##0");
  chart_axis_set_min(chart->y_axis, 0);
  PrintBelow(sheet, last_row, first_column, chart);
}

// The area chart only keeps the place of the surface (surface_chart.h).
void AddSurfaceChart(const Sheet& sheet, const SurfaceChart& surface, Book& book) {
  lxw_chart* chart = workbook_add_chart(book.workbook(), LXW_CHART_AREA);
  lxw_chart_series* series = chart_add_series(chart, nullptr, nullptr);
  const char* name = sheet.name().c_str();
  chart_series_set_values(series, name, surface.last_row, 1, surface.last_row, surface.last_column);
  PrintBelow(sheet, surface.last_row, 0, chart);
  book.AddSurfaceChart(surface);
}

void PrintSurface(const v1::SurfaceReport& surface, bool names_lanes, Book& book) {
  std::string what = surface.operation();
  if (!surface.target().empty()) absl::StrAppend(&what, " on ", surface.target());
  if (names_lanes) absl::StrAppend(&what, ", ", surface.lane_count(), " lanes");
  Sheet sheet(book, book.NextName(absl::StrCat("surface ", what)));
  worksheet_set_column(sheet.worksheet(), 0, 0, 26, nullptr);
  worksheet_set_column(sheet.worksheet(), 1, static_cast<uint16_t>(surface.record_bytes_size()), 13, nullptr);
  const char* const unit = surface.in_ops() ? "ops/s" : "KiB/s";
  sheet.Title(absl::StrCat(what, ": headline in ", unit));
  SetTitleHeight(sheet);
  sheet.Text(0, "file size per lane (KiB) \\ record size (KiB)", book.formats().header);
  const uint32_t titles_row = sheet.row();
  uint16_t column = 1;
  for (const uint64_t record : surface.record_bytes())
    sheet.Put(column++, static_cast<double>(record) / kKiB, book.formats().header);
  sheet.NextRow();
  bool any_marked = false;
  auto cell = surface.cells().begin();  // in the order of the table
  for (const uint64_t size : surface.bytes_per_lane()) {
    sheet.Put(0, static_cast<double>(size) / kKiB, book.formats().decimal);
    column = 0;
    for (const uint64_t record : surface.record_bytes()) {
      ++column;
      if (cell == surface.cells().end() || cell->bytes_per_lane() != size || cell->record_bytes() != record) continue;
      const bool is_marked = !cell->marks().empty();
      any_marked = any_marked || is_marked;
      sheet.Put(column, surface.in_ops() ? cell->rate() : cell->rate() / kKiB,
                is_marked ? book.formats().marked : book.formats().whole);
      ++cell;
    }
    sheet.NextRow();
  }
  const uint32_t last_row = sheet.row() - 1;
  const auto last_column = static_cast<uint16_t>(surface.record_bytes_size());
  AddColours(sheet, titles_row + 1, last_row, last_column);
  if (any_marked) sheet.Note("Italic and dotted: the phase has marks; the summary says which.");
  const bool over_both = surface.bytes_per_lane_size() > 1 && surface.record_bytes_size() > 1;
  if (over_both) {
    AddSurfaceChart(sheet,
                    {.sheet = sheet.name(),
                     .titles_row = titles_row,
                     .last_row = std::min(last_row, titles_row + static_cast<uint32_t>(kMaxSeries)),
                     .last_column = last_column,
                     .unit = unit},
                    book);
  }
  AddLineChart(sheet, titles_row, last_row, last_column, unit, over_both ? kRightOfSurface : 0, book);
}

}  // namespace

void AddSurfaceSheets(const v1::RunReport& report, Book& book) {
  std::vector<const v1::SurfaceReport*> surfaces;
  std::set<uint32_t> lane_counts;
  for (const v1::SurfaceReport& surface : report.surfaces()) {
    if (surface.metadata() || !CoversSizes(surface)) continue;
    surfaces.push_back(&surface);
    lane_counts.insert(surface.lane_count());
  }
  for (const v1::SurfaceReport* const surface : surfaces) PrintSurface(*surface, lane_counts.size() > 1, book);
}

}  // namespace iobench
