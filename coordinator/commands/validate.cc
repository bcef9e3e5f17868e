// The command `validate`: the workers are gathered and looked at as by preflight, then the checks run on them.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/roster/roster.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/terminal_width.h"
#include "common/text/units.h"
#include "common/version.h"
#include "coordinator/assemble/assembly.h"
#include "coordinator/commands/conductor_setup.h"
#include "coordinator/commands/job_commands.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/conduct/phase_loop.h"
#include "coordinator/conduct/run_recorder.h"
#include "coordinator/live/display.h"
#include "coordinator/net_check/net_check.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/preflight/preflight_text.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/fitted_stream.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/validate/validate_formats.h"
#include "coordinator/saved_run/redact.h"
#include "coordinator/validate/checks/fault.h"
#include "coordinator/validate/choice.h"
#include "coordinator/validate/measurement.h"
#include "coordinator/validate/performance/performance.h"
#include "coordinator/validate/validator.h"

namespace iobench {
namespace {

// Whether to show progress until there is a report, so that the last check of a run that hangs is known.
bool SaysProgress(const ValidateCommand& line) {
  return line.cluster.progress || isatty(STDERR_FILENO) != 0;
}

void SayWhichCheck(const ValidateCommand& line, const Check& check, size_t number, size_t count) {
  if (!SaysProgress(line)) return;
  std::cerr << "check " << number << " of " << count << ": " << check.name << ": " << check.title
            << std::endl;
}

std::vector<uint32_t> OneOfEachClient(std::span<const Member> members) {
  std::vector<uint32_t> first_of_client;
  std::set<uint32_t> clients;
  for (const Member& member : members) {
    if (clients.insert(member.client).second) first_of_client.push_back(member.number);
  }
  return first_of_client;
}

// The format that the options ask for, if it suits the output that they select.
absl::StatusOr<const ValidateFormat*> ValidateFormatOf(const ValidateOptions& options) {
  auto format = ValidateFormatNamed(options.format);
  if (!format.ok()) return format;
  const bool on_terminal = options.output.empty() && isatty(STDOUT_FILENO) != 0;
  if ((*format)->content == ValidateFormat::Content::kBinary && on_terminal) {
    return absl::InvalidArgumentError(
        absl::StrCat("--format ", options.format, " is not for a terminal: name a file with --output"));
  }
  // Before the checks, not after them.
  if (!options.output.empty()) IOBENCH_RETURN_IF_ERROR(CheckOutputFile(options.output, options.replace));
  return format;
}

absl::Status WriteReport(const ValidateOptions& options, const ValidateFormat& format,
                         v1::ValidateReport report) {
  if (options.redact) Redaction().Redact(report);
  if (options.output.empty()) return format.write(report, StyleOf(Stdout::kOurs, false), std::cout);
  return WriteFileAtomically(options.output,
                             [&](std::ostream& out) { return format.write(report, ConsoleStyle(), out); });
}

int ExitCodeFor(const absl::Status& ended, const v1::ValidateReport& report) {
  if (absl::IsCancelled(ended)) return kExitInterrupted;
  // What a check has found counts more than a worker that was lost later, or files that are left.
  if (HasNewFailure(report)) return kExitThreshold;
  if (absl::IsUnavailable(ended)) return kExitPartial;
  if (!ended.ok()) return kExitIo;
  return HasVerdict(report) ? kExitOk : kExitUsage;
}

// Collects what the checks of performance need to know of the phases, and says which phase runs.
class PhaseListener final : public RunObserver {
 public:
  explicit PhaseListener(const ValidateCommand& line) : line_(line) {}

  void RunStarts(const v1::RunReport& report) override {
    const v1::Plan& plan = report.run().plan();
    std::cerr << "measuring performance: " << plan.phases_size() << " phases, about "
              << FormatSeconds(SecondsOfPhases(plan)) << std::endl;
  }
  void PhasePrepares(const PhaseProgress& progress) override {
    if (!SaysProgress(line_)) return;
    std::cerr << "phase " << progress.index + 1 << " of " << progress.phase_count << ": "
              << Printable(progress.name) << std::endl;
  }
  void PhaseEnds(const v1::RunReport&, const v1::PhaseReport& phase) override {
    if (phase.errors().empty()) return;
    const v1::ErrorReport& error = phase.errors(0);
    errors_[phase.name()] = absl::StrCat(error.client(), error.client().empty() ? "" : ": ", error.message());
  }
  const std::map<std::string, std::string>& errors() const { return errors_; }

 private:
  const ValidateCommand& line_;
  std::map<std::string, std::string> errors_;
};

// What is known of the workers when the checks begin. `context`: what a measurement works with.
struct Examined {
  const Assembly& assembly;
  const LoopContext& context;

  Cluster& cluster() const { return context.cluster; }
};

// Runs the checks on the workers.
class Validation {
 public:
  Validation(const Stage& stage, const ValidateCommand& line, CheckChoice choice, const PhaseListener& listener)
      : line_(line),
        own_boot_id_(stage.coordinator.boot_id()),
        choice_(std::move(choice)),
        listener_(listener),
        begin_ns_(MonotonicNowNs()) {
    report_.set_schema("cluster-iobench validation 1");
    report_.set_program_version(kProgramVersion);
    report_.set_command(stage.command);
    report_.set_started_at(WallClockIso8601());
    report_.set_whole(line.validate.whole);
    std::random_device random;
    report_.set_seed(line.validate.seed_given ? line.validate.seed : random());
  }

  void Run(const Examined& examined) {
    const v1::Plan& plan = examined.context.recorder.plan();
    const PreflightReport& preflight = examined.assembly.preflight();
    if (plan.targets_size() > 1) {
      Refuse(absl::InvalidArgumentError(
          "validate checks one directory, but workers have paths of their own (client list, worker --path): start them "
          "without, and give --path to validate"));
      return;
    }
    const ValidateOptions& options = line_.validate;
    const v1::Target& target = plan.targets(0);
    report_.set_path(target.path());
    FileCalls files(examined.cluster(), *examined.context.look.clocks, target);
    const std::vector<Member>& members = examined.cluster().members();
    uint32_t left_out = 0;
    std::vector<uint32_t> peers = PeersOf(members, preflight.findings, left_out);
    CheckContext context{.files = files,
                         .peers = std::move(peers),
                         .left_out = left_out,
                         .one_of_each = OneOfEachClient(members),
                         .client_names = ClientNamesOf(examined.cluster().roster()),
                         .client_count = examined.cluster().client_count(),
                         .whole = options.whole,
                         .limits = {.visible_within_s = options.visible_within_s,
                                    .clock_difference_s = options.clock_difference_s,
                                    .recall_within_s = options.recall_within_s,
                                    .stall_within_s = options.stall_within_s,
                                    .fault_timeout_s = options.fault_timeout_s,
                                    .lock_free_within_s = options.lock_free_within_s},
                         .name_count = options.names,
                         .fault_hook = options.fault_hook,
                         .client_hook = options.client_hook,
                         .own_boot_id = own_boot_id_,
                         .path = target.path(),
                         .targets = examined.context.look.data->facts(),
                         .findings = preflight.findings,
                         .random = std::mt19937_64(report_.seed()),
                         .seed = static_cast<uint32_t>(report_.seed()),
                         .consistency_s = options.consistency_s};
    if (options.outlier_percent > 0) context.limits.outlier_share = options.outlier_percent / 100;
    if (choice_.expected.has_value()) context.expected = &*choice_.expected;
    context.over_quota_bytes = choice_.over_quota_bytes;
    if (choice_.measures) {
      context.measure = [&] { return Measure(examined); };
      context.measure_network = [&] { return MeasureNetwork(examined.cluster()); };
    }
    RecordClients(context, report_);
    if (context.peers.empty()) std::cerr << PreflightText(preflight, TextColumns(STDERR_FILENO));
    // A path that exists nowhere is mistyped rather than deployed wrongly.
    const bool exists_nowhere =
        context.peers.empty() && std::all_of(context.one_of_each.begin(), context.one_of_each.end(), [&](uint32_t worker) {
          return context.SeenBy(worker).problem().errno_value() == ENOENT;
        });
    if (exists_nowhere) {
      Refuse(absl::NotFoundError(absl::StrCat(target.path(), " exists on no client")));
      return;
    }
    ended_ = RunChecks(
        choice_, context,
        [this](const Check& check, size_t number, size_t count) {
          SayWhichCheck(line_, check, number, count);
        },
        report_);
  }

  // Nothing can be checked, and this is why: the report says so of every check that was chosen.
  void Refuse(absl::Status why, int exit_code = kExitUsage) {
    ended_ = std::move(why);
    refused_ = exit_code;
    SkipChecks(choice_, std::string(ended_.message()), report_);
  }

  // Returns the exit code.
  int Report(const ValidateFormat& format) {
    report_.set_duration_s(SecondsFrom(MonotonicNowNs() - begin_ns_));
    const int exit_code = refused_.has_value() ? *refused_ : ExitCodeFor(ended_, report_);
    report_.set_exit_code(exit_code);
    // What was refused before any check is one line for people; who waits for a file gets it in every ending.
    const bool only_says_why = refused_.has_value() && line_.validate.output.empty();
    const absl::Status written =
        only_says_why ? absl::OkStatus() : WriteReport(line_.validate, format, report_);
    if (!ended_.ok()) PrintError(std::string(ended_.message()));
    if (ended_.ok() && exit_code == kExitUsage) PrintError("no check could run");
    if (!written.ok()) return Fail(written, exit_code == kExitOk ? int{kExitIo} : exit_code);
    return ExitOfPrinting(exit_code, kExitIo);
  }

 private:
  absl::StatusOr<Performance> Measure(const Examined& examined) {
    IOBENCH_ASSIGN_OR_RETURN(const v1::RunReport* const report, MeasurePhases(examined.assembly, examined.context));
    return Performance{.report = *report, .errors = listener_.errors(), .problem = ""};
  }
  absl::StatusOr<NetworkOfClients> MeasureNetwork(Cluster& cluster) {
    const NetTestOptions test{
        .told_host = line_.cluster.coordinator_host, .record_bytes = kNetTestRecordBytes, .together = false};
    NetworkOfClients network;
    const std::vector<Member>& members = cluster.members();
    // Without clients elsewhere there is no network to measure.
    if (std::all_of(members.begin(), members.end(),
                    [this](const Member& member) { return IsOnHost(member.facts, own_boot_id_); })) {
      return network;
    }
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<NetFigures> figures, TestNetwork(cluster, own_boot_id_, test));
    for (const NetFigures& client : figures) {
      if (client.same_host) continue;
      network[client.host] = {.to = client.to_bytes_per_s, .from = client.from_bytes_per_s};
    }
    return network;
  }
  const ValidateCommand& line_;
  const std::string own_boot_id_;
  const CheckChoice choice_;
  const PhaseListener& listener_;
  const int64_t begin_ns_;
  v1::ValidateReport report_;
  absl::Status ended_;
  std::optional<int> refused_;  // nothing was checked, ended_ says why: the exit code
};

// Checks whether a shared file system is deployed correctly, and prints or writes the report. `plan`: names the
// directory, and has the phases that the checks of performance judge, if there are any. kExitThreshold: a check has
// failed that is not waived; kExitPartial: a worker was lost; kExitIo: something that validate made could not be
// removed, or the report could not be written.
int Validate(const Stage& stage, const ValidateCommand& line, const v1::Plan& plan) {
  auto choice = ChoiceFrom(line.validate);
  if (!choice.ok()) return Fail(choice.status(), kExitUsage);
  const auto format = ValidateFormatOf(line.validate);
  if (!format.ok()) return Fail(format.status(), kExitUsage);
  PhaseListener listener(line);
  Validation validation(stage, line, *std::move(choice), listener);
  ConductorOptions options = OptionsFor(stage, line);
  options.on_fault = OnFault::kList;
  Cluster cluster(stage.transport, options.run_id, stage.interrupt, options.patience, options.clock);
  RunRecorder recorder(options, stage.coordinator, plan, stage.transport.name());
  Assembly assembly(cluster, options, stage.coordinator, recorder.plan());
  // It does without the comparison of --per-client, and decides about data when its phases run.
  absl::Status gathered = assembly.Gather(listener);
  std::unique_ptr<Look> look;
  if (gathered.ok()) {
    auto inspected = assembly.InspectWorkers(recorder.began_at(), /*allows_one_client=*/true);
    gathered = inspected.status();
    if (inspected.ok()) look = *std::move(inspected);
  }
  if (!gathered.ok()) {
    assembly.Refuse(gathered);
    validation.Refuse(gathered, assembly.ExitOfRefusal(stage.interrupt));
    return validation.Report(**format);
  }
  const LoopContext context{.cluster = cluster,
                            .look = *look,
                            .recorder = recorder,
                            .observer = listener,
                            .interrupt = stage.interrupt,
                            .options = options};
  validation.Run({.assembly = assembly, .context = context});
  cluster.Dismiss();
  return validation.Report(**format);
}

}  // namespace

int Execute(const ValidateCommand& validate, const std::string& typed) {
  std::optional<PhaseAmounts> measured;  // by the checks of performance; nullopt: nothing
  const auto list = [&validate](bool prints) -> std::optional<int> {
    if (!validate.validate.list) return std::nullopt;
    const FittedStream fitted(std::cout, STDOUT_FILENO);
    if (prints) std::cout << ListOfChecks() << std::flush;
    return kExitOk;
  };
  const auto check_options = [&]() -> absl::Status {
    IOBENCH_ASSIGN_OR_RETURN(const CheckChoice choice, ChoiceFrom(validate.validate));
    IOBENCH_RETURN_IF_ERROR(ValidateFormatOf(validate.validate).status());
    if (choice.measures) measured = choice.amounts;
    return absl::OkStatus();
  };
  const auto use_phases = [&measured](v1::Plan& plan) {
    if (measured.has_value()) {
      UsePerformancePhases(*measured, plan);
      CompletePlan(plan);
    }
    return absl::OkStatus();
  };
  return OnWorkers({.options = validate,
                    .without_workers = list,
                    .before_plan = check_options,
                    .adapt_plan = use_phases,
                    .carry_out =
                        [&validate](const Stage& stage, const v1::Plan& plan) {
                          return Validate(stage, validate, plan);
                        }},
                   typed);
}

}  // namespace iobench

