#include "coordinator/saved_run/resume_point.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "coordinator/report/result_store.h"

namespace iobench {
namespace {

constexpr int kInterruptedCode = 130;

std::string EndOf(const v1::RunRecord& run) {
  if (!run.finished()) return "its coordinator was killed or cut off";
  if (run.exit_code() == kInterruptedCode) return "it was interrupted";
  if (run.problems_size() > 0) return run.problems(run.problems_size() - 1).message();
  if (run.skipped_phases_size() > 0) return "it reached its --max-duration";
  return absl::StrCat("it ended with exit code ", run.exit_code());
}

// A process that took over the number of the coordinator has another name.
bool IsProgram(int64_t pid) {
  std::error_code error, own_error;
  const auto file = std::filesystem::read_symlink(absl::StrCat("/proc/", pid, "/exe"), error);
  const auto own = std::filesystem::read_symlink("/proc/self/exe", own_error);
  if (!error && !own_error && file == own) return true;
  const auto name = ReadSmallFile("process name", absl::StrCat("/proc/", pid, "/comm"), 64);
  return name.ok() && name->starts_with("cluster-iobenc");
}

absl::Status CheckHasEnded(const v1::RunRecord& run, const std::string& directory,
                           const ResumingProgram& here, bool force) {
  const v1::WorkerFacts& coordinator = run.coordinator();
  if (run.finished()) return absl::OkStatus();
  if (coordinator.boot_id() == here.boot_id) {
    if (coordinator.pid() == ::getpid() || !IsProgram(coordinator.pid())) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(directory, ": this run is still going on (process ",
                                                      coordinator.pid(), " of this host)"));
  }
  if (coordinator.host() == here.host || force) return absl::OkStatus();  // this host was restarted
  return absl::FailedPreconditionError(absl::StrCat(
      directory, ": whether this run is still going on cannot be seen from here: look for process ",
      coordinator.pid(), " on ", coordinator.host(), ", and use --force if it is gone"));
}

// True if the run of this phase, the last that was saved, has to be repeated.
bool IsUnfinished(const v1::PhaseRecord& phase) {
  return phase.interrupted() ||
         std::any_of(phase.workers().begin(), phase.workers().end(), [](const v1::WorkerPhaseResult& worker) {
           return worker.lost() || !worker.refused_reason().empty();
         });
}

}  // namespace

absl::StatusOr<ResumePoint> FindResumePoint(const std::string& directory, const ResumingProgram& here,
                                            bool force) {
  IOBENCH_ASSIGN_OR_RETURN(SavedRun saved, SavedRun::Open(directory));
  const v1::RunRecord& run = saved.run();
  if (run.program_version() != here.version) {
    return absl::FailedPreconditionError(absl::StrCat(
        directory, ": version ", run.program_version(), " began this run, and this is ", here.version,
        ": figures of two versions do not belong into one run; resume it with that version, or start a new run"));
  }
  if (run.plan().soak_s() > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        directory,
        ": a soak cannot be resumed, because it has no list of phases that remain: start a new one"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckHasEnded(run, directory, here, force));
  v1::PhaseRecord last;
  for (size_t position = 0; position < saved.phase_files().size(); ++position) {
    const absl::Status read = saved.Load(position, last, nullptr);
    saved.Note(position, read.ok() ? absl::StatusOr<v1::FileDigest>(v1::FileDigest()) : read);
  }
  saved.RecordEnd();
  if (!saved.warnings().empty()) {
    return absl::DataLossError(absl::StrCat(
        absl::StrJoin(saved.warnings(), "; "),
        ": restore the files from a complete copy of the run, or start a new run with another --out"));
  }
  const auto saved_phases = static_cast<uint32_t>(saved.phase_files().size());
  const uint32_t all_phases = static_cast<uint32_t>(run.plan().phases_size()) * run.plan().repetitions();
  ResumePoint point;
  point.directory = directory;
  point.run = run;
  point.crashed = !run.finished();
  point.ended_by = EndOf(run);
  point.complete = run.finished() && saved_phases == all_phases && !last.interrupted();
  point.first_phase = saved_phases;
  point.begun_before = point.crashed || run.problems_size() > 0;
  if (saved_phases > 0 && !point.complete && IsUnfinished(last)) {
    --point.first_phase;
    point.begun_before = true;
    const auto phase_count = static_cast<uint32_t>(run.plan().phases_size());
    // A coordinator that was killed has saved no list of the phases that it shortened.
    point.repeats_shortened =
        run.finished() && phase_count > 0 &&
        WasShortened(run.plan().phases(static_cast<int>(point.first_phase % phase_count)), last);
  }
  return point;
}

bool WasShortened(const v1::Phase& planned, const v1::PhaseRecord& record) {
  if (record.interrupted()) return false;
  const v1::StopRule& stop = record.phase().stop();
  if (stop.time_s() < planned.stop().time_s()) return true;
  if (stop.deadline_s() == planned.stop().deadline_s()) return false;
  // A deadline that no lane reached has changed nothing.
  for (const v1::WorkerPhaseResult& worker : record.workers()) {
    for (const v1::LaneResult& lane : worker.lanes()) {
      if (lane.deadline_worker_ns() != 0) return true;
    }
  }
  return false;
}

std::vector<uint64_t> RunIdsOf(const v1::RunRecord& saved) {
  std::vector<uint64_t> ids = {saved.run_number()};
  ids.insert(ids.end(), saved.resumed_run_ids().begin(), saved.resumed_run_ids().end());
  return ids;
}

}  // namespace iobench
