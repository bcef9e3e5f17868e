// The command `capacity`: a run whose phases follow from what the earlier ones measured.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/clock.h"
#include "common/model/phase_check.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "common/version.h"
#include "coordinator/analysis/marks/advice.h"
#include "coordinator/capacity/capacity_phases.h"
#include "coordinator/capacity/capacity_report.h"
#include "coordinator/capacity/capacity_search.h"
#include "coordinator/capacity/capacity_source.h"
#include "coordinator/commands/conductor_setup.h"
#include "coordinator/commands/job_commands.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/conduct/conductor.h"
#include "coordinator/files/files.h"
#include "coordinator/live/display.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/fitted_stream.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/capacity/capacity_formats.h"
#include "coordinator/report/capacity/saved_capacity.h"
#include "coordinator/report/console/results_line.h"
#include "coordinator/saved_run/redact.h"

namespace iobench {
namespace {

constexpr uint32_t kMaxRepetitions = 10'000;            // as for --repeat

absl::StatusOr<CapacityQuestions> QuestionsIn(const CapacityOptions& options) {
  CapacityQuestions questions{
      .load_per_s = options.load_per_s, .users = options.users, .user_per_s = options.user_per_s};
  const std::string& need = options.need;
  if (need.empty()) return questions;
  const bool in_bytes = need.size() > 2 && need.compare(need.size() - 2, 2, "/s") == 0;
  if (in_bytes) {
    const absl::StatusOr<uint64_t> bytes = ParseBytes(need.substr(0, need.size() - 2), 1);
    if (bytes.ok() && *bytes > 0) {
      questions.needed_bytes_per_s = static_cast<double>(*bytes);
      return questions;
    }
  } else if (absl::SimpleAtod(need, &questions.needed_ops_per_s) && questions.needed_ops_per_s > 0 &&
             std::isfinite(questions.needed_ops_per_s)) {
    return questions;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--need \"", need, "\": write a rate such as 5GiB/s, or a number of ops/s"));
}

absl::StatusOr<const CapacityFormat*> FormatFor(const CapacityOptions& options, bool replace) {
  IOBENCH_ASSIGN_OR_RETURN(const CapacityFormat* const format, CapacityFormatNamed(options.format));
  if (format->binary && options.output.empty() && isatty(STDOUT_FILENO) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--format ", options.format, " is not for a terminal: name a file with --output"));
  }
  if (!options.output.empty()) IOBENCH_RETURN_IF_ERROR(CheckOutputFile(options.output, replace));
  return format;
}

// `directories`: of the runs, which know the names that are redacted.
absl::Status PrintCapacity(std::vector<v1::CapacityReport> reports, std::span<const std::string> directories,
                           const CapacityOptions& options, const CapacityFormat& format, const ConsoleStyle& style) {
  if (options.redact) {
    Redaction redaction;
    for (size_t i = 0; i < reports.size(); ++i) {
      IOBENCH_ASSIGN_OR_RETURN(const SavedRun run, SavedRun::Open(directories[i]));
      redaction.Learn(run.run());
      redaction.Redact(reports[i]);
    }
  }
  if (options.output.empty()) return format.write(reports, style, std::cout);
  return WriteFileAtomically(options.output,
                             [&](std::ostream& out) { return format.write(reports, ConsoleStyle(), out); });
}

// Each level and each point is measured as often as the user's plan repeats its phase. --print-plan writes one repetition
// if the user gave none, so one leaves the default.
uint32_t LevelRepetitions(const CapacityCommand& line, const v1::Plan& plan) {
  return plan.repetitions() > 1 ? plan.repetitions() : static_cast<uint32_t>(line.given.Number("repeat", 3));
}

// `plan`: as built from the user's options.
CapacitySettings SettingsOf(const CapacityCommand& line, const v1::Plan& plan, uint32_t clients) {
  CapacitySettings settings{.clients = clients,
                            .max_lanes_per_worker = plan.lanes_per_worker(),
                            .repetitions = LevelRepetitions(line, plan),
                            .points = line.capacity.points,
                            .measure_s = plan.phases(0).stop().time_s() - plan.phases(0).stop().warmup_s(),
                            .warmup_s = plan.phases(0).stop().warmup_s(),
                            .mix_per_s = DuePerSecond(plan.phases(0)),
                            .least_phase_s = LeastSecondsOf(plan.phases(0)),
                            .seed = plan.seed()};
  if (!line.capacity.slo.empty()) settings.slo = *ParseSlo(line.capacity.slo);
  return settings;
}

// True unless this host sees that the file system refuses it; on others' hosts, the run does.
bool DirectWorks(const std::string& path) {
  // A file without a name leaves nothing behind. Where there are none (NFS), another error says so.
  files::HeldFile probe = files::Open(path, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC);
  if (!probe.valid()) return errno != EINVAL;
  files::Close(std::move(probe));
  return true;
}

// Says on stderr how long it will take, and which step begins.
class StepListener final : public RunObserver {
 public:
  StepListener(bool speaks, const CapacitySource& source) : speaks_(speaks), source_(source) {}
  void PhasePrepares(const PhaseProgress& progress) override {
    if (progress.index == 0 && source_.search() != nullptr) {
      std::cerr << "cluster-iobench: this takes about " << FormatSeconds(EstimatedSeconds(source_.search()->settings()))
                << ", plus the time to create the files" << std::endl;
    }
    if (speaks_) std::cerr << "phase " << Printable(progress.name) << std::endl;
  }

 private:
  const bool speaks_;
  const CapacitySource& source_;
};

// When a command began.
struct Begin {
  int64_t at_ns = MonotonicNowNs();
  std::string started_at = WallClockIso8601();
};

// The report on what the source has measured. `plan`: as built from the user's options.
v1::CapacityReport ReportFor(const Stage& stage, const CapacityCommand& line, const v1::Plan& plan, const Begin& begin,
                             const CapacitySource& source, const Conductor& conductor, int exit_code) {
  const v1::RunInfo& run = conductor.report().run();
  const v1::Phase& workload = run.plan().phases(0);
  absl::StatusOr<CapacityQuestions> questions = QuestionsIn(line.capacity);
  v1::CapacityReport report = ReportOf(
      *source.search(),
      {.workload = WorkloadText(workload),
       .record_bytes = workload.assignments_size() == 1 ? workload.assignments(0).operation().record_bytes() : 0,
       .worker_count = static_cast<uint32_t>(run.worker_count()),
       .queue_depth = QueueDepthOf(workload),
       .in_use = OptionsOfNoUse(workload),
       .mix_per_s = line.given.Has("rate") ? 0 : DuePerSecond(workload) / line.given.Decimal("mix-factor", 1)},
      *questions);
  report.set_program_version(kProgramVersion);
  report.set_command(stage.command);
  report.set_started_at(begin.started_at);
  report.set_duration_s(SecondsFrom(MonotonicNowNs() - begin.at_ns));
  report.set_name(line.cluster.label.empty() ? run.id() : line.cluster.label);
  report.set_path(absl::StrJoin(plan.targets(), ", ", [](std::string* out, const v1::Target& target) {
    absl::StrAppend(out, target.path());
  }));
  for (const std::string& note : source.notes()) report.add_warnings(note);
  if (source.out_of_time()) report.add_warnings("--max-duration ended before everything was measured");
  if (source.out_of_time() || exit_code == kExitInterrupted || exit_code == kExitPartial) report.set_complete(false);
  const bool too_much = (report.has_load() && report.load().factor() < 1) ||
                        (source.search()->settings().mix_per_s > 0 && !report.has_max());
  if (exit_code == kExitOk && (too_much || report.slo().outcome() == "cannot_be_met")) exit_code = kExitThreshold;
  report.set_exit_code(exit_code);
  return report;
}

// Prints and saves the report. Returns the exit code, which the report then has.
int ConcludeCapacity(const Stage& stage, const CapacityCommand& line, const CapacityFormat& format,
                     const Conductor& conductor, const std::string& directory, v1::CapacityReport& report) {
  const ConsoleStyle style =
      StyleOf(stage.transport.name() == "mpi" ? Stdout::kOfMpi : Stdout::kOurs, line.cluster.verbose);
  const bool interrupted = report.exit_code() == kExitInterrupted;
  const auto note = [&report](const absl::Status& written) {
    if (written.ok()) return;
    PrintError(std::string(written.message()));
    if (report.exit_code() == kExitOk) report.set_exit_code(kExitIo);
  };
  note(PrintCapacity({report}, {&directory, 1}, line.capacity, format, style));
  const bool text_on_stdout = line.capacity.output.empty() && line.capacity.format == "text";
  // The line names the file.
  note(SaveCapacity(report, directory));
  const FittedStream fitted(std::cout, STDOUT_FILENO);
  (text_on_stdout ? std::cout << '\n' : std::cerr)
      << ResultsLine(directory, conductor.saved(), CapacityFileNames()) << std::endl;
  if (interrupted) PrintError("interrupted; the report shows what was measured so far");
  const int exit_code = ExitOfPrinting(report.exit_code(), kExitIo);
  if (exit_code == report.exit_code()) return exit_code;
  report.set_exit_code(exit_code);
  SaveCapacity(report, directory).IgnoreError();
  return exit_code;
}

int PrintCapacityPlan(const Conductor& conductor, const CapacityCommand& line, const v1::Plan& plan) {
  CapacitySettings settings =
      SettingsOf(line, plan, static_cast<uint32_t>(conductor.report().clients_size()));
  std::vector<std::string> notes;
  if (line.cluster.max_duration_s > 0) {
    if (const absl::Status fits = FitInto(line.cluster.max_duration_s, settings, notes); !fits.ok())
      return Fail(fits, kExitUsage);
  }
  const FittedStream fitted(std::cout, STDOUT_FILENO);
  std::cout << "Dry run: nothing was written. Workload: " << WorkloadText(plan.phases(0)) << "\n";
  const std::string repetitions =
      absl::StrCat(settings.repetitions, settings.repetitions == 1 ? " repetition" : " repetitions");
  if (settings.mix_per_s > 0) {
    std::cout << absl::StreamFormat(
        "  highest load  starts at %s ops/s and doubles until it is not sustained: about 16 phases\n",
        FormatCount(settings.mix_per_s));
  } else {
    std::cout << "  closed loops  " << ClosedSteps(settings).size() << " phases: ";
    if (settings.clients > 1)
      std::cout << "clients " << absl::StrJoin(LevelsUpTo(settings.clients), " ") << ", ";
    std::cout << "lanes per worker " << absl::StrJoin(LevelsUpTo(settings.max_lanes_per_worker), " ") << "; "
              << repetitions << "\n";
  }
  std::cout << "  load curve    " << settings.repetitions * settings.points << " phases: " << settings.points
            << (settings.points == 1 ? " point; " : " points; ") << repetitions << "\n";
  if (settings.slo.has_value())
    std::cout << "  SLO           " << settings.slo->text
              << ": about 16 phases, longer where its figure needs more ops\n";
  std::cout << "  each phase    " << FormatSeconds(settings.measure_s) << " after a warm-up of "
            << FormatSeconds(settings.warmup_s) << "\n";
  for (const std::string& note : notes) std::cout << "  " << note << "\n";
  std::cout << "space " << FormatBytes(static_cast<double>(conductor.decision().bytes_needed))
            << " in all\ntime  about " << FormatSeconds(EstimatedSeconds(settings))
            << ", plus the time to create the files" << std::endl;
  return ExitOfPrinting(kExitOk, kExitIo);
}

// Turns the plan of a workload into the first phase of a capacity measurement: all clients with all lanes. Called
// before any worker joins. InvalidArgument: the plan is not a single phase, or a question or the output file is wrong.
absl::Status FitPlanToCapacity(const CapacityCommand& line, v1::Plan& plan) {
  IOBENCH_RETURN_IF_ERROR(FormatFor(line.capacity, line.cluster.force).status());
  IOBENCH_RETURN_IF_ERROR(QuestionsIn(line.capacity).status());
  if (!line.capacity.slo.empty()) IOBENCH_RETURN_IF_ERROR(ParseSlo(line.capacity.slo).status());
  if (plan.phases_size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("capacity measures one workload, but these options give ", plan.phases_size(),
                     " phases: give one operation (--op random-read), one size and one record size"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckLeavesLoad(plan));
  v1::Phase& phase = *plan.mutable_phases(0);
  if (!(phase.stop().time_s() > 0))
    return absl::InvalidArgumentError("capacity needs phases with a time limit: use --time S");
  if (plan.repetitions() > kMaxRepetitions) {
    return absl::InvalidArgumentError(
        absl::StrCat(plan.repetitions(), " repetitions are more than the max of ", kMaxRepetitions));
  }
  const bool direct_works = std::all_of(plan.targets().begin(), plan.targets().end(),
                                        [](const v1::Target& target) { return DirectWorks(target.path()); });
  MeasureStorage(line.given, direct_works, plan);
  phase.set_name("0: all lanes, creating the files");
  return absl::OkStatus();
}

// Finds how much the storage carries: a run whose phases follow from what earlier ones measured, and its report, which
// is also saved beside the run's results (saved_capacity.h). `plan`: fitted by FitPlanToCapacity. The exit code is that of
// the run, and kExitThreshold if the SLO cannot be met or today's load is more than the storage carries.
int Capacity(const Stage& stage, const CapacityCommand& line, const v1::Plan& plan) {
  const auto format = FormatFor(line.capacity, line.cluster.force);
  if (!format.ok()) return Fail(format.status(), kExitUsage);
  const Begin begin;
  ConductorOptions options = OptionsFor(stage, line);
  options.writes_check_files = !line.dry_run;
  options.max_duration_s = 0;  // the search keeps within it by itself
  // Closed loops begin with one lane; a mix has none of them.
  if (!(DuePerSecond(plan.phases(0)) > 0)) options.least_lanes_per_worker = 1;
  options.out_directory = OutDirectory(line, options.run_name);
  const std::string directory = options.out_directory;
  CapacitySource source(line.cluster.max_duration_s);
  StepListener listener(line.cluster.progress || isatty(STDERR_FILENO) != 0, source);
  v1::Plan conducted_plan = plan;
  conducted_plan.set_repetitions(1);  // the steps of the search are phases of their own
  Conductor conductor(stage.transport, listener, stage.interrupt, stage.coordinator,
                      std::move(conducted_plan), std::move(options));
  absl::Status ready = conductor.Assemble();
  if (ready.ok() && line.dry_run) {
    conductor.Dismiss();
    return PrintCapacityPlan(conductor, line, plan);
  }
  if (ready.ok()) {
    const std::vector<Member>& members = conductor.cluster().members();
    const auto clients = static_cast<uint32_t>(WorkersByClient(members).size());
    ready = source.Begin(members, SettingsOf(line, plan, clients));
  }
  if (!ready.ok()) return Fail(ready, conductor.Refuse(ready));
  v1::CapacityReport report;
  const int exit_code = conductor.Conduct(source, [&](int conducted) {
    report = ReportFor(stage, line, plan, begin, source, conductor, conducted);
    return ConcludeCapacity(stage, line, **format, conductor, directory, report);
  });
  if (!conductor.refusal().ok()) return Fail(conductor.refusal(), exit_code);
  if (exit_code == report.exit_code()) return exit_code;
  report.set_exit_code(exit_code);  // the end of the run could not be saved
  SaveCapacity(report, directory).IgnoreError();
  return exit_code;
}

// Shows saved capacity runs (--saved).
int ShowSavedCapacity(const CapacityCommand& line) {
  const auto format = FormatFor(line.capacity, line.cluster.force);
  if (!format.ok()) return Fail(format.status(), kExitUsage);
  const auto questions = QuestionsIn(line.capacity);
  if (!questions.ok()) return Fail(questions.status(), kExitUsage);
  bool too_much = false;
  std::vector<v1::CapacityReport> reports;
  std::map<std::string, int> names;
  for (const std::string& directory : line.capacity.saved) {
    absl::StatusOr<v1::CapacityReport> saved = ReadSavedCapacity(directory);
    if (absl::IsNotFound(saved.status())) {
      return Fail(absl::NotFoundError(absl::StrCat(std::string(saved.status().message()),
                                                   ": --saved takes the result directory of a capacity run")),
                  kExitUsage);
    }
    if (!saved.ok()) return Fail(saved.status(), kExitIo);
    v1::CapacityReport& report = *saved;
    const int earlier = names[report.name()]++;
    if (earlier > 0) report.set_name(absl::StrCat(report.name(), " (", earlier + 1, ")"));
    AskAgain(*questions, report);
    too_much = too_much || (questions->load_per_s > 0 && report.has_load() && report.load().factor() < 1);
    reports.push_back(std::move(report));
  }
  const absl::Status written =
      PrintCapacity(std::move(reports), line.capacity.saved, line.capacity, **format, StyleOf(Stdout::kOurs, line.cluster.verbose));
  if (!written.ok()) return Fail(written, kExitIo);
  return ExitOfPrinting(too_much ? kExitThreshold : kExitOk, kExitIo);
}

}  // namespace

int Execute(const CapacityCommand& capacity, const std::string& typed) {
  const auto show_saved = [&capacity](bool prints) -> std::optional<int> {
    if (capacity.capacity.saved.empty()) return std::nullopt;
    return prints ? ShowSavedCapacity(capacity) : int{kExitOk};
  };
  return OnWorkers(
      {.options = capacity,
       .without_workers = show_saved,
       .lanes_on_each_client = true,
       .writes_results = true,
       .dry_run = capacity.dry_run,
       .has_own_method = true,
       .adapt_plan = [&capacity](v1::Plan& plan) { return FitPlanToCapacity(capacity, plan); },
       .carry_out =
           [&capacity](const Stage& stage, const v1::Plan& plan) { return Capacity(stage, capacity, plan); }},
      typed);
}

}  // namespace iobench

