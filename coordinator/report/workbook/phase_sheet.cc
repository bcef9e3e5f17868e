#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/workbook/sheets.h"
#include "coordinator/report/workbook/table_sheets.h"

namespace iobench {
namespace {

using Unit = TableUnit;

bool HasDataRate(const v1::PhaseReport& phase) {
  return !phase.metadata() || phase.bytes() > 0;
}

// The column of a client's rate in bytes/s and in ops/s, for the chart.
constexpr uint16_t kClientBytesColumn = 1, kClientOpsColumn = 2;

Table ClientRows(const v1::PhaseReport& phase) {
  Table table = {.columns = {ColumnOf("client", "client"),
                             ColumnOf("bytes_per_s", "bytes/s", Unit::kBytesPerSecond),
                             ColumnOf("ops_per_s", "ops/s", Unit::kOpsPerSecond),
                             ColumnOf("share_of_mean", "share of mean", Unit::kShare),
                             ColumnOf("measured_bytes", "measured bytes", Unit::kCount),
                             ColumnOf("measured_ops", "measured ops", Unit::kCount),
                             ColumnOf("p50_us", "p50", Unit::kMicroseconds), ColumnOf("p99_us", "p99", Unit::kMicroseconds),
                             ColumnOf("max_us", "max", Unit::kMicroseconds), ColumnOf("cpu_percent", "CPU", Unit::kPercent),
                             ColumnOf("clock_error_us", "clock error", Unit::kMicroseconds),
                             ColumnOf("marks", "marks")},
                 .parts = {{}}};
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    const bool has_latency = client.has_latency_us();
    std::string codes;
    for (const v1::Mark& mark : client.marks()) absl::StrAppend(&codes, codes.empty() ? "" : " ", mark.code());
    table.parts[0].rows.push_back({client.host(), CellIf(HasDataRate(phase), client.bytes_per_s()), client.ops_per_s(),
                                   client.share_of_mean(), client.measured_bytes(), client.measured_ops(),
                                   CellIf(has_latency, client.latency_us().p50()),
                                   CellIf(has_latency, client.latency_us().p99()),
                                   CellIf(has_latency, client.latency_us().max()), client.cpu_percent(),
                                   client.clock_error_us(), codes});
  }
  return table;
}

const char* StateOf(const v1::LanePhaseReport& lane) {
  return lane.failed() ? "failed" : lane.sat_out() ? "sat_out" : lane.stopped() ? "stopped" : "done";
}

Table LaneRows(const v1::PhaseReport& phase) {
  Table table = {.columns = {ColumnOf("client", "client"),
                             ColumnOf("bytes_per_s", "bytes/s", Unit::kBytesPerSecond),
                             ColumnOf("ops_per_s", "ops/s", Unit::kOpsPerSecond), ColumnOf("worker", "worker", Unit::kCount),
                             ColumnOf("lane", "lane", Unit::kCount), ColumnOf("bytes", "bytes", Unit::kCount),
                             ColumnOf("p50_us", "p50", Unit::kMicroseconds), ColumnOf("p99_us", "p99", Unit::kMicroseconds),
                             ColumnOf("max_us", "max", Unit::kMicroseconds), ColumnOf("start_us", "start", Unit::kMicroseconds),
                             ColumnOf("end_s", "end", Unit::kSeconds), ColumnOf("state", "state")},
                 .parts = {{}}};
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    for (const v1::WorkerPhaseReport& worker : client.workers()) {
      for (const v1::LanePhaseReport& lane : worker.lanes()) {
        table.parts[0].rows.push_back({client.host(), CellIf(HasDataRate(phase), lane.bytes_per_s()), lane.ops_per_s(),
                                       worker.worker(), lane.lane(), lane.bytes(), lane.p50_us(), lane.p99_us(),
                                       lane.max_us(), lane.start_us(), lane.end_s(), StateOf(lane)});
      }
    }
  }
  return table;
}

void PrintRate(const char* name, bool in_ops, double rate, Sheet& sheet) {
  in_ops ? sheet.Fact(name, rate, "ops/s") : sheet.Fact(name, rate / kBytesPerMebibyte, kMebibytesPerSecond);
}

void PrintThroughput(const v1::Throughput& rates, bool in_ops, Sheet& sheet) {
  PrintRate("full", in_ops, rates.full(), sheet);
  PrintRate("stonewalled", in_ops, rates.stonewalled(), sheet);
  PrintRate("all-active", in_ops, rates.all_active(), sheet);
  PrintRate("children", in_ops, rates.children(), sheet);
  PrintRate("parent", in_ops, rates.parent(), sheet);
}

// Beside the latencies, which are response times here.
void PrintTimes(const std::string& name, const v1::Latency& times, Sheet& sheet) {
  sheet.Fact(name + " mean", times.mean(), "us");
  sheet.Fact(name + " p50", times.p50(), "us");
  sheet.Fact(name + " p99", times.p99(), "us");
  sheet.Fact(name + " max", times.max(), "us");
}

void PrintFigures(const v1::PhaseReport& phase, Sheet& sheet) {
  const bool ops = phase.headline_in_ops();
  PrintRate("headline", ops, ops ? phase.headline().ops_per_s() : phase.headline().bytes_per_s(), sheet);
  if (!ops) PrintRate("headline", true, phase.headline().ops_per_s(), sheet);
  if (ops && !phase.metadata()) PrintRate("headline", false, phase.headline().bytes_per_s(), sheet);
  sheet.TimeFact("started", phase.started_at());
  sheet.Fact("window", phase.headline().name());
  sheet.Fact("timed region", phase.headline().region());
  if (phase.has_first_pass()) {
    const v1::FirstPassReport& pass = phase.first_pass();
    PrintRate("first pass, over new files", ops, ops ? pass.ops_per_s() : pass.bytes_per_s(), sheet);
    sheet.Fact("window of the first pass", pass.seconds(), "s");
    sheet.Fact("overwriting, of the headline", pass.overwritten_percent(), "%");
  }
  if (ops && phase.has_throughput_ops_per_s()) PrintThroughput(phase.throughput_ops_per_s(), true, sheet);
  if (!ops && phase.has_throughput_bytes_per_s())
    PrintThroughput(phase.throughput_bytes_per_s(), false, sheet);
  sheet.Fact("moved", static_cast<double>(phase.bytes()), "bytes");
  sheet.Fact("measured", static_cast<double>(phase.measured_bytes()), "bytes");
  sheet.Fact("measured", static_cast<double>(phase.measured_ops()), "ops");
  sheet.Fact("duration", phase.duration_s(), "s");
  if (phase.has_latency_us() && phase.latency_us().count() > 0) {
    const v1::Latency& latency = phase.latency_us();
    sheet.Fact("latency min", latency.min(), "us");
    sheet.Fact("latency mean", latency.mean(), "us");
    sheet.Fact("latency p50", latency.p50(), "us");
    sheet.Fact("latency p90", latency.p90(), "us");
    sheet.Fact("latency p95", latency.p95(), "us");
    sheet.Fact("latency p99", latency.p99(), "us");
    sheet.Fact("latency p99.9", latency.p99_9(), "us");
    sheet.Fact("latency max", latency.max(), "us");
  }
  if (phase.has_open_loop()) {
    sheet.Fact("latency is", "response time: from when an op was due");
    PrintTimes("service", phase.open_loop().service_us(), sheet);
    PrintTimes("lag", phase.open_loop().lag_us(), sheet);
  }
  if (phase.has_start()) sheet.Fact("start skew", phase.start().skew_us(), "us");
  if (phase.has_regions_s()) {
    sheet.Fact("open, mean", phase.regions_s().open(), "s");
    sheet.Fact("ops, mean", phase.regions_s().ops(), "s");
    sheet.Fact("fsync, mean", phase.regions_s().fsync(), "s");
    sheet.Fact("close, mean", phase.regions_s().close(), "s");
  }
  if (phase.has_read_sources()) sheet.Fact("read from", ReadPartsText(phase.read_sources()));
  sheet.Fact("limited by", phase.limited_by());
  for (const GroupedMark& mark : MarksOf(phase)) sheet.Fact(absl::StrCat("mark ", mark.code), mark.text);
  for (const v1::ErrorReport& error : phase.errors()) sheet.Fact("error", ErrorText(error));
}

// Beside the figures, above the table that it shows.
void PrintClientChart(const v1::PhaseReport& phase, uint32_t first_row, uint32_t last_row, const Book& book,
                    const Sheet& sheet) {
  const bool ops = phase.headline_in_ops();
  const uint16_t column = ops ? kClientOpsColumn : kClientBytesColumn;
  lxw_chart* chart = workbook_add_chart(book.workbook(), LXW_CHART_COLUMN);
  lxw_chart_series* series = chart_add_series(chart, nullptr, nullptr);
  chart_series_set_categories(series, sheet.name().c_str(), first_row, 0, last_row, 0);
  chart_series_set_values(series, sheet.name().c_str(), first_row, column, last_row, column);
  chart_title_set_name(chart, "throughput per client");
  chart_legend_set_position(chart, LXW_CHART_LEGEND_NONE);
  chart_axis_set_name(chart->y_axis, ops ? "ops/s" : kMebibytesPerSecond);
  chart_axis_set_num_format(chart->y_axis, "#,##0");
  chart_axis_set_min(chart->y_axis, 0);
  lxw_chart_options place{};
  place.x_scale = 1.5;
  worksheet_insert_chart_opt(sheet.worksheet(), 2, 4, chart, &place);
}

void WriteOutClients(const v1::PhaseReport& phase, const Book& book, Sheet& sheet) {
  sheet.Title("Clients");
  const uint32_t first_row = sheet.row() + 1;
  PrintTable(ClientRows(phase), book, sheet);
  const auto count = static_cast<uint32_t>(std::min(phase.clients_size(), kMaxClientRows));
  if (count > 0) PrintClientChart(phase, first_row, first_row + count - 1, book, sheet);
}

// What the lanes on each of several paths did at the same time.
void PrintPaths(const v1::RunReport& report, const v1::PhaseReport& phase, const Book& book, Sheet& sheet) {
  Table table = TableSourceNamed("paths").of_phase(report, phase);
  if (table.empty()) return;
  table.parts_are.clear();  // the sheet is of one phase
  sheet.Title("Paths");
  PrintTable(table, book, sheet);
  sheet.NextRow();
}

void PrintLanes(const v1::PhaseReport& phase, const Book& book, Sheet& sheet) {
  sheet.Title("Lanes");
  PrintTable(LaneRows(phase), book, sheet, Headed::kNo, kMaxLaneRows);
}

}  // namespace

void AddPhaseSheets(const v1::RunReport& report, Book& book) {
  const int count = std::min(report.phases_size(), kMaxPhaseSheets);
  for (int i = 0; i < count; ++i) {
    const v1::PhaseReport& phase = report.phases(i);
    Sheet sheet(book, book.NextName(absl::StrCat(phase.index(), " ", phase.name())));
    SetTableWidths(12, sheet);
    sheet.Title(PhaseTitle(report, phase));
    PrintFigures(phase, sheet);
    // The chart needs the height of some rows.
    if (sheet.row() < 18) sheet.NextRow(18 - sheet.row());
    sheet.NextRow();
    WriteOutClients(phase, book, sheet);
    sheet.NextRow();
    PrintPaths(report, phase, book, sheet);
    PrintLanes(phase, book, sheet);
  }
}

}  // namespace iobench
