#include "coordinator/report/console/console_tables.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/result_files.h"
#include "coordinator/report/text/column_unit.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/path_words.h"

namespace iobench {
namespace {

constexpr size_t kMaxClientRows = 40;
constexpr size_t kClientRowsOfMany = 20;
constexpr int kMaxSlowLanes = 5;
constexpr size_t kMaxHostColumns = 30;

using Align = TextTable::Align;

std::string Codes(const google::protobuf::RepeatedPtrField<v1::Mark>& marks) {
  std::vector<std::string> codes;
  for (const auto& mark : marks) {
    const std::string code = Printable(mark.code());
    if (std::find(codes.begin(), codes.end(), code) == codes.end()) codes.push_back(code);
  }
  return absl::StrJoin(codes, " ");
}

size_t LaneCountOf(const v1::ClientPhaseReport& client) {
  size_t count = 0;
  for (const auto& worker : client.workers()) count += static_cast<size_t>(worker.lanes_size());
  return count;
}

std::string CpuText(double percent) {
  return std::isfinite(percent) ? absl::StrCat(std::llround(percent), " %") : "-";
}

// The rates of a column: "MiB/s", or "ops/s" for phases with their headline in ops.
struct RateColumn {
  bool in_ops;
  ColumnUnit unit;

  RateColumn(bool is_in_ops, std::span<const double> rates)
      : in_ops(is_in_ops), unit(ColumnUnit::OfBytesPerSecond(rates)) {}
  std::string title() const { return in_ops ? "ops/s" : std::string(unit.name()); }
  std::string Text(double rate) const { return in_ops ? FormatCount(rate) : unit.Text(rate); }
};

// Percentiles of several latencies in one unit; "~12.3" if one is unsure.
class LatencyColumns {
 public:
  void Add(double us) { seconds_.push_back(us * 1e-6); }
  void Close() { unit_ = ColumnUnit::OfSeconds(seconds_); }
  std::string Title(const char* percentile) const {
    return absl::StrCat(percentile, " ", std::string(unit_.name()));
  }
  std::string Text(const v1::Latency& latency, std::string_view percentile, double us) const {
    if (latency.count() == 0) return "-";
    return absl::StrCat(IsUnsure(latency, percentile) ? "~" : "", unit_.Text(us * 1e-6));
  }

 private:
  std::vector<double> seconds_;
  ColumnUnit unit_ = ColumnUnit::OfSeconds({});
};

double RateOf(const v1::PhaseReport& phase, const v1::ClientPhaseReport& client) {
  return phase.headline_in_ops() ? client.ops_per_s() : client.bytes_per_s();
}

// A client without a lane that counts has no rate, and comes first.
double RateToSortBy(double rate) {
  return std::isnan(rate) ? -1 : rate;
}

TextTable ClientTable(const v1::PhaseReport& phase,
                      const std::vector<const v1::ClientPhaseReport*>& clients) {
  std::vector<double> rates, clock_errors_s;
  LatencyColumns latencies;
  for (const auto* client : clients) {
    rates.push_back(RateOf(phase, *client));
    clock_errors_s.push_back(client->clock_error_us() * 1e-6);
    if (client->latency_us().count() > 0) latencies.Add(client->latency_us().p99());
  }
  latencies.Close();
  const RateColumn rate(phase.headline_in_ops(), rates);
  const ColumnUnit clock = ColumnUnit::OfSeconds(clock_errors_s);
  const bool one_clock =
      std::all_of(clock_errors_s.begin(), clock_errors_s.end(), [](double error) { return error == 0; });
  TextTable table(
      {{"client", Align::kLeft},
       {"workers", Align::kRight, true},
       {"lanes", Align::kRight, true},
       {rate.title()},
       {"of mean"},
       {latencies.Title("p99")},
       {"cpu"},
       {one_clock ? "clock" : absl::StrCat("clock ", std::string(clock.name())), Align::kRight, true},
       {"marks", Align::kLeft}});
  for (const auto* client : clients) {
    const double share = client->share_of_mean();
    table.AddRow({Printable(client->host()), FormatCount(client->workers_size()),
                  FormatCount(static_cast<double>(LaneCountOf(*client))), rate.Text(RateOf(phase, *client)),
                  std::isfinite(share) ? absl::StrCat(std::llround(100 * share), " %") : "-",
                  latencies.Text(client->latency_us(), "p99", client->latency_us().p99()),
                  CpuText(client->cpu_percent()),
                  client->clock_error_us() == 0
                      ? "same"
                      : absl::StrCat("+-", clock.Text(client->clock_error_us() * 1e-6)),
                  Codes(client->marks())});
  }
  return table;
}

}  // namespace

size_t LaneCount(const v1::PhaseReport& phase) {
  size_t count = 0;
  for (const auto& client : phase.clients()) count += LaneCountOf(client);
  return count;
}

void PrintLanes(const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::Spread& spread = phase.headline_in_ops() ? phase.lanes_ops_per_s() : phase.lanes_bytes_per_s();
  const auto rate = [&phase](double value) { return RateText(phase.headline_in_ops(), value, value); };
  if (LaneCount(phase) < 2 || !std::isfinite(spread.mean())) return;
  page.Figures(
      "lanes",
      {absl::StrCat("mean ", rate(spread.mean())), absl::StrCat("slowest ", rate(spread.min())),
       absl::StrCat("fastest ", rate(spread.max())), absl::StrCat("CoV ", Percent(100 * spread.cov())),
       absl::StrCat("Jain ", FormatCount(spread.jain()))});
}

void PrintSlowLanes(const v1::PhaseReport& phase, ConsolePage& page) {
  if (LaneCount(phase) < 2) return;
  std::string label = "slow lanes";
  for (int i = 0; i < phase.stragglers_size() && i < kMaxSlowLanes; ++i) {
    page.Labelled(label, Printable(phase.stragglers(i)), Tone::kWarning);
    label.clear();
  }
  if (phase.stragglers_size() > kMaxSlowLanes) {
    page.Labelled("", absl::StrCat("and ", phase.stragglers_size() - kMaxSlowLanes, " more in ", kResultJson),
                  Tone::kWarning);
  }
}

void WriteOutClients(const v1::PhaseReport& phase, ConsolePage& page) {
  if (phase.clients_size() == 0) return;
  if (phase.clients_size() == 1 && phase.clients(0).workers_size() <= 1) {
    page.Labelled(
        "client",
        absl::StrCat(Printable(phase.clients(0).host()), ", cpu ", CpuText(phase.clients(0).cpu_percent())),
        Tone::kQuiet);
    return;
  }
  std::vector<const v1::ClientPhaseReport*> clients;
  for (const auto& client : phase.clients()) clients.push_back(&client);
  const size_t count = clients.size();
  if (count > kMaxClientRows) {
    std::stable_sort(clients.begin(), clients.end(), [&phase](const auto* a, const auto* b) {
      return RateToSortBy(RateOf(phase, *a)) < RateToSortBy(RateOf(phase, *b));
    });
    clients.resize(kClientRowsOfMany);
  }
  page.Blank();
  page.Table(ClientTable(phase, clients));
  if (count > clients.size()) {
    page.Labelled(
        "", absl::StrCat("the slowest ", clients.size(), " of ", count, " clients; all are in ", kClientsCsv),
        Tone::kQuiet);
  }
}

void PrintClientRange(const v1::PhaseReport& phase, ConsolePage& page) {
  std::vector<const v1::ClientPhaseReport*> clients;  // with a rate
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    if (std::isfinite(RateOf(phase, client))) clients.push_back(&client);
  }
  if (clients.size() < 2) return;
  const auto [slowest, fastest] = std::minmax_element(
      clients.begin(), clients.end(),
      [&phase](const auto* a, const auto* b) { return RateOf(phase, *a) < RateOf(phase, *b); });
  const auto text_of = [&phase](const char* which, const v1::ClientPhaseReport& client) {
    const double rate = RateOf(phase, client), share = client.share_of_mean();
    return absl::StrCat(
        which, " ", Shortened(Printable(client.host()), kMaxHostColumns), " ",
        RateText(phase.headline_in_ops(), rate, rate),
        std::isfinite(share) ? absl::StrCat(" (", std::llround(100 * share), " % of mean)") : std::string());
  };
  page.Figures("clients", {text_of("slowest", **slowest), text_of("fastest", **fastest)});
}

void WriteSummary(const v1::RunReport& report, ConsolePage& page) {
  std::set<std::string> repeated;  // in the table of repetitions
  for (const v1::RepetitionReport& each : report.repetitions()) repeated.insert(each.name());
  std::vector<const v1::PhaseReport*> phases;
  for (const v1::PhaseReport& phase : report.phases()) {
    if (!repeated.contains(phase.name())) phases.push_back(&phase);
  }
  if (phases.empty()) return;
  // Metadata operations have a data rate only if they write data.
  const auto moves_data = [](const v1::PhaseReport& phase) {
    return !phase.metadata() || phase.headline().bytes_per_s() > 0;
  };
  std::vector<double> rates;
  LatencyColumns latencies;
  for (const v1::PhaseReport* const each : phases) {
    const v1::PhaseReport& phase = *each;
    if (moves_data(phase)) rates.push_back(phase.headline().bytes_per_s());
    if (phase.latency_us().count() == 0) continue;
    latencies.Add(phase.latency_us().p50());
    latencies.Add(phase.latency_us().p95());
    latencies.Add(phase.latency_us().p99());
  }
  latencies.Close();
  const RateColumn data_rate(false, rates);
  std::vector<TextTable::Column> columns = {{"phase", Align::kLeft, false, true}};
  if (!rates.empty()) columns.push_back({data_rate.title()});
  columns.insert(columns.end(), {{"ops/s"},
                                 {"region", Align::kLeft},
                                 {latencies.Title("p50"), Align::kRight, true},
                                 {latencies.Title("p95"), Align::kRight, true},
                                 {latencies.Title("p99")},
                                 {"marks", Align::kLeft}});
  TextTable table(std::move(columns));
  for (const v1::PhaseReport* const each : phases) {
    const v1::PhaseReport& phase = *each;
    std::vector<std::string> codes;
    for (const GroupedMark& mark : MarksOf(phase)) {
      if (std::find(codes.begin(), codes.end(), mark.code) == codes.end()) codes.push_back(mark.code);
    }
    const std::string full = phase.headline().name() == "full" ? " (full)" : "";
    const v1::Latency& latency = phase.latency_us();
    std::vector<std::string> row = {PhaseNameAlone(report, phase)};
    if (!rates.empty())
      row.push_back(moves_data(phase) ? data_rate.Text(phase.headline().bytes_per_s()) : "");
    row.insert(row.end(), {FormatCount(phase.headline().ops_per_s()), phase.headline().region() + full,
                           latencies.Text(latency, "p50", latency.p50()),
                           latencies.Text(latency, "p95", latency.p95()),
                           latencies.Text(latency, "p99", latency.p99()), absl::StrJoin(codes, " ")});
    table.AddRow(std::move(row));
  }
  page.Table(table);
}

void PrintPaths(const v1::RunReport& report, ConsolePage& page) {
  constexpr size_t kMaxTitleColumns = 24;
  if (!report.has_each_path()) return;
  const v1::EachPathReport& targets = report.each_path();
  std::vector<double> rates;
  for (const v1::EachPathRow& row : targets.rows()) {
    for (const v1::EachPathCell& cell : row.cells()) {
      if (!row.in_ops()) rates.push_back(cell.rate());
    }
  }
  const RateColumn of_data(false, rates), of_ops(true, {});
  std::vector<std::string> paths;
  for (const std::string& path : targets.paths()) paths.push_back(Printable(path));
  const bool numbered = std::any_of(paths.begin(), paths.end(), [](const std::string& path) {
    return DisplayColumns(path) > kMaxTitleColumns;
  });
  std::vector<TextTable::Column> columns = {{"by path", Align::kLeft}, {"unit", Align::kLeft}};
  for (size_t i = 0; i < paths.size(); ++i) {
    columns.push_back({numbered ? absl::StrCat("path ", i + 1) : paths[i]});
    if (i > 0) columns.push_back({"of first"});
  }
  TextTable table(std::move(columns));
  for (const v1::EachPathRow& row : targets.rows()) {
    const RateColumn& column = row.in_ops() ? of_ops : of_data;
    std::vector<std::string> cells = {Printable(row.phase()), column.title()};
    for (int i = 0; i < row.cells_size(); ++i) {
      cells.push_back(column.Text(row.cells(i).rate()));
      if (i > 0) cells.push_back(RatioText(row.cells(i)));
    }
    table.AddRow(std::move(cells));
  }
  page.Table(table);
  for (size_t i = 1; i < paths.size(); ++i) {
    for (const v1::EachPathRow& row : targets.rows()) {
      const std::string verdict = VerdictText(row.cells(static_cast<int>(i)));
      if (verdict.empty()) continue;
      page.Labelled(Printable(row.phase()),
                    absl::StrCat(numbered ? absl::StrCat("path ", i + 1) : paths[i], ": ", verdict));
    }
  }
  if (!targets.doubt().empty()) page.Labelled("beware", Printable(targets.doubt()), Tone::kWarning);
  for (size_t i = 0; numbered && i < paths.size(); ++i) page.Labelled(absl::StrCat("path ", i + 1), paths[i]);
  page.Blank();
}

}  // namespace iobench
