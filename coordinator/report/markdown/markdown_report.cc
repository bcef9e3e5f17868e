#include "coordinator/report/markdown/markdown_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/text/units.h"
#include "coordinator/report/markdown/markdown_text.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/interference_table.h"
#include "coordinator/report/text/layers_table.h"
#include "coordinator/report/text/soak_table.h"
#include "coordinator/report/text/path_words.h"

namespace iobench {
namespace {

using Align = MarkdownTable::Align;

constexpr int kMaxErrors = 20;
constexpr size_t kMaxSubjects = 10;

std::string ClockText(const v1::ClientReport& client) {
  if (client.same_clock()) return "the coordinator's own";
  if (!std::isfinite(client.clock_error_ns())) return "not measured";
  return absl::StrCat(FormatSeconds(client.clock_offset_ns() * 1e-9), " ± ",
                      FormatSeconds(client.clock_error_ns() * 1e-9));
}

void WriteClients(const v1::RunReport& report, std::ostream& out) {
  MarkdownTable table({{"client", Align::kLeft},
                       {"workers"},
                       {"processors"},
                       {"memory"},
                       {"kernel", Align::kLeft},
                       {"clock", Align::kLeft},
                       {"offset from the coordinator"}});
  for (const v1::ClientReport& client : report.clients()) {
    table.AddRow({MarkdownText(client.host()), FormatCount(client.worker_count()),
                  FormatCount(client.processors()), FormatBytes(static_cast<double>(client.memory_bytes())),
                  MarkdownText(client.kernel()), MarkdownText(client.clock()), ClockText(client)});
  }
  table.Write(out);
}

// Without the option that names the client itself: all clients of a mount otherwise have the same ones.
std::string SharedOptions(const std::string& options) {
  std::vector<std::string> parts = absl::StrSplit(options, ',');
  std::erase_if(parts, [](const std::string& part) { return part.starts_with("clientaddr="); });
  return absl::StrJoin(parts, ",");
}

// Clients with the same mount share a row.
void WriteMounts(const v1::RunReport& report, std::ostream& out) {
  using Mount = std::tuple<std::string, std::string, std::string, std::string>;
  std::vector<std::pair<Mount, int>> mounts;
  std::map<Mount, size_t> rows;
  for (const v1::ClientReport& client : report.clients()) {
    for (const v1::TargetReport& target : client.targets()) {
      const Mount mount(target.path(), target.filesystem(), target.mount_source(),
                        SharedOptions(target.mount_options()));
      const auto [row, is_new] = rows.try_emplace(mount, mounts.size());
      if (is_new) mounts.emplace_back(mount, 0);
      ++mounts[row->second].second;
    }
  }
  MarkdownTable table({{"path", Align::kLeft},
                       {"file system", Align::kLeft},
                       {"mounted from", Align::kLeft},
                       {"mount options", Align::kLeft},
                       {"clients"}});
  for (const auto& [mount, client_count] : mounts) {
    const auto& [path, filesystem, source, options] = mount;
    table.AddRow({MarkdownText(path), MarkdownText(filesystem), MarkdownText(source), MarkdownText(options),
                  FormatCount(client_count)});
  }
  table.Write(out);
}

// The figure that a phase answers with: ops/s for metadata operations and seeks, otherwise bytes/s.
std::string HeadlineText(const v1::PhaseReport& phase) {
  return RateText(phase.headline_in_ops(), phase.headline().bytes_per_s(), phase.headline().ops_per_s());
}

std::string SizeText(uint64_t bytes) {
  return bytes == 0 ? "" : FormatBytes(static_cast<double>(bytes));
}

std::string CodesOf(const v1::PhaseReport& phase) {
  std::vector<std::string> codes;
  for (const GroupedMark& mark : MarksOf(phase)) {
    std::string code = MarkdownText(mark.code);
    if (std::find(codes.begin(), codes.end(), code) == codes.end()) codes.push_back(std::move(code));
  }
  return absl::StrJoin(codes, " ");
}

bool HasUnsurePercentile(const v1::RunReport& report) {
  return std::any_of(report.phases().begin(), report.phases().end(),
                     [](const v1::PhaseReport& phase) { return !phase.latency_us().unsure().empty(); });
}

std::string SubjectsText(const std::vector<std::string>& subjects) {
  std::vector<std::string> names;
  for (size_t i = 0; i < subjects.size() && i < kMaxSubjects; ++i) names.push_back(MarkdownText(subjects[i]));
  std::string text = absl::StrJoin(names, ", ");
  if (subjects.size() > kMaxSubjects)
    absl::StrAppend(&text, " and ", subjects.size() - kMaxSubjects, " more");
  return text;
}

// Phases that loop over new files overwrite them.
void WriteFirstPasses(const v1::RunReport& report, std::ostream& out) {
  MarkdownTable table({{"phase", Align::kLeft}, {"first pass"}, {"window"}, {"kind", Align::kLeft}, {"of the headline, overwriting"}});
  bool any = false;
  for (const v1::PhaseReport& phase : report.phases()) {
    if (!phase.has_first_pass()) continue;
    const v1::FirstPassReport& pass = phase.first_pass();
    any = true;
    table.AddRow({MarkdownText(PhaseTitle(report, phase)), RateText(phase.headline_in_ops(), pass.bytes_per_s(), pass.ops_per_s()),
                  FormatSeconds(pass.seconds()), MarkdownText(pass.kind()), Percent(pass.overwritten_percent())});
  }
  if (!any) return;
  out << "Phases with `--time` write their new files once, and then overwrite them. The first pass alone:\n";
  table.Write(out);
}

}  // namespace

void WriteEnvironment(const v1::RunReport& report, std::ostream& out) {
  const v1::RunInfo& run = report.run();
  out << "## Environment\n\n"
      << Counted(report.clients_size(), "client") << " with " << Counted(run.worker_count(), "worker")
      << " and " << Counted(run.lane_count(), "lane") << " (I/O threads), joined by "
      << MarkdownText(run.transport());
  if (!run.coordinator_host().empty())
    out << "; the coordinator ran on " << MarkdownText(run.coordinator_host());
  out << ".\n";
  WriteClients(report, out);
  WriteMounts(report, out);
  for (const std::string& note : report.notes()) out << "- " << MarkdownText(note) << "\n";
  if (!report.notes().empty()) out << "\n";
}

void WriteFigures(const v1::RunReport& report, std::ostream& out) {
  out << "## Figures\n\n";
  if (report.phases().empty()) {
    out << "No phase was measured.\n\n";
    return;
  }
  out << "Throughput is that of all clients together, in its window: *stonewalled* ends when the first lane has "
         "finished, *full* when the last one has. The region says what the clock covers. KiB, MiB and GiB are powers "
         "of 1024.\n";
  MarkdownTable table({{"phase", Align::kLeft},
                       {"throughput"},
                       {"window", Align::kLeft},
                       {"region", Align::kLeft},
                       {"ops/s"},
                       {"record"},
                       {"per lane"},
                       {"lanes"},
                       {"moved"},
                       {"duration"},
                       {"p50"},
                       {"p99"},
                       {"max"},
                       {"Jain"},
                       {"limited by", Align::kLeft},
                       {"marks", Align::kLeft}});
  for (const v1::PhaseReport& phase : report.phases()) {
    const v1::Latency& latency = phase.latency_us();
    const v1::Spread& lanes = phase.headline_in_ops() ? phase.lanes_ops_per_s() : phase.lanes_bytes_per_s();
    table.AddRow(
        {MarkdownText(PhaseTitle(report, phase)), absl::StrCat("**", HeadlineText(phase), "**"),
         MarkdownText(phase.headline().name()), MarkdownText(phase.headline().region()),
         FormatCount(phase.headline().ops_per_s()), phase.metadata() ? "" : SizeText(phase.record_bytes()),
         phase.metadata() ? "" : SizeText(phase.bytes_per_lane()), FormatCount(phase.lane_count()),
         SizeText(phase.bytes()), FormatSeconds(phase.duration_s()),
         PercentileText(latency, "p50", latency.p50()), PercentileText(latency, "p99", latency.p99()),
         latency.count() == 0 ? "-" : Microseconds(latency.max()), FormatCount(lanes.jain()),
         MarkdownText(phase.limited_by()), CodesOf(phase)});
  }
  table.Write(out);
  WriteFirstPasses(report, out);
  if (HasUnsurePercentile(report)) out << "`~`: fewer than 100 ops lie beyond that percentile.\n\n";
}

void WriteTargets(const v1::RunReport& report, std::ostream& out) {
  if (!report.has_each_path()) return;
  const v1::EachPathReport& targets = report.each_path();
  const bool has_verdicts = HasVerdicts(targets);
  out << "## Paths\n\nThe same operations on each path, one path after the other, and their share of the figure on the "
         "first path.\n";
  std::vector<MarkdownTable::Column> columns = {{"phase", Align::kLeft}};
  for (int i = 0; i < targets.paths_size(); ++i) {
    columns.push_back({MarkdownText(targets.paths(i))});
    if (i > 0) columns.push_back({"of first"});
    if (i > 0 && has_verdicts) columns.push_back({"shown (95 %)", Align::kLeft});
  }
  MarkdownTable table(std::move(columns));
  for (const v1::EachPathRow& row : targets.rows()) {
    std::vector<std::string> cells = {MarkdownText(row.phase())};
    for (int i = 0; i < row.cells_size(); ++i) {
      const v1::EachPathCell& cell = row.cells(i);
      cells.push_back(RateText(row.in_ops(), cell.rate(), cell.rate()));
      if (i > 0) cells.push_back(RatioText(cell));
      if (i > 0 && has_verdicts) cells.push_back(VerdictText(cell));
    }
    table.AddRow(std::move(cells));
  }
  table.Write(out);
  if (!targets.doubt().empty()) out << "**Beware**: " << MarkdownText(targets.doubt()) << ".\n\n";
}

void WritePathsOfPhases(const v1::RunReport& report, std::ostream& out) {
  const bool any = std::any_of(report.phases().begin(), report.phases().end(),
                               [](const v1::PhaseReport& phase) { return !phase.paths().empty(); });
  if (!any) return;
  out << "## Paths of each phase\n\nWhat the lanes on each path did at the same time. The rates of a phase add up to its "
         "headline.\n";
  MarkdownTable table({{"phase", Align::kLeft},
                       {"path", Align::kLeft},
                       {"workers"},
                       {"lanes"},
                       {"ops/s"},
                       {"bytes/s"},
                       {"p50"},
                       {"p99"}});
  for (const v1::PhaseReport& phase : report.phases()) {
    for (const v1::PartReport& path : phase.paths()) {
      const v1::Latency& latency = path.latency_us();
      table.AddRow({MarkdownText(PhaseTitle(report, phase)), MarkdownText(path.path()),
                    absl::StrCat(path.worker_count()), absl::StrCat(path.lane_count()),
                    FormatCount(path.ops_per_s()), path.bytes() > 0 ? FormatBytesPerSecond(path.bytes_per_s()) : "",
                    PercentileText(latency, "p50", latency.p50()), PercentileText(latency, "p99", latency.p99())});
    }
  }
  table.Write(out);
}

void WritePerClient(const v1::RunReport& report, std::ostream& out) {
  if (report.per_client().empty()) return;
  out << "## Each client alone\n\nEach client did each phase alone before all did it together. *Of others*: its rate alone as a "
         "share of the median of the others' rates alone.\n";
  const auto share = [](double value) { return Percent(100 * value); };
  for (const v1::PerClientReport& phase : report.per_client()) {
    const auto rate = [&phase](double value) { return RateText(phase.in_ops(), value, value); };
    MarkdownTable table(
        {{MarkdownText(phase.phase()), Align::kLeft}, {"alone"}, {"of others"}, {"together"}});
    for (const v1::PerClientRow& row : phase.clients()) {
      const std::string of_others = share(row.of_others());
      table.AddRow({MarkdownText(row.client()), rate(row.alone()),
                    row.outlier() ? absl::StrCat("**", of_others, "**") : of_others, rate(row.together())});
    }
    table.AddRow({"all", rate(phase.sum_alone()), "", rate(phase.together())});
    table.Write(out);
    out << "Together they reach " << share(phase.scaling())
        << " of the sum of each alone; the slowest client " << share(phase.fairness()) << " of the mean.\n\n";
  }
}

void WriteInterference(const v1::RunReport& report, std::ostream& out) {
  if (report.interference().empty()) return;
  out << "## Beside a background load\n\nRates of some clients, the victims, undisturbed and while other clients ran a load.\n";
  for (const v1::InterferenceReport& phase : report.interference()) {
    std::vector<MarkdownTable::Column> columns = {{MarkdownText(phase.phase()), Align::kLeft}};
    for (const std::string& title : InterferenceColumns()) columns.push_back({title});
    MarkdownTable table(columns);
    for (std::vector<std::string>& cells : InterferenceCells(phase)) {
      cells.front() = MarkdownText(cells.front());
      table.AddRow(std::move(cells));
    }
    table.Write(out);
    out << "Victims: " << VictimsText(phase) << ".\n\n";
  }
}

void WriteLayers(const v1::RunReport& report, std::ostream& out) {
  if (report.layers().empty()) return;
  out << "## Layers\n\nWhat the servers reached by themselves in their own directories, what the network carries, and what "
         "the clients reached through both.\n";
  for (const v1::LayersReport& phase : report.layers()) {
    std::vector<MarkdownTable::Column> columns = {{MarkdownText(phase.phase()), Align::kLeft}};
    for (const std::string& title : LayersColumns()) columns.push_back({title});
    MarkdownTable table(columns);
    for (std::vector<std::string>& cells : LayersCells(phase)) table.AddRow(std::move(cells));
    table.Write(out);
    for (const auto& [layer, text] : LayersRemarks(phase)) {
      out << "- " << layer << ": " << MarkdownText(text) << "\n";
    }
    out << "\n";
  }
}

void WriteSoak(const v1::RunReport& report, std::ostream& out) {
  if (!report.has_soak()) return;
  const v1::SoakReport& soak = report.soak();
  out << "## Soak\n\nAll phases were repeated in rounds.\n\n";
  for (const auto& [label, text] : SoakTexts(soak))
    out << "* " << label << ": " << MarkdownText(text) << "\n";
  out << "\n";
  const auto write = [&out](const std::string& first, const std::vector<std::string>& titles,
                            const std::vector<std::vector<std::string>>& rows) {
    std::vector<MarkdownTable::Column> columns = {{first, Align::kLeft}};
    for (const std::string& title : titles) columns.push_back({title});
    MarkdownTable table(columns);
    for (std::vector<std::string> cells : rows) {
      for (std::string& cell : cells) cell = MarkdownText(cell);
      table.AddRow(std::move(cells));
    }
    table.Write(out);
  };
  write("phase", SoakTrendColumns(), SoakTrendCells(soak));
  write("client", SoakClientColumns(soak), SoakClientCells(soak));
}

void WriteParts(const v1::RunReport& report, std::ostream& out) {
  const bool any = std::any_of(report.phases().begin(), report.phases().end(),
                               [](const v1::PhaseReport& phase) { return !phase.parts().empty(); });
  if (!any) return;
  out << "## Parts\n\nOperations of phases that run several at once, each with its own workers. Response time runs from when an op is due to its end.\n";
  MarkdownTable table({{"phase", Align::kLeft},
                       {"part", Align::kLeft},
                       {"workers"},
                       {"asked ops/s"},
                       {"ops/s"},
                       {"bytes/s"},
                       {"response p50"},
                       {"p99"}});
  for (const v1::PhaseReport& phase : report.phases()) {
    for (const v1::PartReport& part : phase.parts()) {
      const bool open_loop = part.has_open_loop();
      const v1::Latency& latency = part.latency_us();
      table.AddRow(
          {MarkdownText(PhaseTitle(report, phase)), MarkdownText(part.name()),
           absl::StrCat(part.worker_count()),
           open_loop ? FormatCount(part.open_loop().asked_ops_per_s()) : "", FormatCount(part.ops_per_s()),
           part.bytes() > 0 ? FormatBytesPerSecond(part.bytes_per_s()) : "",
           PercentileText(latency, "p50", latency.p50()), PercentileText(latency, "p99", latency.p99())});
    }
  }
  table.Write(out);
}

void WriteOpenLoops(const v1::RunReport& report, std::ostream& out) {
  const bool any = std::any_of(report.phases().begin(), report.phases().end(),
                               [](const v1::PhaseReport& phase) { return phase.has_open_loop(); });
  if (!any) return;
  out << "## Rates\n\nPhases whose ops were due at a rate. Their latencies, in all tables, are response times: from when an "
         "op was due to its end. The lag is the part before it began, the service the part after that.\n";
  MarkdownTable table({{"phase", Align::kLeft},
                       {"asked ops/s"},
                       {"done"},
                       {"response p50"},
                       {"p99"},
                       {"service p50"},
                       {"p99"},
                       {"lag p50"},
                       {"p99"}});
  for (const v1::PhaseReport& phase : report.phases()) {
    if (!phase.has_open_loop()) continue;
    const v1::OpenLoopReport& open_loop = phase.open_loop();
    std::vector<std::string> row = {MarkdownText(PhaseTitle(report, phase)),
                                    FormatCount(open_loop.asked_ops_per_s()),
                                    Percent(open_loop.done_percent())};
    for (const v1::Latency* const times :
         {&open_loop.response_us(), &open_loop.service_us(), &open_loop.lag_us()}) {
      row.push_back(PercentileText(*times, "p50", times->p50()));
      row.push_back(PercentileText(*times, "p99", times->p99()));
    }
    table.AddRow(std::move(row));
  }
  table.Write(out);
}

void WriteServers(const v1::RunReport& report, std::ostream& out) {
  if (report.run().servers().empty()) return;
  out << "## Servers\n\nWhat samplers read on the servers, from the start of each phase to the end of its last timed region. "
         "The disk is the busiest one, the network that with most bytes.\n";
  MarkdownTable table({{"phase", Align::kLeft},
                       {"server", Align::kLeft},
                       {"CPU"},
                       {"disk", Align::kLeft},
                       {"busy"},
                       {"read"},
                       {"written"},
                       {"network", Align::kLeft},
                       {"in"},
                       {"out"},
                       {"nfsd threads busy"},
                       {"RPCs/s"}});
  for (const v1::PhaseReport& phase : report.phases()) {
    for (const v1::ServerReport& server : phase.servers()) {
      std::vector<std::string> cells = {
          MarkdownText(PhaseTitle(report, phase)), MarkdownText(server.host()),
          server.has_cpu_busy() ? Percent(100 * server.cpu_busy()) : MarkdownText(server.problem())};
      const bool has_disk = !server.disks().empty(), has_nic = !server.nics().empty();
      cells.push_back(has_disk ? MarkdownText(server.disks(0).name()) : "");
      cells.push_back(has_disk ? Percent(100 * server.disks(0).busy()) : "");
      cells.push_back(has_disk ? FormatBytesPerSecond(server.disks(0).read_bytes_per_s()) : "");
      cells.push_back(has_disk ? FormatBytesPerSecond(server.disks(0).write_bytes_per_s()) : "");
      cells.push_back(has_nic ? MarkdownText(server.nics(0).name()) : "");
      cells.push_back(has_nic ? FormatBytesPerSecond(server.nics(0).receive_bytes_per_s()) : "");
      cells.push_back(has_nic ? FormatBytesPerSecond(server.nics(0).send_bytes_per_s()) : "");
      const v1::ServerNfsd& nfsd = server.nfsd();
      cells.push_back(nfsd.has_busy_threads()
                          ? absl::StrCat(FormatCount(nfsd.busy_threads()), " of ", nfsd.threads())
                          : "");
      cells.push_back(server.has_nfsd() ? FormatCount(nfsd.rpcs_per_s()) : "");
      table.AddRow(std::move(cells));
    }
  }
  table.Write(out);
}

void WriteReads(const v1::RunReport& report, std::ostream& out) {
  MarkdownTable table({{"phase", Align::kLeft}, {"read"}, {"from", Align::kLeft}});
  bool any = false;
  for (const v1::PhaseReport& phase : report.phases()) {
    if (!phase.has_read_sources()) continue;
    any = true;
    table.AddRow({MarkdownText(PhaseTitle(report, phase)),
                  FormatBytes(static_cast<double>(phase.read_sources().asked_bytes())),
                  ReadPartsText(phase.read_sources())});
  }
  if (!any) return;
  out << "## Where reads came from\n\nAs far as the counters of clients and servers show.\n";
  table.Write(out);
}

void WriteRepetitions(const v1::RunReport& report, std::ostream& out) {
  if (report.repetitions().empty()) return;
  out << "## Repetitions\n\nThe interval of the median needs no assumption about the figures' distribution.\n";
  MarkdownTable table({{"phase", Align::kLeft},
                       {"times"},
                       {"median"},
                       {"interval"},
                       {"level"},
                       {"min"},
                       {"max"},
                       {"mean"},
                       {"standard deviation"},
                       {"left out"}});
  for (const v1::RepetitionReport& each : report.repetitions()) {
    const auto rate = [&each](double value) { return RateText(each.metadata(), value, value); };
    table.AddRow({MarkdownText(each.name()), FormatCount(each.count()),
                  absl::StrCat("**", rate(each.median()), "**"),
                  absl::StrCat(rate(each.low()), " to ", rate(each.high())), Percent(each.level_percent()),
                  rate(each.min()), rate(each.max()), rate(each.mean()), rate(each.stddev()),
                  each.partial_count() == 0 ? "" : absl::StrCat(each.partial_count(), " partial")});
  }
  table.Write(out);
}

void WriteMarks(const v1::RunReport& report, std::ostream& out) {
  MarkdownTable table({{"phase", Align::kLeft},
                       {"mark", Align::kLeft},
                       {"on", Align::kLeft},
                       {"what was seen, and what to do", Align::kLeft}});
  bool any = false;
  for (const v1::PhaseReport& phase : report.phases()) {
    for (const GroupedMark& mark : MarksOf(phase)) {
      table.AddRow(
          {MarkdownText(PhaseTitle(report, phase)), absl::StrCat("**", MarkdownText(mark.code), "**"),
           mark.subjects.empty() ? "the phase" : SubjectsText(mark.subjects), MarkdownText(mark.text)});
      any = true;
    }
  }
  if (!any) return;
  out << "## Marks\n\nWhy a figure should not be trusted as it stands, or what explains it; "
         "`docs/marks.md#CODE` has the rule.\n";
  table.Write(out);
}

void WriteErrors(const v1::RunReport& report, std::ostream& out) {
  std::vector<std::string> lines;
  for (const v1::ErrorReport& problem : report.run().problems())
    lines.push_back(MarkdownText(ErrorText(problem)));
  for (const v1::PhaseReport& phase : report.phases()) {
    const std::string name = absl::StrCat("**", MarkdownText(PhaseTitle(report, phase)), "**");
    if (!phase.not_whole().empty())
      lines.push_back(absl::StrCat(name, ": not whole: ", MarkdownText(phase.not_whole())));
    for (int i = 0; i < phase.errors_size() && i < kMaxErrors; ++i) {
      lines.push_back(absl::StrCat(name, ": ", MarkdownText(ErrorText(phase.errors(i)))));
    }
    if (phase.errors_size() > kMaxErrors) {
      lines.push_back(absl::StrCat(name, ": and ", phase.errors_size() - kMaxErrors, " more in result.json"));
    }
  }
  if (lines.empty()) return;
  out << "## Errors\n\nThe totals exclude what failed.\n\n";
  for (const std::string& line : lines) out << "- " << line << "\n";
  out << "\n";
}

}  // namespace iobench
