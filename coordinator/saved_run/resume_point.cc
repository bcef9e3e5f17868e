#include "coordinator/saved_run/resume_point.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/phase_files.h"
#include "common/roster/roster.h"
#include "common/status_util.h"
#include "coordinator/report/raw_files.h"
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

// Whether the run went on without the worker's client in this phase on purpose.
bool WasWithout(const v1::RunRecord& run, uint32_t phase, uint32_t worker) {
  const Roster roster = RosterOf(run);
  if (worker >= roster.worker_count()) return false;
  const std::string& client = roster.clients[roster.workers[worker].client].name;
  for (const v1::Resumption& resumption : run.resumptions()) {
    const auto& without = resumption.without();
    const auto& again = resumption.measured_again();
    const bool measured = phase >= resumption.first_phase() || std::find(again.begin(), again.end(), phase) != again.end();
    if (measured && std::find(without.begin(), without.end(), client) != without.end()) return true;
  }
  return false;
}

// True if the run of this phase, the last that was saved, has to be repeated.
bool IsUnfinished(const v1::RunRecord& run, const v1::PhaseRecord& phase) {
  return phase.interrupted() ||
         std::any_of(phase.workers().begin(), phase.workers().end(), [&](const v1::WorkerPhaseResult& worker) {
           const bool lost = worker.lost() && !WasWithout(run, phase.index(), worker.worker());
           return lost || !worker.refused_reason().empty();
         });
}

// Whether reading a raw file has shown that its phase has to be measured again. Another error may go away.
bool ShowsDamage(const absl::Status& read) {
  return absl::IsDataLoss(read) || absl::IsNotFound(read) || absl::IsInvalidArgument(read) || ErrnoOf(read) == EIO;
}

// The name, size and time of each raw file, a line each.
std::string RawFilesState(const std::string& directory) {
  std::vector<std::string> paths = RawPhasePaths(directory);
  paths.push_back(RawRunPath(directory));
  std::string text;
  for (const std::string& path : paths) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) facts = {};
    absl::StrAppend(&text, path, " ", facts.st_ino, " ", facts.st_size, " ", facts.st_mtim.tv_sec, ".",
                    facts.st_mtim.tv_nsec, "\n");
  }
  return text;
}

// Reads all phases. `last`: becomes the last whole one, `whole` their indices, `interrupted` those of them that were.
absl::Status ReadPhases(SavedRun& saved, std::vector<uint32_t>& whole, std::vector<uint32_t>& interrupted,
                        v1::PhaseRecord& last) {
  for (size_t position = 0; position < saved.phase_files().size(); ++position) {
    v1::PhaseRecord phase;
    const absl::Status read = saved.Load(position, phase, nullptr);
    if (!read.ok() && !ShowsDamage(read)) return read;
    saved.Note(position, read.ok() ? absl::StatusOr<v1::FileDigest>(v1::FileDigest()) : read);
    if (!read.ok()) continue;
    whole.push_back(phase.index());
    if (phase.interrupted()) interrupted.push_back(phase.index());
    last = std::move(phase);
  }
  saved.RecordEnd();
  return absl::OkStatus();
}

// --until steady: after `end` phases the run found that its rounds were steady. Otherwise something else ended it.
bool EndedWithRounds(const v1::RunRecord& run, uint32_t end) {
  return run.plan().has_until_steady() && end > 0 && end % static_cast<uint32_t>(run.plan().phases_size()) == 0 &&
         run.problems().empty() && run.exit_code() == 0;
}

}  // namespace

absl::StatusOr<ResumePoint> FindResumePoint(const std::string& directory, const std::string& version) {
  ResumePoint point;
  point.directory = directory;
  point.raw_files = RawFilesState(directory);
  IOBENCH_ASSIGN_OR_RETURN(SavedRun saved, SavedRun::Open(directory));
  const v1::RunRecord& run = saved.run();
  if (run.program_version() != version) {
    return absl::FailedPreconditionError(absl::StrCat(
        directory, ": version ", run.program_version(), " began this run, and this is ", version,
        ": figures of two versions do not belong into one run; resume it with that version, or start a new run"));
  }
  if (run.plan().soak_s() > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        directory,
        ": a soak cannot be resumed, because it has no list of phases that remain: start a new one"));
  }
  v1::PhaseRecord last;
  std::vector<uint32_t> whole, interrupted;
  IOBENCH_RETURN_IF_ERROR(ReadPhases(saved, whole, interrupted, last));
  const auto phase_count = static_cast<uint32_t>(run.plan().phases_size());
  const uint32_t all_phases = phase_count * MostRepetitions(run.plan());
  if (!whole.empty() && whole.back() >= all_phases) {
    return absl::DataLossError(absl::StrCat(saved.phase_files().back(), ": the plan has only ", all_phases,
                                            " phases: restore the files from a complete copy of the run"));
  }
  RunPart& part = point.part;
  part.first_phase = whole.empty() ? 0 : whole.back() + 1;
  for (const v1::MissingPhase& missing : saved.missing_phases()) {
    point.damaged.push_back(
        absl::StrCat(missing.file(), ": ", missing.problem(), " (phase ", missing.index() + 1,
                     missing.name().empty() ? "" : absl::StrCat(", ", missing.name()), ")"));
    if (missing.index() < part.first_phase) part.again.push_back(missing.index());
  }
  // One that an earlier part measured again, but not to its end.
  for (const uint32_t phase : interrupted) {
    if (phase + 1 < part.first_phase) part.again.push_back(phase);
  }
  std::sort(part.again.begin(), part.again.end());
  point.run = run;
  point.crashed = !run.finished();
  point.ended_by = EndOf(run);
  point.complete =
      run.finished() && part.again.empty() && !last.interrupted() &&
      (part.first_phase == all_phases || EndedWithRounds(run, part.first_phase));
  // A file that is lost at the end may have had its phase.
  part.begun_before = point.crashed || run.problems_size() > 0 || !point.damaged.empty();
  if (!whole.empty() && !point.complete && IsUnfinished(run, last)) {
    --part.first_phase;
    part.begun_before = true;
    // A coordinator that was killed has saved no list of the phases that it shortened.
    point.repeats_shortened =
        run.finished() && phase_count > 0 &&
        WasShortened(run.plan().phases(static_cast<int>(part.first_phase % phase_count)), last);
  }
  return point;
}

absl::Status LeaveOutClients(const std::vector<std::string>& clients, ResumePoint& point) {
  const Roster roster = RosterOf(point.run);
  std::vector<std::string> names;
  for (const Roster::Client& client : roster.clients) {
    if (!client.server) names.push_back(client.name);
  }
  std::set<uint32_t> absent;
  for (const std::string& name : clients) {
    const auto named = std::find_if(roster.clients.begin(), roster.clients.end(), [&](const Roster::Client& client) {
      return !client.server && client.name == name;
    });
    if (named == roster.clients.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--without ", name, ": this run has no such client; it has ",
                                                     absl::StrJoin(names, ", ")));
    }
    absent.insert(named->workers.begin(), named->workers.end());
    point.without.push_back(name);
  }
  if (absent.size() >= roster.client_workers && !absent.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--without would leave no client: this run has ", absl::StrJoin(names, ", ")));
  }
  point.absent_workers.assign(absent.begin(), absent.end());
  return absl::OkStatus();
}

absl::Status CheckUnchanged(const ResumePoint& point) {
  if (RawFilesState(point.directory) == point.raw_files) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(point.directory, ": its raw files have changed since they were read: another process works there; "
                                    "nothing was changed: resume the run when that has ended"));
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
