// The command `run`: a plan on its workers, its report on the console, and its results in a directory.
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/clock.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/shell_word.h"
#include "common/text/terminal_width.h"
#include "common/text/units.h"
#include "common/transport/mpi_launch.h"
#include "coordinator/cluster/silence_watch.h"
#include "coordinator/commands/conductor_setup.h"
#include "coordinator/commands/dry_run.h"
#include "coordinator/commands/job_commands.h"
#include "coordinator/commands/net_test.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/conduct/conductor.h"
#include "coordinator/conduct/plan_phases.h"
#include "coordinator/live/display.h"
#include "coordinator/live/live_views.h"
#include "coordinator/live/observer_list.h"
#include "coordinator/options/iozone_output.h"
#include "coordinator/preflight/preflight_text.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/fitted_stream.h"
#include "coordinator/report/console/results_line.h"
#include "coordinator/saved_run/resume_point.h"
#include "coordinator/saved_run/run_documents.h"

namespace iobench {
namespace {

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

// Workers of a coordinator that was killed do I/O until their lease is over. Those that --spawn started, and those of
// MPI, end with it.
void WaitForEarlierWorkers(const Stage& stage, const JobOptions& line) {
  if (!stage.resume->crashed || stage.transport.name() != "grpc" || line.cluster.spawn > 0) return;
  const int64_t lease_ns = GrantedLeaseNs(stage.worker_count, NanosFrom(PatienceOf(line.cluster).lease_s));
  std::cerr << "waiting for " << FormatSeconds(SecondsFrom(lease_ns))
            << " (--lease), so that workers of the part that was cut off are gone" << std::endl;
  const int64_t until_ns = MonotonicNowNs() + lease_ns;
  while (MonotonicNowNs() < until_ns && !stage.interrupt.raised()) usleep(20'000);
}

absl::Status PrepareToResume(const Stage& stage, const JobOptions& line, ConductorOptions& options) {
  const ResumePoint& point = *stage.resume;
  const auto saved_workers =
      static_cast<uint32_t>(std::count_if(point.run.workers().begin(), point.run.workers().end(),
                                          [](const v1::WorkerFacts& worker) { return !worker.server(); }));
  const auto expected = saved_workers - static_cast<uint32_t>(point.absent_workers.size());
  if (stage.worker_count != expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        point.directory, ": this run has ", expected, expected == 1 ? " worker" : " workers",
        point.without.empty() ? "" : absl::StrCat(" without ", absl::StrJoin(point.without, ", ")),
        ", but these options give ", stage.worker_count, ": start as many, on the same clients",
        point.without.empty() ? "; --without CLIENT goes on without one that is dead for good" : ""));
  }
  options.resume = point;
  options.run_name = point.run.id();
  if (point.run.has_iozone()) options.iozone = point.run.iozone();
  const int phases = point.run.plan().phases_size() * static_cast<int>(MostRepetitions(point.run.plan()));
  for (const std::string& damaged : point.damaged)
    std::cerr << Printable(absl::StrCat(point.directory, "/", damaged)) << ": it is measured again" << std::endl;
  std::cerr << point.directory << ": resuming with phase " << point.part.first() + 1 << " of "
            << (point.run.plan().has_until_steady() ? "at most " : "") << phases
            << " (" << Printable(point.ended_by) << ")"
            << (point.without.empty() ? "" : Printable(absl::StrCat(", without ", absl::StrJoin(point.without, ", "))))
            << std::endl;
  WaitForEarlierWorkers(stage, line);
  options.join_deadline = JoinDeadline(options, line);  // the wait is no part of it
  options.out_directory = point.directory;
  return absl::OkStatus();
}

RunPart PartOf(const Stage& stage) { return stage.resume == nullptr ? RunPart() : stage.resume->part; }

// Keeps the text only of what is not saved: a run goes on with a phase when the one before is.
class TextOfUnsaved final : public RunObserver {
 public:
  std::ostringstream& text() { return text_; }
  void PhasePrepares(const PhaseProgress& progress) override {
    if (progress.index > 0) text_.str("");
  }

 private:
  std::ostringstream text_;
};

// What the end of a run writes and prints.
struct RunConclusion {
  const std::string& directory;
  const RunDocuments& documents;
  Display& display;
  ProgressLine& progress;
  LiveViews& views;
  const std::ostringstream& after_screen;
  TextOfUnsaved& instead;
  const std::string& for_resuming;
  bool of_mpi;
  int absent_count;  // of the workers: --without

  // Returns the exit code of the process. `exit_code`: of the run, as its record has it.
  int Conclude(const Conductor& conductor, int exit_code) const {
    progress.Clear();
    const absl::Status viewed = views.End();
    display.RunEnds(conductor.report());
    if (views.has_screen()) std::cout << after_screen.str() << std::flush;
    const absl::Status documented = documents.Write(directory, conductor.record(), std::cout, std::cerr);
    if (!documented.ok() && !conductor.saved().ok()) std::cout << instead.text().str() << std::flush;
    for (const absl::Status& written : {documented, viewed}) {
      if (written.ok()) continue;
      PrintError(std::string(written.message()));
      if (exit_code == kExitOk) exit_code = kExitIo;
    }
    (documents.replace_console() ? std::cerr : std::cout << '\n')
        << documents.WorkbookLine() << ResultsLine(directory, conductor.saved(), documents.FileNames()) << std::endl;
    if (exit_code == kExitInterrupted)
      PrintError(absl::StrCat("interrupted; the report shows what was done until then", HowToGoOn(conductor)));
    exit_code = ExitOfPrinting(exit_code, kExitIo);
    if (exit_code != conductor.record().exit_code()) {
      // The documents that could be written have the old one.
      v1::RunRecord run = conductor.record();
      run.set_exit_code(exit_code);
      std::ostream nowhere(nullptr);
      documents.Write(directory, run, nowhere, nowhere).IgnoreError();
    }
    return exit_code;
  }

 private:
  // "; go on with `cluster-iobench run --resume DIR --spawn 2`", or what starts as many ranks; empty if the results are not
  // there.
  std::string HowToGoOn(const Conductor& conductor) const {
    if (directory.empty() || !conductor.saved().ok()) return {};
    const int ranks = conductor.record().workers_size() - absent_count;
    return absl::StrCat("; go on with `", of_mpi ? absl::StrCat("mpirun -np ", ranks, " ") : "",
                        "cluster-iobench run --resume ", Printable(ShellWord(directory)),
                        for_resuming.empty() ? "" : " ", Printable(for_resuming), "`");
  }
};

// For ranks of MPI, which are there and wait although nothing is left to do.
int LeaveComplete(const Stage& stage, const ConductorOptions& options) {
  Cluster cluster(stage.transport, options.run_id, stage.interrupt, options.patience, options.clock);
  cluster.Gather(options.worker_count, options.join_deadline, options.version, [](uint32_t) {}).IgnoreError();
  cluster.Dismiss();
  SayComplete(*stage.resume);
  return ExitOfPrinting(kExitOk, kExitIo);
}

// Runs a plan and prints its report as it proceeds, or resumes the saved run of the stage.
int RunPlan(const Stage& stage, const RunCommand& line, const v1::Plan& plan) {
  ConductorOptions options = OptionsFor(stage, line);
  options.writes_check_files = !line.dry_run;
  if (stage.resume != nullptr && stage.resume->complete) return LeaveComplete(stage, options);
  options.out_directory = OutDirectory(line, options.run_name);
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
  if (plan.has_until_steady() && line.cluster.max_duration_s > 0) {
    return Fail(absl::InvalidArgumentError(
                    "--max-duration cannot be combined with --until steady, whose rounds --max-rounds limits: use only one"),
                kExitUsage);
  }
  const std::string directory = options.out_directory;
  options.hooks = {.before_phase = line.cluster.before_phase,
                   .after_phase = line.cluster.after_phase,
                   .timeout_s = line.cluster.hook_timeout_s};
  absl::StatusOr<LiveViews> views = OpenViews(line);
  if (!views.ok()) return Fail(views.status(), kExitUsage);
  const ProgressOptions progress_options =
      views->has_screen() ? ProgressOptions{} : ProgressOptionsFor(STDERR_FILENO, line.cluster.progress);
  ProgressLine progress(STDERR_FILENO, progress_options);
  const RunDocuments documents(line.cluster, options.iozone, line.as_iozone);
  const Stdout whose = stage.transport.name() == "mpi" ? Stdout::kOfMpi : Stdout::kOurs;
  std::optional<FittedStream> fitted;  // not what programs read
  if (!documents.replace_console() && whose == Stdout::kOurs) fitted.emplace(std::cout, STDOUT_FILENO);
  TextOfUnsaved instead;            // of documents that cannot be written
  std::ostringstream after_screen;  // the live view has the terminal while the run lasts
  std::ostream& out = views->has_screen() ? after_screen : std::cout;
  Display display(
      documents.replace_console() ? instead.text() : out, std::cerr,
      StyleOf(whose, line.cluster.verbose),
      progress,
      {.progress = progress_options.mode != ProgressOptions::Mode::kSilent,
       .joining = !line.cluster.listen.empty()});
  std::vector<RunObserver*> watching = views->observers();
  watching.insert(watching.begin(), {&instead, &display});
  ObserverList observers(watching);
  Conductor conductor(stage.transport, observers, stage.interrupt, stage.coordinator, plan, options);
  const absl::Status assembled = conductor.Assemble();
  int exit_code = kExitOk;
  if (!assembled.ok()) {
    exit_code = conductor.Refuse(assembled);
  } else if (line.dry_run) {
    conductor.Dismiss();
  } else {
    const RunConclusion ending{directory, documents, display, progress, *views, after_screen, instead,
                               line.for_resuming, whose == Stdout::kOfMpi,
                               stage.resume == nullptr ? 0 : static_cast<int>(stage.resume->absent_workers.size())};
    exit_code = conductor.Conduct(*SourceOf(conductor.record().plan(), PartOf(stage)), [&](int code) {
      return ending.Conclude(conductor, code);
    });
  }
  if (!conductor.refusal().ok()) {
    progress.Clear();
    views->End().IgnoreError();
    // A single fault is the message itself.
    if (FaultCount(conductor.preflight()) > 1) std::cerr << PreflightText(conductor.preflight(), TextColumns(STDERR_FILENO));
    return Fail(conductor.refusal(), exit_code);
  }
  if (line.dry_run) {
    progress.Clear();
    PrintDryRun(conductor, line.cluster.max_duration_s);
  }
  return exit_code;
}

// --as-iozone. IOzone's formats have the lines of throughput mode for phases that name their lanes. And IOzone opens no
// streams with O_DIRECT, so -I is not for them.
absl::Status AdaptToIozone(bool throughput_mode, v1::Plan& plan) {
  bool any_stream = false;
  for (v1::Phase& phase : *plan.mutable_phases()) {
    if (throughput_mode && !phase.has_lanes_per_worker()) phase.set_lanes_per_worker(plan.lanes_per_worker());
    for (v1::Assignment& assignment : *phase.mutable_assignments()) {
      v1::Operation& operation = *assignment.mutable_operation();
      const OperationSpec* const spec = SpecOf(operation);
      if (!operation.direct() || spec == nullptr || spec->call != Call::kStdio) continue;
      operation.clear_direct();
      any_stream = true;
    }
  }
  if (any_stream)
    plan.add_notes("-I (--direct) is not for fwrite and fread, as in IOzone: they are buffered");
  return absl::OkStatus();
}

}  // namespace

int Execute(const RunCommand& run, const std::string& typed) {
  if (LauncherPromises().promised_rank <= 0) {
    for (const std::string& note : run.notes) std::cerr << "note: " << Printable(note) << std::endl;
  }
  std::function<absl::Status(v1::Plan&)> adapt_plan;
  if (run.as_iozone) adapt_plan = [&run](v1::Plan& plan) { return AdaptToIozone(run.throughput_mode, plan); };
  return OnWorkers({.options = run,
                    .print_plan = run.print_plan,
                    .resume = run.cluster.resume,
                    .list_says_workers = true,
                    .writes_results = true,
                    .dry_run = run.dry_run,
                    .measures_servers = true,
                    .adapt_plan = adapt_plan,
                    .after_plan =
                        [&run](const v1::Plan& plan) { return CheckDocuments(run.cluster, IozoneOutputOf(run.given), plan); },
                    .carry_out =
                        [&run](const Stage& stage, const v1::Plan& plan) {
                          return run.cluster.net_test ? NetTest(stage, run) : RunPlan(stage, run, plan);
                        }},
                   typed);
}

}  // namespace iobench
