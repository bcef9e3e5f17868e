#include "coordinator/conduct/conductor.h"

#include <future>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/process/end_of_memory.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "coordinator/files/patience.h"
#include "coordinator/process/failure.h"

namespace iobench {

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

int Conductor::Conduct(PhaseSource& source) {
  if (absl::Status status = OpenResults(); !status.ok()) return Refuse(status);
  EndClearlyWithoutMemory(kExitIo);  // from now on, something has been written
  PhaseLoop loop({.cluster = cluster_,
                  .look = *look_,
                  .recorder = recorder_,
                  .observer = observer_,
                  .interrupt = interrupt_,
                  .options = options_});
  const absl::Status status = loop.Run(source);
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
  return recorder_.Finish(Verdict(status), program_digest);
}

absl::Status Conductor::OpenResults() {
  {
    const WhileFilesHang stay_in_touch([this] { cluster_.Attend(); });
    IOBENCH_RETURN_IF_ERROR(recorder_.Open());
  }
  observer_.RunStarts(report());
  return recorder_.AdoptPhases(cluster_, observer_);
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
  if (interrupt_.raised()) return kExitInterrupted;
  // If none of the workers that this program has started joins, the address that it gave them is wrong.
  const bool gave_wrong_address = options_.join_watch.check != nullptr && !assembly_.any_joined();
  const bool workers_missing = absl::IsDeadlineExceeded(refusal_) && !gave_wrong_address;
  const bool workers_lost = cluster_.live_count() < cluster_.members().size();
  return workers_missing || workers_lost ? kExitPartial : kExitUsage;
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
