#include "coordinator/conduct/conductor.h"

#include <future>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "common/process/end_of_memory.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "common/text/shell_word.h"
#include "coordinator/files/file_patience.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/signals.h"
#include "coordinator/report/raw_files.h"

namespace iobench {
namespace {

// Makes calls on files. Workers hear from the coordinator while they hang.
template <typename Calls>
auto InTouch(Cluster& cluster, const Calls& calls) {
  const WhileFilesHang attends([&cluster] { cluster.Attend(); });
  return calls();
}

}  // namespace

Conductor::Conductor(Transport& transport, RunObserver& observer, const Interrupt& interrupt,
                     const v1::WorkerFacts& coordinator, v1::Plan plan, ConductorOptions options)
    : interrupt_(interrupt),
      observer_(observer),
      coordinator_(coordinator),
      options_(std::move(options)),
      cluster_(transport, options_.run_id, interrupt, options_.patience, options_.clock),
      recorder_(options_, coordinator_, std::move(plan), transport.name()),
      assembly_(cluster_, options_, coordinator_, recorder_.plan()) {}

absl::Status Conductor::Assemble() {
  IOBENCH_ASSIGN_OR_RETURN(look_, assembly_.Assemble(observer_, recorder_.began_at()));
  return recorder_.Begin(assembly_, cluster_, *look_);
}

int Conductor::Conduct(PhaseSource& source, const Conclude& conclude) {
  const absl::StatusOr<bool> opened = InTouch(cluster_, [this] { return recorder_.Open(); });
  if (!opened.ok()) return Refuse(opened.status());
  SayWhereAtSecondSignal();
  const bool replaces = *opened;
  PhaseLoop loop({.cluster = cluster_,
                  .look = *look_,
                  .recorder = recorder_,
                  .observer = observer_,
                  .interrupt = interrupt_,
                  .options = options_});
  if (!replaces) observer_.RunStarts(report());
  EndClearlyWithoutMemory(kExitIo);  // from now on, something has been written
  absl::Status status = loop.Claim();
  if (!status.ok() && replaces) return RefuseClaim(loop, status);
  status.Update(InTouch(cluster_, [this] { return recorder_.ReplaceEarlier(); }));
  if (replaces) observer_.RunStarts(report());
  if (status.ok()) status = RunPhases(loop, source);
  phase_costs_ = loop.costs();
  if (!status.ok() && !absl::IsCancelled(status)) recorder_.RecordProblem(status);

  // The results are already saved (each phase at its end); the exit code also depends on the removal of the data.
  recorder_.SaveRun().IgnoreError();
  // Nothing is being measured now, and removing data waits for the file system.
  std::future<std::string> digest;
  if (options_.program_digest) digest = DoConcurrently(options_.program_digest);
  LeaveData(loop);
  cluster_.Dismiss();
  std::optional<std::string> program_digest;
  if (digest.valid()) program_digest = digest.get();
  const int exit_code = recorder_.End(Verdict(status), program_digest);
  return recorder_.Finish(conclude ? conclude(exit_code) : exit_code);
}

void Conductor::SayWhereAtSecondSignal() const {
  constexpr size_t kMaxPlacesBytes = 1000;  // of hundreds of clients with storage of their own
  const std::string& saved = options_.out_directory;
  if (saved.empty()) return;
  const std::string places = UsesFiles(record().plan()) ? look_->data->WhereKept() : "";
  SayAtSecondSignal(absl::StrCat("what was measured is in ", saved, ": `cluster-iobench report ", ShellWord(saved),
                                 "` prints it", places.empty() ? "" : "; data may be left at ",
                                 places.size() > kMaxPlacesBytes ? "many places: see `cluster-iobench clean`" : places));
}

absl::Status Conductor::RunPhases(PhaseLoop& loop, PhaseSource& source) {
  if (options_.resume.has_value())
    IOBENCH_RETURN_IF_ERROR(recorder_.AdoptUpTo(options_.resume->part.first(), cluster_, observer_));
  absl::Status status = loop.Run(source);
  // Those after a phase that was to be measured again, and was not.
  status.Update(recorder_.AdoptUpTo(UINT32_MAX, cluster_, observer_));
  return status;
}

// An earlier result is as it was: nothing of it is removed before the run has its data.
int Conductor::RefuseClaim(PhaseLoop& loop, const absl::Status& why) {
  if (const absl::Status left = loop.EndData(DataKeeper::AtEnd::kRemove); !left.ok()) LogError(left.message());
  if (options_.resume.has_value()) SaveRawRun(options_.out_directory, options_.resume->run).IgnoreError();
  const int exit_code = Refuse(why);
  return exit_code == kExitUsage && !absl::IsFailedPrecondition(why) ? int{kExitIo} : exit_code;
}

void Conductor::LeaveData(PhaseLoop& loop) {
  // The faulty data is evidence.
  const bool keep_data = record().plan().keep_data();
  const bool keeps_evidence = recorder_.outcome().verification_failed && !keep_data;
  const bool keeps = keep_data || keeps_evidence;
  const absl::Status left = loop.EndData(keeps ? DataKeeper::AtEnd::kKeep : DataKeeper::AtEnd::kRemove);
  if (!left.ok()) {
    recorder_.RecordProblem(left);
  } else if (keeps_evidence) {
    recorder_.RecordProblem(absl::DataLossError(
        absl::StrCat("verification failed, so the data are kept as with -w: ", look_->data->WhereKept())));
  }
}

int Conductor::Refuse(absl::Status why) {
  assembly_.Refuse(why);
  refusal_ = std::move(why);
  return assembly_.ExitOfRefusal(interrupt_);
}

int Conductor::Verdict(const absl::Status& status) const {
  const RunRecorder::Outcome& outcome = recorder_.outcome();
  const bool lost = outcome.lost_before || cluster_.live_count() < cluster_.members().size();
  // mpirun ends the job because a rank has died, not because the user interrupted it.
  if (absl::IsCancelled(status)) return cluster_.found_dead() ? kExitPartial : kExitInterrupted;
  if (outcome.io_failed) return kExitIo;
  if (lost) return kExitPartial;
  return status.ok() ? kExitOk : kExitIo;
}

}  // namespace iobench
