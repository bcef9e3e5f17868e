#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/workbook/sheets.h"
#include "coordinator/report/workbook/table_sheets.h"

namespace iobench {
namespace {

constexpr int kMaxRatePhases = 50;  // columns of rates
constexpr int kMaxChartPhases = 6;  // more series cannot be told apart

std::string RateTitle(const v1::RunReport& report, const v1::PhaseReport& phase) {
  return absl::StrCat(PhaseNameAlone(report, phase), phase.headline_in_ops() ? " (ops/s)" : " (MiB/s)");
}

// Stragglers stand out in their phase's column.
void AddColumnColours(const Sheet& sheet, uint32_t first_row, uint32_t last_row, uint16_t column) {
  lxw_conditional_format scale{};
  scale.type = LXW_CONDITIONAL_2_COLOR_SCALE;
  scale.min_color = 0xFDD0A2;
  scale.max_color = 0xFFFFFF;
  worksheet_conditional_format_range(sheet.worksheet(), first_row, column, last_row, column, &scale);
}

void AddRatesChart(const v1::RunReport& report, uint32_t titles_row, uint32_t last_row, int phases,
                   const Book& book, const Sheet& sheet) {
  const bool ops = std::all_of(report.phases().begin(), report.phases().end(),
                               [](const v1::PhaseReport& phase) { return phase.headline_in_ops(); });
  lxw_chart* chart = workbook_add_chart(book.workbook(), LXW_CHART_COLUMN);
  const char* name = sheet.name().c_str();
  int series_count = 0;
  for (int i = 0; i < phases && series_count < kMaxChartPhases; ++i) {
    if (report.phases(i).headline_in_ops() != ops) continue;  // one axis, one unit
    const auto column = static_cast<uint16_t>(i + 1);
    lxw_chart_series* series = chart_add_series(chart, nullptr, nullptr);
    chart_series_set_categories(series, name, titles_row + 1, 0, last_row, 0);
    chart_series_set_values(series, name, titles_row + 1, column, last_row, column);
    chart_series_set_name_range(series, name, titles_row, column);
    ++series_count;
  }
  chart_title_set_name(chart, "throughput per client");
  chart_axis_set_name(chart->y_axis, ops ? "ops/s" : kMebibytesPerSecond);
  chart_axis_set_num_format(chart->y_axis, "#,##0");
  chart_axis_set_min(chart->y_axis, 0);
  chart_legend_set_position(chart, LXW_CHART_LEGEND_BOTTOM);
  lxw_chart_options place{};
  place.x_scale = 2;
  place.y_scale = 1.4;
  worksheet_insert_chart_opt(sheet.worksheet(), 2, static_cast<uint16_t>(phases + 2), chart, &place);
}

}  // namespace

void AddClientsSheet(const v1::RunReport& report, Book& book) {
  Sheet sheet(book, book.NextName("clients"));
  const int phases = std::min(report.phases_size(), kMaxRatePhases);
  const int clients = std::min(report.clients_size(), kMaxClientRows);
  worksheet_set_column(sheet.worksheet(), 0, 0, 24, nullptr);
  if (phases > 0) worksheet_set_column(sheet.worksheet(), 1, static_cast<uint16_t>(phases), 18, nullptr);
  sheet.Title("Throughput of each client");
  if (phases < report.phases_size())
    sheet.Note(absl::StrCat("Only the first ", phases, " of ", report.phases_size(), " phases are shown."));
  if (clients < report.clients_size())
    sheet.Note(
        absl::StrCat("Only the first ", clients, " of ", report.clients_size(), " clients are shown."));
  const uint32_t titles_row = sheet.row();
  SetTitleHeight(sheet);
  sheet.Text(0, "client", book.formats().header);
  for (int i = 0; i < phases; ++i)
    sheet.Text(static_cast<uint16_t>(i + 1), RateTitle(report, report.phases(i)), book.formats().header);
  sheet.NextRow();
  sheet.FreezeAbove();
  for (int row = 0; row < clients; ++row) {
    sheet.Text(0, report.clients(row).host());
    for (int i = 0; i < phases; ++i) {
      const v1::PhaseReport& phase = report.phases(i);
      // Phases list their clients in the report's order; those that took no part are missing.
      for (int at = std::min(row, phase.clients_size() - 1); at >= 0; --at) {
        const v1::ClientPhaseReport& client = phase.clients(at);
        if (client.host() != report.clients(row).host()) continue;
        const auto column = static_cast<uint16_t>(i + 1);
        phase.headline_in_ops() ? sheet.Whole(column, client.ops_per_s())
                                : sheet.Decimal(column, client.bytes_per_s() / kBytesPerMebibyte);
        break;
      }
    }
    sheet.NextRow();
  }
  sheet.AddFilter(titles_row, static_cast<size_t>(phases) + 1);
  if (clients == 0 || phases == 0) return;
  for (int i = 0; i < phases; ++i)
    AddColumnColours(sheet, titles_row + 1, sheet.row() - 1, static_cast<uint16_t>(i + 1));
  AddRatesChart(report, titles_row, sheet.row() - 1, phases, book, sheet);
}

void AddFactsSheet(const v1::RunReport& report, Book& book) {
  Sheet sheet(book, book.NextName("facts"));
  const v1::RunInfo& run = report.run();
  sheet.Title("Facts");
  sheet.Fact("program", absl::StrCat("cluster-iobench ", run.program_version()));
  sheet.Fact("program SHA-256", run.program_sha256());
  sheet.Fact("plan SHA-256", run.plan_sha256());
  sheet.Fact("transport", run.transport());
  sheet.Fact("coordinator", run.coordinator_host());
  if (run.has_exit_code()) {
    sheet.Fact("exit code", run.exit_code(), "");
  } else {
    sheet.Fact("exit code", "none: the run did not finish");
  }
  for (const std::string& note : report.notes()) sheet.Fact("note", note);
  sheet.NextRow();
  PrintTable(TableOf(TableSourceNamed("clients"), report), book, sheet);
}

}  // namespace iobench
