#include "coordinator/commands/run_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/clock.h"
#include "common/digest/sha256.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "common/version.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/silence_watch.h"
#include "coordinator/live/live_views.h"
#include "coordinator/live/observer_list.h"
#include "coordinator/net_check/net_check.h"
#include "coordinator/options/iozone_output.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/plan/layout.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/preflight/preflight_text.h"
#include "coordinator/preflight/time_estimate.h"
#include "coordinator/report/console/results_line.h"
#include "coordinator/conduct/conductor.h"
#include "coordinator/live/display.h"
#include "coordinator/process/failure.h"
#include "coordinator/saved_run/resume_point.h"
#include "coordinator/saved_run/run_documents.h"
#include "coordinator/selftest/selftest_report.h"

namespace iobench {
namespace {

constexpr uint64_t kMaxNetTestRecordBytes = 64 << 20;  // for each client, all at the same time

// Returns "20261121T093012Z-4711": sorts by time, unique on this host.
std::string RunName() {
  std::string time = WallClockIso8601();
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return absl::StrCat(time.substr(0, 15), "Z-", getpid());
}

void PrintDryRun(const Conductor& conductor, const v1::Plan& plan, double max_duration_s) {
  const v1::RunRecord& record = conductor.record();
  std::cout << "Nothing was written. This run would use\n";
  const auto targets = TargetsOfEachWorker(plan, static_cast<uint32_t>(record.workers_size()));
  for (int worker = 0; worker < record.workers_size(); ++worker) {
    const v1::WorkerFacts& facts = record.workers(worker);
    for (const uint32_t number : targets[static_cast<size_t>(worker)]) {
      const auto target = static_cast<int>(number);
      const v1::TargetFacts& seen = *SeenOf(record.targets(worker), number);
      std::cout << absl::StreamFormat("  worker %-4d %-20s %d %s  %s  %s%s  %s free\n", worker,
                                      Printable(facts.host()), plan.lanes_per_worker(),
                                      plan.lanes_per_worker() == 1 ? "lane" : "lanes",
                                      Printable(plan.targets(target).path()), Printable(seen.filesystem()),
                                      seen.network() ? absl::StrCat(" ", Printable(seen.mount_source())) : "",
                                      seen.has_free_bytes()
                                          ? FormatBytes(static_cast<double>(seen.free_bytes()))
                                          : std::string("an unknown amount"));
    }
  }
  std::cout << "space " << FormatBytes(static_cast<double>(conductor.bytes_needed())) << " in all\n";
  for (const v1::Phase& phase : plan.phases()) {
    const v1::Operation& operation = phase.assignments(0).operation();
    const PhaseShape shape = ShapeOf(plan, phase);
    uint64_t lanes = 0;
    for (const uint32_t workers : WorkersOfAssignments(phase, static_cast<uint32_t>(record.workers_size()))) {
      lanes += uint64_t{workers} * shape.lanes_per_worker;
    }
    if (phase.assignments_size() > 1) {
      std::cout << absl::StreamFormat(
          "  phase  %-24s %s%s\n", Printable(phase.name()),
          PartsText(plan, phase, static_cast<uint32_t>(record.workers_size())),
          plan.repetitions() > 1 ? absl::StrCat(", ", plan.repetitions(), " times") : "");
      continue;
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
            : absl::StrCat(FormatBytes(static_cast<double>(lanes * BytesOfLane(plan, phase, operation))),
                           " in all"));
    std::cout << (plan.repetitions() > 1 ? absl::StrCat(", ", plan.repetitions(), " times\n") : "\n");
  }
  std::cout << FillText(conductor.preflight().fills);
  if (plan.soak_s() > 0) {
    std::cout << SoakEstimateText(plan, static_cast<uint32_t>(record.workers_size())) << std::flush;
    return;
  }
  std::cout << EstimateText(EstimateTime(plan, static_cast<uint32_t>(record.workers_size()),
                                         conductor.uses_kept_data()),
                            max_duration_s)
            << std::flush;
}

// Opens none for a dry run, which shows nothing of a run. The first line on stderr names the address of the metrics.
absl::StatusOr<LiveViews> OpenViews(const RunCommand& line) {
  if (line.dry_run) return LiveViews();
  absl::StatusOr<LiveViews> views = LiveViews::Open({.screen = line.cluster.live,
                                                     .csv_path = line.cluster.live_csv,
                                                     .replace_csv = line.cluster.force,
                                                     .metrics_address = line.cluster.live_metrics});
  if (views.ok() && !views->metrics_url().empty()) {
    std::cerr << "metrics of this run at " << views->metrics_url() << std::endl;
  }
  return views;
}

// Shorter than the network test's own: it is repeated for each client.
constexpr double kMaxNetSeconds = 0.5, kMinNetSeconds = 0.1, kNetSecondsOfAll = 10;

// A private directory for the results of selftest, which are not kept.
class ScratchDirectory {
 public:
  static absl::StatusOr<ScratchDirectory> Make() {
    std::error_code failed;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(failed);
    std::string path = (failed ? std::filesystem::path("/tmp") : parent) / "cluster-iobench-selftest-XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
      return ErrnoStatus(absl::StrCat("cannot create a directory ", path), errno);
    return ScratchDirectory(path);
  }
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string Below(const char* name) const { return absl::StrCat(path_, "/", name); }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Measures the network to each client. With many of them it would take minutes, and is left out.
absl::Status MeasureNetwork(Cluster& cluster, const Stage& stage, const JobOptions& line,
                            std::vector<NetFigures>& figures) {
  const uint32_t clients = std::max(1u, cluster.client_count());
  if (clients > kMaxListedClients) return absl::OkStatus();
  const NetTestOptions test{
      .told_host = line.cluster.coordinator_host,
      .record_bytes = kNetTestRecordBytes,
      .seconds = std::clamp(kNetSecondsOfAll / clients, kMinNetSeconds, kMaxNetSeconds)};
  IOBENCH_ASSIGN_OR_RETURN(figures, TestNetwork(cluster, stage.coordinator.boot_id(), test));
  return absl::OkStatus();
}

// Workers of a coordinator that was killed do I/O until their lease is over. Those that --spawn started, and those of
// MPI, end with it.
void WaitForEarlierWorkers(const Stage& stage, const JobOptions& line) {
  if (!stage.resume->crashed || stage.transport.name() != "grpc" || line.cluster.spawn > 0) return;
  const int64_t lease_ns = GrantedLeaseNs(stage.worker_count, NanosFrom(line.cluster.lease_s));
  std::cerr << "waiting for " << FormatSeconds(SecondsFrom(lease_ns))
            << " (--lease), so that workers of the part that was cut off are gone" << std::endl;
  const int64_t until_ns = MonotonicNowNs() + lease_ns;
  while (MonotonicNowNs() < until_ns && !stage.interrupt.raised()) usleep(20'000);
}

CoordTime JoinDeadline(const ConductorOptions& options, const JobOptions& line) {
  return options.clock() + NanosFrom(line.cluster.join_timeout_s);
}

absl::Status PrepareToResume(const Stage& stage, const JobOptions& line, ConductorOptions& options) {
  const ResumePoint& point = *stage.resume;
  const auto saved_workers =
      static_cast<uint32_t>(std::count_if(point.run.workers().begin(), point.run.workers().end(),
                                          [](const v1::WorkerFacts& worker) { return !worker.server(); }));
  if (stage.worker_count != saved_workers) {
    return absl::InvalidArgumentError(absl::StrCat(
        point.directory, ": this run has ", saved_workers, saved_workers == 1 ? " worker" : " workers",
        ", but these options give ", stage.worker_count, ": start as many, on the same clients"));
  }
  options.resume = point;
  options.run_name = point.run.id();
  if (point.run.has_iozone()) options.iozone = point.run.iozone();
  const int phases = point.run.plan().phases_size() * static_cast<int>(point.run.plan().repetitions());
  std::cerr << point.directory << ": resuming with phase " << point.first_phase + 1 << " of " << phases
            << " (" << Printable(point.ended_by) << ")" << std::endl;
  WaitForEarlierWorkers(stage, line);
  options.join_deadline = JoinDeadline(options, line);  // the wait is no part of it
  return absl::OkStatus();
}

// Where the results are, or will be.
std::string OutDirectory(const Stage& stage, const JobOptions& line, const std::string& run_name) {
  if (stage.resume != nullptr) return stage.resume->directory;
  return line.cluster.out.empty() ? absl::StrCat("cluster-iobench.out/", run_name) : line.cluster.out;
}

}  // namespace

ConductorOptions OptionsFor(const Stage& stage, const JobOptions& line) {
  ConductorOptions options;
  options.run_name = RunName();
  std::random_device random;
  options.run_id = (uint64_t{random()} << 32 | random()) | 1;
  options.command = stage.command;
  options.version = kProgramVersion;
  options.worker_count = stage.worker_count;
  options.in_process = stage.transport.name() == "local";
  options.join_watch = stage.join_watch;
  options.join_deadline = JoinDeadline(options, line);
  options.patience = {.lost_after_ns = NanosFrom(line.cluster.lost_after_s),
                      .lease_ns = NanosFrom(line.cluster.lease_s),
                      .stall_after_ns = NanosFrom(line.cluster.stall_timeout_s),
                      .abort_on_lost = line.cluster.on_lost == "abort"};
  options.sample_interval_ns = NanosFrom(line.cluster.sample_interval_s);
  options.phase_timeout_ns = NanosFrom(line.cluster.phase_timeout_s);
  options.force = line.cluster.force;
  options.label = line.cluster.label;
  options.iozone = IozoneOutputOf(line.given);
  options.skip_bad = line.cluster.skip_bad;
  options.share_wait_ns = NanosFrom(line.cluster.share_wait_s);
  options.max_duration_s = line.cluster.max_duration_s;
  options.program_digest = Sha256OfProgram;
  return options;
}

void SayComplete(const ResumePoint& point) {
  std::cout << Printable(point.directory) << ": this run is complete, all its phases were run (exit code "
            << point.run.exit_code() << "): there is nothing to resume" << std::endl;
}

int RunPlan(const Stage& stage, const RunCommand& line, const v1::Plan& plan) {
  ConductorOptions options = OptionsFor(stage, line);
  options.dry_run = line.dry_run;
  if (stage.resume != nullptr && stage.resume->complete) {
    // The ranks are there and wait.
    Cluster cluster(stage.transport, options.run_id, stage.interrupt, options.patience, options.clock);
    cluster.Gather(options.worker_count, options.join_deadline, options.version, [](uint32_t) {})
        .IgnoreError();
    cluster.Dismiss();
    SayComplete(*stage.resume);
    return ExitOfPrinting(kExitOk, kExitIo);
  }
  const std::string directory = OutDirectory(stage, line, options.run_name);
  if (stage.resume != nullptr) {
    if (const absl::Status ready = PrepareToResume(stage, line, options); !ready.ok())
      return Fail(ready, kExitUsage);
  }
  if (plan.soak_s() > 0 && line.cluster.max_duration_s > 0) {
    return Fail(
        absl::InvalidArgumentError(
            "--max-duration cannot be combined with --soak, which says how long the run lasts: use only one"),
        kExitUsage);
  }
  options.out_directory = directory;
  options.hooks = {.before_phase = line.cluster.before_phase,
                   .after_phase = line.cluster.after_phase,
                   .timeout_s = line.cluster.hook_timeout_s};
  absl::StatusOr<LiveViews> views = OpenViews(line);
  if (!views.ok()) return Fail(views.status(), kExitUsage);
  const ProgressOptions progress_options =
      views->has_screen() ? ProgressOptions{} : ProgressOptionsFor(STDERR_FILENO, line.cluster.progress);
  ProgressLine progress(STDERR_FILENO, progress_options);
  const RunDocuments documents(line.cluster, options.iozone);
  std::ostream nowhere(nullptr);
  std::ostringstream after_screen;  // the live view has the terminal while the run lasts
  std::ostream& out = views->has_screen() ? after_screen : std::cout;
  Display display(
      documents.replace_console() ? nowhere : out, std::cerr,
      StyleOf(stage.transport.name() == "mpi" ? Stdout::kOfMpi : Stdout::kOurs, line.cluster.verbose),
      progress,
      {.progress = progress_options.mode != ProgressOptions::Mode::kSilent,
       .joining = !line.cluster.listen.empty()});
  std::vector<RunObserver*> watching = views->observers();
  watching.insert(watching.begin(), &display);
  ObserverList observers(watching);
  Conductor conductor(stage.transport, observers, stage.interrupt, stage.coordinator, plan, options);
  int exit_code = conductor.Run();
  progress.Clear();
  const absl::Status viewed = views->End();
  if (!conductor.refusal().ok()) {
    // A single fault is the message itself.
    if (FaultCount(conductor.preflight()) > 1) std::cerr << PreflightText(conductor.preflight());
    return Fail(conductor.refusal(), exit_code);
  }
  if (line.dry_run) {
    PrintDryRun(conductor, conductor.record().plan(), line.cluster.max_duration_s);
    return exit_code;
  }
  display.RunEnds(conductor.report());
  if (views->has_screen()) std::cout << after_screen.str() << std::flush;
  for (const absl::Status& written : {documents.Write(directory, std::cout), viewed}) {
    if (written.ok()) continue;
    PrintError(std::string(written.message()));
    if (exit_code == kExitOk) exit_code = kExitIo;
  }
  (documents.replace_console() ? std::cerr : std::cout << '\n')
      << documents.WorkbookLine() << ResultsLine(directory, conductor.saved(), documents.FileNames())
      << std::endl;
  if (exit_code == kExitInterrupted) PrintError("interrupted; the report shows what was done until then");
  return ExitOfPrinting(exit_code, kExitIo);
}

int Preflight(const Stage& stage, const PreflightCommand& line, const v1::Plan& plan) {
  RunObserver nobody;
  ConductorOptions options = OptionsFor(stage, line);
  options.preflight_only = true;
  Conductor conductor(stage.transport, nobody, stage.interrupt, stage.coordinator, plan, options);
  const int exit_code = conductor.Run();
  // Lost and missing workers are findings; here they count as a bad deployment, not as a partial run.
  if (!conductor.refusal().ok()) {
    return Fail(conductor.refusal(), exit_code == kExitInterrupted ? exit_code : int{kExitUsage});
  }
  std::cout << (line.format == "json" ? PreflightJson(conductor.preflight())
                                                : PreflightText(conductor.preflight()));
  return ExitOfPrinting(exit_code, kExitIo);
}

int Selftest(const Stage& stage, const SelftestCommand& line) {
  RunObserver nobody;
  ConductorOptions options = OptionsFor(stage, line);
  const bool simulated = line.simulate > 0;
  auto scratch = ScratchDirectory::Make();
  if (!scratch.ok()) return Fail(scratch.status(), kExitUsage);
  options.out_directory = scratch->Below("results");  // saving is part of what a phase costs
  std::vector<NetFigures> network;
  if (!options.in_process && !simulated) {
    options.before_phases = [&](Cluster& cluster) { return MeasureNetwork(cluster, stage, line, network); };
  }
  const CoordTime begin = options.clock();
  const v1::Plan plan = EmptyPhases(line.phases, line.lanes);
  Conductor conductor(stage.transport, nobody, stage.interrupt, stage.coordinator, plan, options);
  const int exit_code = conductor.Run();
  if (!conductor.refusal().ok()) return Fail(conductor.refusal(), exit_code);
  PrintSelftest({.version = kProgramVersion,
                 .report = conductor.report(),
                 .costs = conductor.phase_costs(),
                 .join_s = conductor.join_s(),
                 .run_s = SecondsFrom(options.clock() - begin),
                 .peak_memory_bytes = PeakMemoryBytes(),
                 .silence_count = conductor.silence_count(),
                 .network = std::move(network),
                 .simulated = simulated,
                 .workers_in_process = options.in_process || stage.transport.name() == "mpi"},
                std::cout);
  return ExitOfPrinting(exit_code, kExitIo);
}

int NetTest(const Stage& stage, const RunCommand& line) {
  const ConductorOptions options = OptionsFor(stage, line);
  Cluster cluster(stage.transport, options.run_id, stage.interrupt, options.patience, options.clock);
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

}  // namespace iobench
