#include "coordinator/report/tables/table_list.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/report/tables/fill_tables.h"

namespace iobench {
namespace {

constexpr TableSource kSources[] = {
    {.id = "criteria",
     .shows = "criteria",
     .chapter = "Criteria",
     .intro = "As stated before the run, with what was measured. The worst phase that a criterion applies to decides, "
              "over all repetitions.",
     .of_run = CriteriaTable,
     .console_heading = "criteria",
     .not_in = "page: the verdict"},
    {.id = "clients",
     .shows = "clients",
     .chapter = "Environment",
     .intro = "",
     .of_run = ClientsTable,
     .not_in = "Console: its header; workbook: facts"},
    {.id = "mounts",
     .shows = "clients",
     .chapter = "Environment",
     .intro = "",
     .of_run = MountsTable,
     .not_in = "Console: its header"},
    {.id = "differences",
     .shows = "differences",
     .chapter = "Environment",
     .intro = "Where clients differ from the majority:",
     .of_run = DifferencesTable,
     .not_in = "Console: its header"},
    {.id = "phases",
     .shows = "phases",
     .chapter = "Figures",
     .intro = "Throughput is that of all clients together, in its window: *stonewalled* ends when the first lane has "
              "finished, *full* when the last one has. The region says what the clock covers. KiB, MiB and GiB are powers "
              "of 1024.",
     .of_phase = FiguresTable,
     .not_in = "Console: the summary, or the tables of a sweep; CSV: phases.csv; page: Results; workbook: summary"},
    {.id = "first-pass",
     .shows = "phases.first_pass",
     .chapter = "Figures",
     .intro = "Phases with `--time` write their new files once, and then overwrite them. The first pass alone:",
     .of_phase = FirstPassTable,
     .not_in = "Console: a line of the phase; page: figures of the phase"},
    {.id = "rate-changes",
     .shows = "phases.changes",
     .chapter = "Changes of the rate",
     .intro = "When the throughput of a phase changed its level and stayed changed: its headline is a mean of these levels.",
     .of_phase = RateChangesTable,
     .not_in = "Console: lines of the phase"},
    {.id = "each-path",
     .shows = "each_path",
     .chapter = "Paths",
     .intro = "The same operations on each path, one path after the other, and their share of the figure on the first path.",
     .of_run = EachPathTable,
     .not_in = "Console: by path"},
    {.id = "worker-scaling",
     .shows = "worker_scaling",
     .chapter = "Scaling over workers",
     .intro = "Medians of the whole repetitions. Scaling is the rate per worker, relative to that of the fewest workers.",
     .of_run = WorkerScalingTable,
     .not_in = "Console: by workers"},
    {.id = "surfaces",
     .shows = "surfaces",
     .chapter = "Sizes and records",
     .intro = "Medians of the whole repetitions, with their interval.",
     .of_run = SurfacesTable,
     .not_in = "Console: tables of the sweep; page: File size and record size; workbook: surface OPERATION"},
    {.id = "per-client",
     .shows = "per_client",
     .chapter = "Each client alone",
     .intro = "Each client did each phase alone before all did it together. *Of others*: its rate alone as a share of the "
              "median of the others' rates alone.",
     .of_run = PerClientTable,
     .console_heading = "each client alone, then all together"},
    {.id = "interference",
     .shows = "interference",
     .chapter = "Beside a background load",
     .intro = "Rates of some clients, the victims, undisturbed and while other clients ran a load.",
     .of_run = InterferenceTable,
     .console_heading = "beside a background load"},
    {.id = "layers",
     .shows = "layers",
     .chapter = "Layers",
     .intro = "What the servers reached by themselves in their own directories, what the network carries, and what the "
              "clients reached through both.",
     .of_run = LayersTable,
     .console_heading = "layers: what the servers, the network and the clients reach"},
    {.id = "soak",
     .shows = "soak",
     .chapter = "Soak",
     .intro = "All phases were repeated in rounds.",
     .of_run = SoakTable,
     .console_heading = "soak",
     .not_in = "CSV: soak-totals; workbook: soak-totals"},
    {.id = "soak-trends",
     .shows = "soak.trends",
     .chapter = "Soak",
     .intro = "",
     .of_run = SoakTrendsTable,
     .console_heading = "soak"},
    {.id = "soak-clients",
     .shows = "soak.clients",
     .chapter = "Soak",
     .intro = "",
     .of_run = SoakClientsTable,
     .console_heading = "soak"},
    {.id = "soak-rounds",
     .shows = "soak.rounds",
     .chapter = "Soak",
     .intro = "Each round:",
     .of_run = SoakRoundsTable,
     .not_in = "Console: a line for each; Markdown: too many"},
    {.id = "soak-totals",
     .shows = "soak.loss",
     .chapter = "Soak",
     .intro = "",
     .of_run = SoakTotalsTable,
     .not_in = "Console: soak; Markdown: soak; page: soak"},
    {.id = "soak-failed-ops",
     .shows = "soak.failed_ops",
     .chapter = "Soak",
     .intro = "",
     .of_run = SoakFailedOpsTable,
     .not_in = "Console: soak; Markdown: soak; page: soak"},
    {.id = "soak-fullness",
     .shows = "soak.fullness",
     .chapter = "Soak",
     .intro = "",
     .of_run = SoakFullnessTable,
     .not_in = "Console: soak; Markdown: soak; page: soak"},
    {.id = "steady",
     .shows = "steady",
     .chapter = "Steady state",
     .intro = "All phases were repeated in rounds until the figures of the last ones, the window, were steady. A phase's figure "
              "is the mean of its window.",
     .of_run = SteadyTable,
     .console_heading = "steady state"},
    {.id = "steady-rounds",
     .shows = "steady",
     .chapter = "Steady state",
     .intro = "Each round:",
     .of_run = SteadyRoundsTable,
     .not_in = "Console: a line for each"},
    {.id = "parts",
     .shows = "phases.parts",
     .chapter = "Parts",
     .intro = "Operations of phases that run several at once, each with its own workers. Response time runs from when an "
              "op is due to its end.",
     .of_phase = PartsTable},
    {.id = "open-loop",
     .shows = "phases.open_loop",
     .chapter = "Rates",
     .intro = "Phases whose ops were due at a rate. Their latencies, in all tables, are response times: from when an op "
              "was due to its end. The lag is the part before it began, the service the part after that.",
     .of_phase = OpenLoopTable,
     .not_in = "Console: lines of the phase; page: figures of the phase"},
    {.id = "paths",
     .shows = "phases.paths",
     .chapter = "Paths of each phase",
     .intro = "What the lanes on each path did at the same time. The rates of a phase add up to its headline.",
     .of_phase = PathsTable},
    {.id = "storage-targets",
     .shows = "phases.storage_targets",
     .chapter = "Storage targets",
     .intro = "The servers, object storage targets or bricks that hold the lanes' files, slowest first: mean rates per lane, and "
              "latencies, of the lanes with files on this one alone, or else of all with files on it.",
     .of_phase = StorageTargetsTable},
    {.id = "mpi-io",
     .shows = "phases.mpi_io",
     .chapter = "MPI-IO",
     .intro = "How ranks used their files: which of them accessed the file for all (aggregators, by worker number), and the hints.",
     .of_phase = MpiIoTable,
     .not_in = "Console: a line of the phase"},
    {.id = "servers",
     .shows = "phases.servers",
     .chapter = "Servers",
     .intro = "What samplers read on the servers, from the start of each phase to the end of its last timed region. The "
              "disk is the busiest one, the network that with most bytes.",
     .of_phase = ServersTable,
     .not_in = "Console: lines of the phase"},
    {.id = "reads",
     .shows = "phases.read_sources",
     .chapter = "Where reads came from",
     .intro = "As far as the counters of clients and servers show.",
     .of_phase = ReadsTable,
     .not_in = "Console: a line of the phase; page: figures of the phase"},
    {.id = "flush-calls",
     .shows = "phases.by_kind",
     .chapter = "Flush calls",
     .intro = "The calls in each phase's timed region that make data durable, and its closes. They count in no figure "
              "of ops or bytes. *COMMIT by the kernel*: what its NFS client sent for them, by mountstats, which has no percentiles.",
     .of_phase = FlushCallsTable,
     .not_in = "Console: lines of the phase"},
    {.id = "nfs",
     .shows = "phases.nfs_rpc",
     .chapter = "NFS requests",
     .intro = "Of all clients, by kind; times are means per request.",
     .of_phase = NfsTable,
     .not_in = "Console: lines of the phase"},
    {.id = "transport",
     .shows = "phases.clients.transport",
     .chapter = "Network of each client",
     .intro = "TCP segments to the targets' servers, and those that had to be sent again; where the client's kernel does not "
              "list its connections, of the whole client. Errors and drops are those of the interfaces to the servers.",
     .of_phase = TransportTable,
     .not_in = "Console: the mark"},
    {.id = "repetitions",
     .shows = "repetitions",
     .chapter = "Repetitions",
     .intro = "The interval of the median needs no assumption about the figures' distribution.",
     .of_run = RepetitionsTable,
     .not_in = "Console: its summary"},
    {.id = "score",
     .shows = "score",
     .chapter = "Score",
     .intro = "The square root of bandwidth times metadata: geometric means over their phases.",
     .of_run = ScoreTable,
     .not_in = "Console: a note"},
    {.id = "marks",
     .shows = "phases.marks",
     .chapter = "Marks",
     .intro = "Why a figure should not be trusted as it stands, or what explains it; `docs/marks.md#CODE` has the rule.",
     .of_phase = MarksTable,
     .not_in = "Console: lines of the phase; page: beside the headline; workbook: summary"},
    {.id = "errors",
     .shows = "phases.errors",
     .chapter = "Errors",
     .intro = "",
     .of_phase = ErrorsTable,
     .not_in = "Console: lines of the phase; Markdown: its list"},
    {.id = "files",
     .shows = "files",
     .chapter = "Files",
     .intro = "",
     .of_run = FilesTable,
     .not_in = "Console: report --verify checks them; CSV: result.json"},
};

}  // namespace

bool TableSource::IsIn(std::string_view format) const {
  return !absl::StrContains(absl::StrCat("; ", not_in), absl::StrCat("; ", std::string(format), ":"));
}

std::span<const TableSource> TableSources() {
  return kSources;
}

const TableSource& TableSourceNamed(std::string_view id) {
  const auto found = std::find_if(std::begin(kSources), std::end(kSources),
                                  [id](const TableSource& source) { return source.id == id; });
  assert(found != std::end(kSources));
  return *found;
}

Table TableOf(const TableSource& source, const v1::RunReport& report) {
  if (source.of_run != nullptr) return source.of_run(report);
  Table all;
  for (int i = 0; i < report.phases_size(); ++i) {
    Table table = source.of_phase(report, report.phases(i));
    if (table.empty()) continue;
    table.parts.front().phase = i;
    if (all.empty()) {
      all = std::move(table);
    } else {
      all.parts.push_back(std::move(table.parts.front()));
    }
  }
  return all;
}

std::vector<NamedTable> TablesOf(const v1::RunReport& report, std::string_view format) {
  std::vector<NamedTable> tables;
  for (const TableSource& source : kSources) {
    if (!source.IsIn(format)) continue;
    Table table = TableOf(source, report);
    if (!table.empty()) tables.push_back({&source, std::move(table)});
  }
  return tables;
}

}  // namespace iobench
