#include "coordinator/selftest/selftest_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/text/text_table.h"

namespace iobench {
namespace {

constexpr size_t kTableColumns = 160;

std::vector<double> Finite(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

std::string Figure(double value, int decimals) {
  return std::isfinite(value) ? absl::StrFormat("%.*f", decimals, value) : "-";
}

// A part of each phase, in milliseconds.
std::vector<double> Milliseconds(const SelftestFigures& figures, double PhaseCost::*part) {
  std::vector<double> values;
  for (const PhaseCost& cost : figures.costs) values.push_back(cost.*part * 1e3);
  return values;
}

void PrintCosts(const SelftestFigures& figures, std::ostream& out) {
  std::vector<double> fixed_ms, cpu_us;
  const double workers = std::max(1u, figures.report.run().worker_count());
  for (const PhaseCost& cost : figures.costs) {
    fixed_ms.push_back(cost.FixedSeconds() * 1e3);
    cpu_us.push_back(cost.cpu_s * 1e6 / workers);
  }
  out << absl::StreamFormat("  fixed cost of a phase   median %s ms, max %s ms (start lead included)\n",
                            Figure(MedianOfFinite(fixed_ms), 2), Figure(LargestOf(fixed_ms), 2));
  constexpr std::pair<const char*, double PhaseCost::*> kParts[] = {
      {"prepare", &PhaseCost::prepare_s}, {"clocks", &PhaseCost::clocks_s},   {"arm", &PhaseCost::arm_s},
      {"wait", &PhaseCost::wait_s},       {"collect", &PhaseCost::collect_s}, {"check", &PhaseCost::check_s},
      {"analyse", &PhaseCost::analyse_s}, {"save", &PhaseCost::save_s}};
  out << "    its parts, medians   ";
  const char* separator = "";
  for (const auto& [name, part] : kParts) {
    out << std::exchange(separator, ", ") << name << ' '
        << Figure(MedianOfFinite(Milliseconds(figures, part)), 2);
  }
  out << " ms\n";
  out << absl::StreamFormat(
      "  coordinator             %s us of CPU per worker and phase%s, %s of memory at most\n",
      Figure(MedianOfFinite(cpu_us), 0), figures.workers_in_process ? " (its own worker's included)" : "",
      FormatBytes(static_cast<double>(figures.peak_memory_bytes)));
  out << absl::StreamFormat("  silent workers          %d\n", figures.silence_count);
}

void PrintStarts(const SelftestFigures& figures, std::ostream& out) {
  uint32_t attempts = 0;
  std::vector<double> skew_us;
  for (const v1::PhaseReport& phase : figures.report.phases()) {
    skew_us.push_back(phase.start().skew_us());
    attempts += phase.start().attempts();
  }
  const std::string starts = absl::StrCat(attempts, " starts for ", figures.report.phases_size(), " phases");
  if (figures.simulated) {
    out << "  start skew              not measured: simulated lanes share a thread; " << starts << '\n';
    return;
  }
  out << absl::StreamFormat("  start skew              median %s us, max %s us; %s\n",
                            Figure(MedianOfFinite(skew_us), 0), Figure(LargestOf(skew_us), 0), starts);
}

void PrintClockBounds(const SelftestFigures& figures, std::ostream& out) {
  std::vector<double> errors_us;
  for (const v1::ClientReport& client : figures.report.clients()) {
    if (!client.same_clock()) errors_us.push_back(client.clock_error_ns() / 1e3);
  }
  if (errors_us.empty()) {
    out << "  clocks                  all clients share the coordinator's\n";
    return;
  }
  out << absl::StreamFormat(
      "  clocks                  %d other than the coordinator's, known to median %s us, max %s us\n",
      errors_us.size(), Figure(MedianOfFinite(errors_us), 1), Figure(LargestOf(errors_us), 1));
}

void PrintOpCosts(const SelftestFigures& figures, std::ostream& out) {
  std::vector<double> loop_ns, read_ns;
  for (const v1::ClientReport& client : figures.report.clients()) {
    loop_ns.push_back(client.loop_ns());
    read_ns.push_back(client.clock_read_ns());
  }
  out << absl::StreamFormat(
      "  tool per op             median %s ns, max %s ns, of which the clock takes %s ns\n",
      Figure(MedianOfFinite(loop_ns), 1), Figure(LargestOf(loop_ns), 1), Figure(MedianOfFinite(read_ns), 1));
}

std::string MiBPerS(double bytes_per_s) {
  return Figure(bytes_per_s / static_cast<double>(1_MiB), 1);
}

void PrintClients(const SelftestFigures& figures, std::ostream& out) {
  std::map<std::string, const NetFigures*> network_of;
  for (const NetFigures& client : figures.network) network_of.emplace(client.host, &client);
  std::vector<TextTable::Column> columns = {{.title = "per client", .align = TextTable::Align::kLeft},
                                            {.title = "workers"},
                                            {.title = "clock", .align = TextTable::Align::kLeft},
                                            {.title = "clock read"},
                                            {.title = "empty op"},
                                            {.title = "clock offset us"},
                                            {.title = "error us"}};
  if (!network_of.empty()) {
    for (const char* title : {"RTT us", "RTT p99 us", "to MiB/s", "from MiB/s"})
      columns.push_back({.title = title});
  }
  TextTable table(columns);
  for (const v1::ClientReport& client : figures.report.clients()) {
    std::vector<std::string> row = {
        Printable(client.host()),
        absl::StrCat(client.worker_count()),
        client.clock(),
        absl::StrCat(Figure(client.clock_read_ns(), 1), " ns"),
        absl::StrCat(Figure(client.loop_ns(), 1), " ns"),
        client.same_clock() ? "the same" : Figure(client.clock_offset_ns() / 1e3, 0),
        client.same_clock() ? "0" : Figure(client.clock_error_ns() / 1e3, 1)};
    if (!network_of.empty()) {
      const auto found = network_of.find(client.host());
      const NetFigures* const net = found == network_of.end() ? nullptr : found->second;
      row.push_back(Figure(net != nullptr ? net->round_trip_median_us : NAN, 1));
      row.push_back(Figure(net != nullptr ? net->round_trip_p99_us : NAN, 1));
      row.push_back(MiBPerS(net != nullptr ? net->to_bytes_per_s : NAN));
      row.push_back(MiBPerS(net != nullptr ? net->from_bytes_per_s : NAN));
    }
    table.AddRow(std::move(row));
  }
  for (const std::string& line : table.Lines(kTableColumns)) out << "  " << line << '\n';
}

void PrintNetworkTogether(const SelftestFigures& figures, std::ostream& out) {
  if (figures.network.size() < 2) return;
  double to = 0, from = 0;
  for (const NetFigures& client : figures.network) {
    to += client.all_to_bytes_per_s;
    from += client.all_from_bytes_per_s;
  }
  out << absl::StreamFormat("  network, all at once    to the coordinator %s MiB/s, from it %s MiB/s\n",
                            MiBPerS(to), MiBPerS(from));
}

}  // namespace

double MedianOfFinite(std::vector<double> values) {
  values = Finite(std::move(values));
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double LargestOf(const std::vector<double>& values) {
  const std::vector<double> finite = Finite(values);
  return finite.empty() ? NAN : *std::max_element(finite.begin(), finite.end());
}

void PrintSelftest(const SelftestFigures& figures, std::ostream& out) {
  const v1::RunReport& report = figures.report;
  out << absl::StreamFormat(
      "cluster-iobench %s selftest over %s: %d %sworkers on %d clients, %d lanes, %d empty phases in %s\n",
      figures.version, report.run().transport(), report.run().worker_count(),
      figures.simulated ? "simulated " : "", report.clients_size(), report.run().lane_count(),
      report.phases_size(), FormatSeconds(figures.run_s));
  out << absl::StreamFormat("  join                    %s ms\n", Figure(figures.join_s * 1e3, 0));
  PrintCosts(figures, out);
  PrintStarts(figures, out);
  PrintClockBounds(figures, out);
  if (figures.simulated) return;
  PrintOpCosts(figures, out);
  PrintNetworkTogether(figures, out);
  if (static_cast<size_t>(report.clients_size()) <= kMaxListedClients) PrintClients(figures, out);
}

}  // namespace iobench
