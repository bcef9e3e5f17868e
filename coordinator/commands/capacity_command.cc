// The command `capacity`: a run whose phases follow from what the earlier ones measured.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

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
#include "coordinator/capacity/capacity_phases.h"
#include "coordinator/capacity/capacity_report.h"
#include "coordinator/capacity/capacity_search.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/capacity/capacity_formats.h"
#include "coordinator/report/console/results_line.h"
#include "coordinator/conduct/conductor.h"
#include "coordinator/live/display.h"
#include "coordinator/process/failure.h"
#include "coordinator/commands/run_command.h"

namespace iobench {
namespace {

constexpr char kCapacityFile[] = "capacity.json";
constexpr char kRawCapacityFile[] = "raw/capacity.pb";  // --saved reads it; JSON has no NaN
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

absl::Status PrintCapacity(std::span<const v1::CapacityReport> reports, const CapacityOptions& options,
                           const CapacityFormat& format, const ConsoleStyle& style) {
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

// Says on stderr which step begins.
class StepListener final : public RunObserver {
 public:
  StepListener(bool speaks, const std::unique_ptr<CapacitySearch>& search)
      : speaks_(speaks), search_(search) {}
  void PhasePrepares(const PhaseProgress& progress) override {
    if (!speaks_) return;
    std::cerr << "phase " << Printable(progress.phase->name());
    if (progress.index == 0 && search_ != nullptr)
      std::cerr << "; total time about " << FormatSeconds(EstimatedSeconds(search_->settings()));
    std::cerr << std::endl;
  }

 private:
  const bool speaks_;
  const std::unique_ptr<CapacitySearch>& search_;
};

// Chooses the phases while the conductor runs them.
class CapacityRun {
 public:
  CapacityRun(const Stage& stage, const CapacityCommand& line, const v1::Plan& plan)
      : stage_(stage),
        line_(line),
        plan_(plan),
        begin_ns_(MonotonicNowNs()),
        started_at_(WallClockIso8601()) {}

  // Called when the workers have joined. InvalidArgument: --max-duration is too short.
  absl::Status Begin(std::span<const Member> members) {
    std::map<uint32_t, std::vector<uint32_t>> clients;
    for (const Member& member : members) clients[member.client].push_back(member.number);
    for (auto& [client, workers] : clients) workers_of_client_.push_back(std::move(workers));
    CapacitySettings settings = SettingsOf(line_, plan_, static_cast<uint32_t>(workers_of_client_.size()));
    if (line_.cluster.max_duration_s > 0)
      IOBENCH_RETURN_IF_ERROR(FitInto(line_.cluster.max_duration_s, settings, notes_));
    search_ = std::make_unique<CapacitySearch>(settings);
    return absl::OkStatus();
  }

  std::optional<v1::Phase> NextPhase(const PhasesSoFar& so_far) {
    // The first phase is the plan's own: it creates the files and is part of no figure.
    if (so_far.plan.phases_size() > 1) search_->Note(FiguresOf(so_far.newest, search_->settings().slo));
    const std::optional<CapacityStep> step = search_->Next();
    if (!step.has_value()) return std::nullopt;
    const double left_s = line_.cluster.max_duration_s - SecondsFrom(MonotonicNowNs() - measuring_since_ns_);
    if (line_.cluster.max_duration_s > 0 && left_s < step->seconds + search_->settings().warmup_s) {
      out_of_time_ = true;
      return std::nullopt;
    }
    return PhaseOf(*step, so_far.plan.phases(0), workers_of_client_,
                   static_cast<size_t>(so_far.plan.phases_size()));
  }

  v1::CapacityReport Report(const Conductor& conductor, int exit_code) const {
    const v1::Phase& workload = conductor.report().run().plan().phases(0);
    absl::StatusOr<CapacityQuestions> questions = QuestionsIn(line_.capacity);
    v1::CapacityReport report = ReportOf(
        *search_,
        {.workload = WorkloadText(workload),
         .record_bytes =
             workload.assignments_size() == 1 ? workload.assignments(0).operation().record_bytes() : 0,
         .worker_count = static_cast<uint32_t>(conductor.report().run().worker_count()),
         .queue_depth = QueueDepthOf(workload),
         .mix_per_s =
             line_.given.Has("rate") ? 0 : DuePerSecond(workload) / line_.given.Decimal("mix-factor", 1)},
        *questions);
    report.set_program_version(kProgramVersion);
    report.set_command(stage_.command);
    report.set_started_at(started_at_);
    report.set_duration_s(SecondsFrom(MonotonicNowNs() - begin_ns_));
    report.set_name(line_.cluster.label.empty() ? conductor.report().run().id() : line_.cluster.label);
    std::string paths;
    for (const v1::Target& target : plan_.targets())
      absl::StrAppend(&paths, paths.empty() ? "" : ", ", target.path());
    report.set_path(paths);
    for (const std::string& note : notes_) report.add_warnings(note);
    if (out_of_time_) report.add_warnings("--max-duration ended before everything was measured");
    if (out_of_time_ || exit_code == kExitInterrupted || exit_code == kExitPartial)
      report.set_complete(false);
    const bool too_much = (report.has_load() && report.load().factor() < 1) ||
                          (search_->settings().mix_per_s > 0 && !report.has_max());
    if (exit_code == kExitOk && (too_much || report.slo().outcome() == "cannot_be_met"))
      exit_code = kExitThreshold;
    report.set_exit_code(exit_code);
    return report;
  }

  void BeginMeasuring() { measuring_since_ns_ = MonotonicNowNs(); }
  bool has_begun() const { return search_ != nullptr; }
  const std::unique_ptr<CapacitySearch>& search() const { return search_; }

 private:
  const Stage& stage_;
  const CapacityCommand& line_;
  const v1::Plan& plan_;
  const int64_t begin_ns_;
  int64_t measuring_since_ns_ = MonotonicNowNs();
  const std::string started_at_;
  std::vector<std::vector<uint32_t>> workers_of_client_;
  std::unique_ptr<CapacitySearch> search_;
  std::vector<std::string> notes_;
  bool out_of_time_ = false;
};

absl::Status SaveCapacity(const v1::CapacityReport& report, const std::string& directory) {
  const v1::CapacityReport* const one = &report;
  IOBENCH_RETURN_IF_ERROR(
      WriteFileAtomically(absl::StrCat(directory, "/", kRawCapacityFile), [&](std::ostream& out) {
        report.SerializeToOstream(&out);
        return absl::OkStatus();
      }));
  return WriteFileAtomically(absl::StrCat(directory, "/", kCapacityFile), [&](std::ostream& out) {
    return (*CapacityFormatNamed("json"))->write({one, 1}, ConsoleStyle(), out);
  });
}

int PrintCapacityPlan(const Conductor& conductor, const CapacityCommand& line, const v1::Plan& plan) {
  CapacitySettings settings =
      SettingsOf(line, plan, static_cast<uint32_t>(conductor.report().clients_size()));
  std::vector<std::string> notes;
  if (line.cluster.max_duration_s > 0) {
    if (const absl::Status fits = FitInto(line.cluster.max_duration_s, settings, notes); !fits.ok())
      return Fail(fits, kExitUsage);
  }
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
  std::cout << "space " << FormatBytes(static_cast<double>(conductor.bytes_needed()))
            << " in all\ntime  about " << FormatSeconds(EstimatedSeconds(settings))
            << ", plus the time to create the files" << std::endl;
  return ExitOfPrinting(kExitOk, kExitIo);
}

}  // namespace

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
  phase.set_name("0: all lanes, creating the files");
  return absl::OkStatus();
}

int Capacity(const Stage& stage, const CapacityCommand& line, const v1::Plan& plan) {
  const auto format = FormatFor(line.capacity, line.cluster.force);
  if (!format.ok()) return Fail(format.status(), kExitUsage);
  ConductorOptions options = OptionsFor(stage, line);
  options.dry_run = line.dry_run;
  options.max_duration_s = 0;  // the search keeps within it by itself
  // Closed loops begin with one lane; a mix has none of them.
  if (!(DuePerSecond(plan.phases(0)) > 0)) options.least_lanes_per_worker = 1;
  options.out_directory =
      line.cluster.out.empty() ? absl::StrCat("cluster-iobench.out/", options.run_name) : line.cluster.out;
  const std::string directory = options.out_directory;
  CapacityRun run(stage, line, plan);
  options.before_phases = [&run](Cluster& cluster) { return run.Begin(cluster.members()); };
  options.next_phase = [&run](const PhasesSoFar& so_far) {
    if (so_far.plan.phases_size() == 1) run.BeginMeasuring();
    return run.NextPhase(so_far);
  };
  StepListener listener(line.cluster.progress || isatty(STDERR_FILENO) != 0, run.search());
  v1::Plan conducted_plan = plan;
  conducted_plan.set_repetitions(1);  // the steps of the search are phases of their own
  Conductor conductor(stage.transport, listener, stage.interrupt, stage.coordinator,
                      std::move(conducted_plan), std::move(options));
  const int conducted = conductor.Run();
  if (!conductor.refusal().ok()) return Fail(conductor.refusal(), conducted);
  if (line.dry_run) return PrintCapacityPlan(conductor, line, plan);
  const v1::CapacityReport report = run.Report(conductor, conducted);
  const v1::CapacityReport* const one = &report;
  const ConsoleStyle style =
      StyleOf(stage.transport.name() == "mpi" ? Stdout::kOfMpi : Stdout::kOurs, line.cluster.verbose);
  absl::Status written = PrintCapacity({one, 1}, line.capacity, **format, style);
  written.Update(SaveCapacity(report, directory));
  const bool text_on_stdout = line.capacity.output.empty() && line.capacity.format == "text";
  (text_on_stdout ? std::cout << '\n' : std::cerr)
      << ResultsLine(directory, conductor.saved(), {kCapacityFile}) << std::endl;
  if (conducted == kExitInterrupted) PrintError("interrupted; the report shows what was measured so far");
  if (!written.ok()) return Fail(written, report.exit_code() == kExitOk ? int{kExitIo} : report.exit_code());
  return ExitOfPrinting(report.exit_code(), kExitIo);
}

int ShowSavedCapacity(const CapacityCommand& line) {
  const auto format = FormatFor(line.capacity, line.cluster.force);
  if (!format.ok()) return Fail(format.status(), kExitUsage);
  const auto questions = QuestionsIn(line.capacity);
  if (!questions.ok()) return Fail(questions.status(), kExitUsage);
  bool too_much = false;
  std::vector<v1::CapacityReport> reports;
  std::map<std::string, int> names;
  for (const std::string& directory : line.capacity.saved) {
    const std::string file = absl::StrCat(directory, "/", kRawCapacityFile);
    std::ifstream in(file, std::ios::binary);
    v1::CapacityReport report;
    if (!in)
      return Fail(absl::NotFoundError(absl::StrCat(
                      file, " cannot be read: --saved takes the result directory of a capacity run")),
                  kExitUsage);
    if (!report.ParseFromIstream(&in) || report.schema().empty())
      return Fail(absl::DataLossError(absl::StrCat(file, " is damaged")), kExitIo);
    const int earlier = names[report.name()]++;
    if (earlier > 0) report.set_name(absl::StrCat(report.name(), " (", earlier + 1, ")"));
    AskAgain(*questions, report);
    too_much = too_much || (questions->load_per_s > 0 && report.has_load() && report.load().factor() < 1);
    reports.push_back(std::move(report));
  }
  const absl::Status written =
      PrintCapacity(reports, line.capacity, **format, StyleOf(Stdout::kOurs, line.cluster.verbose));
  if (!written.ok()) return Fail(written, kExitIo);
  return ExitOfPrinting(too_much ? kExitThreshold : kExitOk, kExitIo);
}

}  // namespace iobench
