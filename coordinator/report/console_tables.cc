#include "coordinator/report/console_tables.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/units.h"
#include "coordinator/report/console_words.h"
#include "coordinator/report/display_text.h"

namespace iobench {
namespace {

constexpr size_t kMostClientRows = 40;
constexpr size_t kClientRowsOfMany = 20;
constexpr size_t kMostSlowLanes = 5;
constexpr size_t kMarksColumns = 30;

using Align = TextTable::Align;

struct NamedLane {
  const v1::ClientPhaseReport* client;
  uint32_t worker;
  const v1::LanePhaseReport* lane;
};

// Lanes that took part, slowest first.
std::vector<NamedLane> LanesBySpeed(const v1::PhaseReport& phase) {
  std::vector<NamedLane> lanes;
  for (const auto& client : phase.clients()) {
    for (const auto& worker : client.workers()) {
      if (worker.lost()) continue;
      for (const auto& lane : worker.lanes()) {
        if (!lane.sat_out() && !lane.failed()) lanes.push_back({&client, worker.worker(), &lane});
      }
    }
  }
  std::stable_sort(lanes.begin(), lanes.end(), [](const NamedLane& a, const NamedLane& b) {
    return a.lane->bytes_per_s() < b.lane->bytes_per_s();
  });
  return lanes;
}

std::string NameOf(const NamedLane& lane) { return LaneName(lane.client->host(), lane.worker, lane.lane->lane()); }

std::string Codes(const google::protobuf::RepeatedPtrField<v1::Mark>& marks) {
  std::vector<std::string> codes;
  for (const auto& mark : marks) {
    const std::string code = Printable(mark.code());
    if (std::find(codes.begin(), codes.end(), code) == codes.end()) codes.push_back(code);
  }
  std::string text;
  for (size_t i = 0; i < codes.size(); ++i) {
    const std::string more = absl::StrCat("+", codes.size() - i);
    // Room for this one and, unless it is the last, for "+N" behind it.
    const size_t needed = text.size() + 1 + codes[i].size() + (i + 1 < codes.size() ? 1 + more.size() : 0);
    if (i > 0 && needed > kMarksColumns) return absl::StrCat(text, " ", more);
    absl::StrAppend(&text, i == 0 ? "" : " ", codes[i]);
  }
  return text;
}

size_t LaneCountOf(const v1::ClientPhaseReport& client) {
  size_t count = 0;
  for (const auto& worker : client.workers()) count += static_cast<size_t>(worker.lanes_size());
  return count;
}

std::string CpuText(double percent) { return std::isfinite(percent) ? absl::StrCat(std::llround(percent), " %") : "-"; }

std::string P99Text(const v1::ClientPhaseReport& client) {
  if (!client.has_latency_us() || client.latency_us().count() == 0) return "-";
  const auto& unsure = client.latency_us().unsure();
  const bool is_unsure = std::find(unsure.begin(), unsure.end(), "p99") != unsure.end();
  return absl::StrCat(is_unsure ? "~" : "", Microseconds(client.latency_us().p99()));
}

void AddClientRow(const v1::ClientPhaseReport& client, TextTable& table) {
  table.AddRow({Printable(client.host()), FormatCount(client.workers_size()),
                FormatCount(static_cast<double>(LaneCountOf(client))), FormatBytesPerSecond(client.bytes_per_s()),
                std::isfinite(client.share_of_mean()) ? absl::StrCat(std::llround(100 * client.share_of_mean()), " %") : "-",
                P99Text(client), CpuText(client.cpu_percent()),
                client.clock_error_us() == 0 ? "same clock" : absl::StrCat("+-", Microseconds(client.clock_error_us())),
                Codes(client.marks())});
}

}  // namespace

size_t LaneCount(const v1::PhaseReport& phase) {
  size_t count = 0;
  for (const auto& client : phase.clients()) count += LaneCountOf(client);
  return count;
}

void PutLanes(const v1::PhaseReport& phase, ConsolePage& page) {
  const std::vector<NamedLane> lanes = LanesBySpeed(phase);
  if (lanes.size() < 2) return;
  const v1::Spread& spread = phase.lanes_bytes_per_s();
  page.Figures("lanes", {absl::StrCat("mean ", FormatBytesPerSecond(spread.mean())),
                         absl::StrCat("slowest ", FormatBytesPerSecond(spread.min())),
                         absl::StrCat("fastest ", FormatBytesPerSecond(spread.max())),
                         absl::StrCat("spread (CoV) ", Percent(100 * spread.cov())),
                         absl::StrCat("fairness (Jain) ", FormatCount(spread.jain()))});
  if (phase.stragglers().empty()) return;
  const size_t straggler_count = static_cast<size_t>(phase.stragglers_size());
  const size_t shown = std::min({straggler_count, kMostSlowLanes, lanes.size()});
  std::vector<std::string> figures;
  for (size_t i = 0; i < shown; ++i) {
    figures.push_back(absl::StrCat(NameOf(lanes[i]), " ", FormatBytesPerSecond(lanes[i].lane->bytes_per_s())));
  }
  if (straggler_count > shown) figures.push_back(absl::StrCat("and ", straggler_count - shown, " more over 20 % under the median"));
  page.Figures("slow lanes", figures, Tone::kWarning);
}

void PutClients(const v1::PhaseReport& phase, ConsolePage& page) {
  if (phase.clients_size() == 0) return;
  if (phase.clients_size() == 1 && phase.clients(0).workers_size() <= 1) {
    page.Labelled("client", absl::StrCat(Printable(phase.clients(0).host()), ", cpu ", CpuText(phase.clients(0).cpu_percent())),
                  Tone::kQuiet);
    return;
  }
  std::vector<const v1::ClientPhaseReport*> clients;
  for (const auto& client : phase.clients()) clients.push_back(&client);
  const size_t count = clients.size();
  if (count > kMostClientRows) {
    std::stable_sort(clients.begin(), clients.end(),
                     [](const auto* a, const auto* b) { return a->bytes_per_s() < b->bytes_per_s(); });
    clients.resize(kClientRowsOfMany);
  }
  TextTable table({{"client", Align::kLeft}, {"workers"}, {"lanes"}, {"rate"}, {"of mean"}, {"p99"}, {"cpu"}, {"clock"},
                   {"marks", Align::kLeft}});
  for (const auto* client : clients) AddClientRow(*client, table);
  page.Table(table);
  if (count > clients.size()) {
    page.Labelled("", absl::StrCat("the slowest ", clients.size(), " of ", count, " clients; all are in result.csv"), Tone::kQuiet);
  }
}

void PutSummary(const v1::RunReport& report, ConsolePage& page) {
  if (report.phases().empty()) return;
  TextTable table({{"phase", Align::kLeft}, {"headline"}, {"window (region)", Align::kLeft}, {"ops/s"}, {"p50"}, {"p99"},
                   {"marks", Align::kLeft}});
  for (const auto& phase : report.phases()) {
    const bool has_latency = phase.latency_us().count() > 0;
    v1::PhaseReport all_marks;
    for (const GroupedMark& mark : MarksOf(phase)) all_marks.add_marks()->set_code(mark.code);
    table.AddRow({PhaseTitle(report, phase), FormatBytesPerSecond(phase.headline().bytes_per_s()),
                  absl::StrCat(phase.headline().name(), " (", phase.headline().region(), ")"),
                  FormatCount(phase.headline().ops_per_s()), has_latency ? Microseconds(phase.latency_us().p50()) : "-",
                  has_latency ? Microseconds(phase.latency_us().p99()) : "-", Codes(all_marks.marks())});
  }
  page.Table(table);
}

void PutRepetitions(const v1::RunReport& report, ConsolePage& page) {
  if (report.repetitions().empty()) return;
  TextTable table({{"repeated", Align::kLeft}, {"times"}, {"median"}, {"interval", Align::kLeft}, {"level"}, {"min"},
                   {"max"}, {"stddev"}});
  for (const auto& repetition : report.repetitions()) {
    table.AddRow({Printable(repetition.name()), FormatCount(repetition.count()), FormatBytesPerSecond(repetition.median()),
                  absl::StrCat(FormatBytesPerSecond(repetition.low()), " to ", FormatBytesPerSecond(repetition.high())),
                  Percent(repetition.level_percent()), FormatBytesPerSecond(repetition.min()),
                  FormatBytesPerSecond(repetition.max()), FormatBytesPerSecond(repetition.stddev())});
  }
  page.Table(table);
}

}  // namespace iobench
