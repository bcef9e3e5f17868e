#include "coordinator/run/run_command.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/clock.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "common/version.h"
#include "coordinator/analysis/report_builder.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/net_check/net_check.h"
#include "coordinator/plan/layout.h"
#include "coordinator/plan/metadata_plan.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/report/console/results_line.h"
#include "coordinator/report/result_store.h"
#include "coordinator/run/conductor.h"
#include "coordinator/run/display.h"

namespace iobench {
namespace {

// Who has the terminal that stdout is connected to. Open MPI gives its ranks a terminal of its own, regardless of where
// their output goes.
enum class Stdout { kOurs, kOfMpi };

ConsoleStyle StyleOf(Stdout out) {
  ConsoleStyle style;
  const char* no_color = getenv("NO_COLOR");
  style.color = out == Stdout::kOurs && isatty(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0');
  return style;
}

constexpr uint32_t kNetTestRecordBytes = 256 << 10;
constexpr uint64_t kMaxNetTestRecordBytes = 64 << 20;  // for each client, all at the same time

// Returns "20261121T093012Z-4711": sorts by time, unique on this host.
std::string RunName() {
  std::string time = WallClockIso8601();
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return absl::StrCat(time.substr(0, 15), "Z-", getpid());
}

ConductorOptions OptionsFor(const Stage& stage, const CommandLine& line) {
  ConductorOptions options;
  options.run_name = RunName();
  std::random_device random;
  options.run_id = (uint64_t{random()} << 32 | random()) | 1;
  options.command = stage.command;
  options.version = kProgramVersion;
  options.worker_count = stage.worker_count;
  options.in_process = stage.transport.name() == "local";
  options.join_watch = stage.join_watch;
  options.join_deadline = options.clock() + NanosFrom(line.cluster.join_timeout_s);
  options.lost_after_ns = NanosFrom(line.cluster.lost_after_s);
  options.force = line.cluster.force;
  options.dry_run = line.dry_run;
  return options;
}

// Returns what a lane moves in a phase without a time limit.
uint64_t BytesOfLane(const v1::Phase& phase, const PhaseShape& shape) {
  const uint64_t max_ops = phase.stop().max_ops(), bytes = shape.files.bytes_per_lane();
  return max_ops > 0 ? std::min(bytes, max_ops * phase.assignments(0).operation().record_bytes()) : bytes;
}

void PrintDryRun(const Conductor& conductor, const v1::Plan& plan) {
  const v1::RunRecord& record = conductor.record();
  std::cout << "Nothing was written. This run would use\n";
  for (int worker = 0; worker < record.workers_size(); ++worker) {
    const v1::WorkerFacts& facts = record.workers(worker);
    const auto target = static_cast<int>(TargetOfWorker(plan, static_cast<uint32_t>(worker)));
    const v1::TargetFacts& seen = record.targets(worker).targets(target);
    std::cout << absl::StreamFormat("  worker %-4d %-20s %d lanes  %s  %s%s  %s free\n", worker,
                                    Printable(facts.host()), plan.lanes_per_worker(),
                                    Printable(plan.targets(target).path()), Printable(seen.filesystem()),
                                    seen.network() ? absl::StrCat(" ", Printable(seen.mount_source())) : "",
                                    FormatBytes(static_cast<double>(seen.free_bytes())));
  }
  std::cout << "space " << FormatBytes(static_cast<double>(conductor.bytes_needed())) << " in all\n";
  for (const v1::Phase& phase : plan.phases()) {
    const v1::Operation& operation = phase.assignments(0).operation();
    const PhaseShape shape = ShapeOf(plan, phase);
    uint64_t lanes = 0;
    for (const uint32_t workers : WorkersOfAssignments(phase, static_cast<uint32_t>(record.workers_size()))) {
      lanes += uint64_t{workers} * shape.lanes_per_worker;
    }
    if (IsMetadata(operation)) {
      const uint64_t items = lanes * operation.tree().items_per_lane();
      std::cout << absl::StreamFormat(
          "  phase  %-24s %d items per lane, %s%s\n", Printable(phase.name()),
          operation.tree().items_per_lane(),
          phase.stop().time_s() > 0 ? absl::StrCat("for ", FormatSeconds(phase.stop().time_s()))
                                    : absl::StrCat(items, " in all"),
          plan.repetitions() > 1 ? absl::StrCat(", ", plan.repetitions(), " times") : "");
      continue;
    }
    std::cout << absl::StreamFormat(
        "  phase  %-24s records of %s, %s", Printable(phase.name()),
        FormatBytes(static_cast<double>(operation.record_bytes())),
        phase.stop().time_s() > 0
            ? absl::StrCat("for ", FormatSeconds(phase.stop().time_s()))
            : absl::StrCat(FormatBytes(static_cast<double>(lanes * BytesOfLane(phase, shape))), " in all"));
    std::cout << (plan.repetitions() > 1 ? absl::StrCat(", ", plan.repetitions(), " times\n") : "\n");
  }
  std::cout << std::flush;
}

double MedianOf(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace

int RunPlan(const Stage& stage, const CommandLine& line, const v1::Plan& plan) {
  ConductorOptions options = OptionsFor(stage, line);
  const std::string directory =
      line.cluster.out.empty() ? absl::StrCat("cluster-iobench.out/", options.run_name) : line.cluster.out;
  options.out_directory = directory;
  const ProgressOptions progress_options = ProgressOptionsFor(STDERR_FILENO, line.cluster.progress);
  ProgressLine progress(STDERR_FILENO, progress_options);
  Display display(std::cout, std::cerr,
                  StyleOf(stage.transport.name() == "mpi" ? Stdout::kOfMpi : Stdout::kOurs), progress,
                  {.progress = progress_options.mode != ProgressOptions::Mode::kSilent,
                   .joining = !line.cluster.listen.empty()});
  Conductor conductor(stage.transport, display, stage.interrupt, stage.coordinator, plan, options);
  const int exit_code = conductor.Run();
  progress.Clear();
  if (!conductor.refusal().ok()) return Fail(conductor.refusal(), exit_code);
  if (line.dry_run) {
    PrintDryRun(conductor, conductor.record().plan());
    return exit_code;
  }
  display.RunEnds(conductor.report());
  std::cout << '\n' << ResultsLine(directory, conductor.saved()) << std::endl;
  if (exit_code == kExitInterrupted) PrintError("interrupted; the report shows what was done until then");
  return ExitOfPrinting(exit_code, kExitIo);
}

int Selftest(const Stage& stage, const CommandLine& line) {
  RunObserver nobody;
  ConductorOptions options = OptionsFor(stage, line);
  const CoordTime begin = options.clock();
  const v1::Plan plan = EmptyPhases(line.selftest_phases, line.selftest_lanes);
  Conductor conductor(stage.transport, nobody, stage.interrupt, stage.coordinator, plan, options);
  const int exit_code = conductor.Run();
  if (!conductor.refusal().ok()) return Fail(conductor.refusal(), exit_code);
  const double run_s = SecondsFrom(options.clock() - begin);
  const v1::RunReport& report = conductor.report();
  std::vector<double> fixed_cost_ms, skew_us;
  uint32_t attempts = 0;
  for (const v1::PhaseReport& phase : report.phases()) {
    fixed_cost_ms.push_back(phase.fixed_cost_s() * 1e3);
    skew_us.push_back(phase.start().skew_us());
    attempts += phase.start().attempts();
  }
  std::cout << absl::StreamFormat(
      "cluster-iobench %s selftest over %s: %d workers on %d clients, %d lanes, %d empty phases in %s\n",
      kProgramVersion, stage.transport.name(), report.run().worker_count(), report.clients_size(),
      report.run().lane_count(), report.phases_size(), FormatSeconds(run_s));
  std::cout << absl::StreamFormat(
      "  fixed cost of a phase   median %.2f ms, max %.2f ms (start lead included)\n",
      MedianOf(fixed_cost_ms),
      fixed_cost_ms.empty() ? NAN : *std::max_element(fixed_cost_ms.begin(), fixed_cost_ms.end()));
  std::cout << absl::StreamFormat(
      "  start skew              median %.0f us, max %.0f us; %d starts for %d phases\n", MedianOf(skew_us),
      skew_us.empty() ? NAN : *std::max_element(skew_us.begin(), skew_us.end()), attempts,
      report.phases_size());
  std::cout << "  per client              clock        read     empty op   clock offset     error\n";
  for (const v1::ClientReport& client : report.clients()) {
    std::cout << absl::StreamFormat(
        "    %-20s  %-9s %6.1f ns  %6.1f ns  %s\n", client.host(), client.clock(), client.clock_read_ns(),
        client.loop_ns(),
        client.same_clock() ? "  the coordinator's own"
                            : absl::StrFormat("%12.0f us  %6.1f us", client.clock_offset_ns() / 1e3,
                                              client.clock_error_ns() / 1e3));
  }
  return ExitOfPrinting(exit_code, kExitIo);
}

int NetTest(const Stage& stage, const CommandLine& line) {
  const ConductorOptions options = OptionsFor(stage, line);
  Cluster cluster(stage.transport, options.run_id, stage.interrupt, options.lost_after_ns, options.clock);
  NetTestOptions test{.told_host = line.cluster.coordinator_host,
                      .record_bytes = kNetTestRecordBytes,
                      .seconds = line.given.Decimal("time")};
  if (line.given.Has("record")) {
    test.record_bytes = static_cast<uint32_t>(
        std::clamp<uint64_t>(line.given.Numbers("record").front(), 1, kMaxNetTestRecordBytes));
  }
  absl::Status status = cluster.Gather(
      options.worker_count, options.join_deadline, options.version, [](uint32_t) {}, options.join_watch);
  if (status.ok()) {
    const auto figures = TestNetwork(cluster, stage.coordinator.boot_id(), test);
    status = figures.status();
    if (figures.ok()) PrintNetFigures(*figures, std::cout);
  }
  cluster.Dismiss();
  if (status.ok()) return ExitOfPrinting(kExitOk, kExitIo);
  return Fail(status, absl::IsCancelled(status)     ? kExitInterrupted
                      : absl::IsUnavailable(status) ? kExitPartial
                                                    : kExitUsage);
}

int PrintSavedRun(const std::string& directory) {
  absl::StatusOr<SavedRun> saved = SavedRun::Open(directory);
  if (!saved.ok()) return Fail(saved.status(), kExitUsage);
  ProgressLine progress(STDERR_FILENO, {});
  Display display(std::cout, std::cerr, StyleOf(Stdout::kOurs), progress,
                  {.progress = false, .joining = false});
  ReportBuilder report(saved->run());
  const std::optional<v1::PhaseRecord> newest = saved->Newest();
  report.Begin(newest.has_value() ? &*newest : nullptr);
  display.RunStarts(report.report());
  while (const std::optional<v1::PhaseRecord> record = saved->Next()) {
    const v1::PhaseReport phase = report.Add(*record);
    display.PhaseEnds(report.report(), phase);
  }
  report.NoteTotals();
  for (const std::string& warning : saved->warnings()) {
    PrintError(warning);
    report.AddProblem(absl::StrCat("not in this report: ", warning));
  }
  display.RunEnds(report.report());
  return saved->warnings().empty() ? kExitOk : kExitIo;
}

}  // namespace iobench
