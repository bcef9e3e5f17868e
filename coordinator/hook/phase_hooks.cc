#include "coordinator/hook/phase_hooks.h"

#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/clock.h"
#include "common/own_files/own_file.h"
#include "common/process/child_process.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/files/files.h"

namespace iobench {
namespace {

constexpr int64_t kAfterInterruptNs = 5 * kNanosPerSecond;
// Most commands end earlier, so that nobody waits for them.
constexpr int64_t kWarnAfterInterruptNs = kNanosPerSecond;
// mpirun kills one second after its Ctrl-C, and most of it may be gone (kInterruptGraceNs).
constexpr int64_t kAfterInterruptOfMpiNs = 200'000'000;

std::string StatusOfPhase(const v1::PhaseReport& report, const absl::Status& ended) {
  if (report.interrupted()) return "interrupted";
  if (!ended.ok() || HasFailed(report)) return "failed";
  return report.not_whole().empty() ? "ok" : "partial";
}

// In place of the log of an earlier run.
absl::StatusOr<UniqueFd> NewLog(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const OwnFile log, OwnFile::At(path));
  IOBENCH_RETURN_IF_ERROR(log.Remove());
  return log.CreateNew();
}

}  // namespace

std::map<std::string, std::string> VariablesOf(const v1::Plan& plan, const v1::PhaseRecord& record,
                                               const std::string& out_directory) {
  const v1::Phase& phase = record.phase();
  const v1::Operation& operation =
      phase.assignments().empty() ? v1::Operation::default_instance() : phase.assignments(0).operation();
  std::vector<std::string> paths;
  for (int i = 0; i < plan.targets_size(); ++i) {
    const bool used = phase.only_target() == 0 || static_cast<int>(phase.only_target()) == i + 1;
    if (used) paths.push_back(plan.targets(i).path());
  }
  std::error_code ignored;
  return {{"IOBENCH_PHASE", phase.name()},
          {"IOBENCH_INDEX", absl::StrCat(record.index())},
          {"IOBENCH_REPETITION", absl::StrCat(record.repetition())},
          {"IOBENCH_OPERATION", operation.name()},
          {"IOBENCH_RECORD_BYTES", absl::StrCat(operation.record_bytes())},
          {"IOBENCH_PATHS", absl::StrJoin(paths, "\n")},
          {"IOBENCH_OUT", std::filesystem::absolute(out_directory, ignored).string()}};
}

std::map<std::string, std::string> VariablesOf(const v1::PhaseReport& report, const absl::Status& ended) {
  const double rate = report.headline().bytes_per_s();
  return {{"IOBENCH_STATUS", StatusOfPhase(report, ended)},
          {"IOBENCH_BYTES_PER_S", std::isfinite(rate) ? absl::StrFormat("%.0f", rate) : ""}};
}

absl::Status PhaseHooks::Before(const v1::Plan& plan, v1::PhaseRecord& record) {
  return Run("before", commands_.before_phase, VariablesOf(plan, record, out_directory_), AtInterrupt::kKill,
             record);
}

absl::Status PhaseHooks::After(const v1::Plan& plan, const v1::PhaseReport& report, const absl::Status& ended,
                               v1::PhaseRecord& record) {
  std::map<std::string, std::string> variables = VariablesOf(plan, record, out_directory_);
  variables.merge(VariablesOf(report, ended));
  return Run("after", commands_.after_phase, std::move(variables), AtInterrupt::kLetEnd, record);
}

absl::Status PhaseHooks::Run(const std::string& name, const std::string& command,
                             std::map<std::string, std::string> variables, AtInterrupt at_interrupt,
                             v1::PhaseRecord& record) {
  if (command.empty()) return absl::OkStatus();
  const std::string directory = absl::StrCat(out_directory_, "/hooks");
  IOBENCH_RETURN_IF_ERROR(files::MakeDirectories(directory));
  const std::string log = absl::StrFormat("%s/phase-%03d-%s.log", directory, record.index(), name);
  const std::string what = absl::StrCat("--", name, "-phase `", command, "` (its output is in ", log, ")");
  const CoordTime begin = cluster_.Now();
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd output, NewLog(log));
  IOBENCH_ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::StartCommand(command, variables, output.get()));
  const int64_t grace_ns = cluster_.transport_name() == "mpi" ? kAfterInterruptOfMpiNs : kAfterInterruptNs;
  std::optional<int64_t> interrupted_at_ns;
  bool warned = false;
  const auto may_go_on = [&] {
    if (!cluster_.interrupted()) return true;
    const int64_t now_ns = MonotonicNowNs();
    if (!interrupted_at_ns.has_value()) interrupted_at_ns = now_ns;
    if (now_ns >= *interrupted_at_ns + kWarnAfterInterruptNs && !std::exchange(warned, true)) {
      LogWarning(absl::StrCat("interrupted: --", name, "-phase is still running, and will be killed after ",
                              FormatSeconds(SecondsFrom(grace_ns)), "; press Ctrl-C again to stop waiting"));
    }
    return now_ns < *interrupted_at_ns + grace_ns;
  };
  // Meanwhile, the workers' events are taken, and dropped if nobody listens.
  absl::Status status = cluster_.WaitUntil([&] { return process.Ended() || !may_go_on(); },
                                           {.deadline = begin + NanosFrom(commands_.timeout_s),
                                            .interruptible = at_interrupt == AtInterrupt::kKill});
  if (status.ok() && !process.Ended()) {
    status = absl::CancelledError(
        absl::StrCat("killed ", FormatSeconds(SecondsFrom(grace_ns)), " after the interrupt"));
  } else if (status.ok() && !process.ending().well()) {
    status = absl::InternalError(process.ending().Text());
  } else if (absl::IsDeadlineExceeded(status)) {
    status = absl::DeadlineExceededError(
        absl::StrCat("killed after ", FormatSeconds(commands_.timeout_s), " (--hook-timeout)"));
  }
  process.KillGroup();
  v1::StepResult& step = *record.add_hooks();
  step.set_name(absl::StrCat(name, "-phase"));
  step.set_seconds(SecondsFrom(cluster_.Now() - begin));
  step.set_outcome(status.ok() ? command : absl::StrCat(command, ": ", status.message()));
  return absl::IsCancelled(status) ? status : Annotate(status, what);
}

}  // namespace iobench
