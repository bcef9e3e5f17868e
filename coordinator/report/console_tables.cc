#include "coordinator/report/console_tables.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/units.h"
#include "coordinator/report/console_words.h"
#include "coordinator/report/display_text.h"

namespace iobench {
namespace {

constexpr size_t kMostClientRows = 40;
constexpr size_t kClientRowsOfMany = 20;
constexpr int kMostSlowLanes = 5;

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

void AddClientRow(const v1::PhaseReport& phase, const v1::ClientPhaseReport& client, TextTable& table) {
  table.AddRow(
      {Printable(client.host()), FormatCount(client.workers_size()),
       FormatCount(static_cast<double>(LaneCountOf(client))),
       RateText(phase.metadata(), client.bytes_per_s(), client.ops_per_s()),
       std::isfinite(client.share_of_mean()) ? absl::StrCat(std::llround(100 * client.share_of_mean()), " %")
                                             : "-",
       PercentileText(client.latency_us(), "p99", client.latency_us().p99()), CpuText(client.cpu_percent()),
       client.clock_error_us() == 0 ? "same clock"
                                    : absl::StrCat("+-", Microseconds(client.clock_error_us())),
       Codes(client.marks())});
}

}  // namespace

size_t LaneCount(const v1::PhaseReport& phase) {
  size_t count = 0;
  for (const auto& client : phase.clients()) count += LaneCountOf(client);
  return count;
}

void PutLanes(const v1::PhaseReport& phase, ConsolePage& page) {
  const v1::Spread& spread = phase.metadata() ? phase.lanes_ops_per_s() : phase.lanes_bytes_per_s();
  const auto rate = [&phase](double value) { return RateText(phase.metadata(), value, value); };
  if (LaneCount(phase) < 2 || !std::isfinite(spread.mean())) return;
  page.Figures(
      "lanes",
      {absl::StrCat("mean ", rate(spread.mean())), absl::StrCat("slowest ", rate(spread.min())),
       absl::StrCat("fastest ", rate(spread.max())), absl::StrCat("CoV ", Percent(100 * spread.cov())),
       absl::StrCat("Jain ", FormatCount(spread.jain()))});
  std::string label = "slow lanes";
  for (int i = 0; i < phase.stragglers_size() && i < kMostSlowLanes; ++i) {
    page.Labelled(label, Printable(phase.stragglers(i)), Tone::kWarning);
    label.clear();
  }
  if (phase.stragglers_size() > kMostSlowLanes) {
    page.Labelled("", absl::StrCat("and ", phase.stragglers_size() - kMostSlowLanes, " more in result.json"),
                  Tone::kWarning);
  }
}

void PutClients(const v1::PhaseReport& phase, ConsolePage& page) {
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
  if (count > kMostClientRows) {
    std::stable_sort(clients.begin(), clients.end(), [&phase](const auto* a, const auto* b) {
      return phase.metadata() ? a->ops_per_s() < b->ops_per_s() : a->bytes_per_s() < b->bytes_per_s();
    });
    clients.resize(kClientRowsOfMany);
  }
  TextTable table({{"client", Align::kLeft},
                   {"workers", Align::kRight, true},
                   {"lanes", Align::kRight, true},
                   {"rate"},
                   {"of mean"},
                   {"p99"},
                   {"cpu"},
                   {"clock", Align::kRight, true},
                   {"marks", Align::kLeft}});
  for (const auto* client : clients) AddClientRow(phase, *client, table);
  page.Blank();
  page.Table(table);
  if (count > clients.size()) {
    page.Labelled(
        "", absl::StrCat("the slowest ", clients.size(), " of ", count, " clients; all are in result.csv"),
        Tone::kQuiet);
  }
}

void PutSummary(const v1::RunReport& report, ConsolePage& page) {
  if (report.phases().empty()) return;
  TextTable table({{"phase", Align::kLeft, false, true},
                   {"headline"},
                   {"region", Align::kLeft},
                   {"ops/s"},
                   {"p50", Align::kRight, true},
                   {"p99"},
                   {"marks", Align::kLeft}});
  for (const auto& phase : report.phases()) {
    std::vector<std::string> codes;
    for (const GroupedMark& mark : MarksOf(phase)) {
      if (std::find(codes.begin(), codes.end(), mark.code) == codes.end()) codes.push_back(mark.code);
    }
    const std::string full = phase.headline().name() == "full" ? " (full)" : "";
    const v1::Latency& latency = phase.latency_us();
    table.AddRow({PhaseNameAlone(report, phase),
                  RateText(phase.metadata(), phase.headline().bytes_per_s(), phase.headline().ops_per_s()),
                  phase.headline().region() + full, FormatCount(phase.headline().ops_per_s()),
                  PercentileText(latency, "p50", latency.p50()),
                  PercentileText(latency, "p99", latency.p99()), absl::StrJoin(codes, " ")});
  }
  page.Table(table);
}

void PutRepetitions(const v1::RunReport& report, ConsolePage& page) {
  if (report.repetitions().empty()) return;
  TextTable table({{"repeated", Align::kLeft, false, true},
                   {"times"},
                   {"median"},
                   {"interval", Align::kLeft},
                   {"level"},
                   {"min", Align::kRight, true},
                   {"max", Align::kRight, true},
                   {"stddev", Align::kRight, true}});
  std::vector<std::string> left_out;
  for (const auto& repetition : report.repetitions()) {
    const auto rate = [&repetition](double value) { return RateText(repetition.metadata(), value, value); };
    table.AddRow({Printable(repetition.name()), FormatCount(repetition.count()), rate(repetition.median()),
                  absl::StrCat(rate(repetition.low()), " to ", rate(repetition.high())),
                  Percent(repetition.level_percent()), rate(repetition.min()), rate(repetition.max()),
                  rate(repetition.stddev())});
    if (repetition.partial_count() > 0) {
      left_out.push_back(
          absl::StrCat(repetition.partial_count(), " of ", Printable(repetition.name()), " (partial)"));
    }
  }
  page.Table(table);
  if (!left_out.empty()) page.Labelled("left out", absl::StrJoin(left_out, ", "));
}

}  // namespace iobench
