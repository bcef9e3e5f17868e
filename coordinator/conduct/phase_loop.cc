#include "coordinator/conduct/phase_loop.h"

#include <signal.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "common/clock.h"
#include "common/model/phase_files.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "coordinator/analysis/summarize.h"
#include "coordinator/conduct/phase_conductor.h"
#include "coordinator/files/file_patience.h"
#include "coordinator/plan/files_of_owner.h"
#include "coordinator/plan/later_needs.h"
#include "coordinator/preflight/time_estimate.h"

namespace iobench {
namespace {

// Adds steps before those that the record has.
void AddFirst(const StepsOfWorkers& steps, v1::PhaseRecord& record) {
  for (const auto& [worker, its_steps] : steps) {
    auto& list = *record.mutable_workers(static_cast<int>(worker))->mutable_steps();
    google::protobuf::RepeatedPtrField<v1::StepResult> all(its_steps.begin(), its_steps.end());
    all.MergeFrom(list);
    list.Swap(&all);
  }
}

// On the target with the least; nullopt: some worker does not know.
std::optional<uint64_t> LeastFreeBytes(std::span<const v1::WorkerTargets> facts) {
  std::optional<uint64_t> least;
  for (const v1::WorkerTargets& worker : facts) {
    for (const v1::TargetFacts& target : worker.targets()) {
      if (!target.has_free_bytes()) return std::nullopt;
      least = std::min(least.value_or(UINT64_MAX), target.free_bytes());
    }
  }
  return least;
}

}  // namespace

PhaseLoop::PhaseLoop(const LoopContext& context)
    : context_(context),
      ledger_(plan(), *context.look.layout, context.options.run_id),
      start_lead_(context.options.in_process ? StartLead::Way::kNone : StartLead::Way::kNetwork,
                  plan().lanes_per_worker()),
      samplers_(context.cluster,
                static_cast<uint32_t>(context.recorder.record().samplers_size() - context.cluster.samplers().size()),
                context.options.sample_interval_ns),
      broken_files_(plan(), *context.look.layout),
      trees_(plan()),
      hooks_(context.options.hooks, context.options.out_directory, context.cluster) {
  for (const Member& member : context.cluster.members()) {
    if (!member.absent) continue;
    broken_files_.NoteAbsent(member.number);
    trees_.NoteAbsent(member.number, plan(), *context.look.layout);
  }
}

absl::Status PhaseLoop::Claim() {
  DataKeeper& data = *context_.look.data;
  if (data.decision().uses_kept_data) ledger_.TakeOver(data.decision().kept);
  return data.Claim();
}

absl::Status PhaseLoop::Run(PhaseSource& source) {
  begin_ = context_.cluster.Now();
  start_lead_.AddRound(context_.look.clocks->round_ns());
  uint32_t index = Part().first();
  // A source may look at what an earlier part of the run has measured.
  IOBENCH_RETURN_IF_ERROR(context_.recorder.AdoptUpTo(index, context_.cluster, context_.observer));
  std::optional<v1::PhaseReport> newest;
  for (;;) {
    IOBENCH_ASSIGN_OR_RETURN(std::optional<NextPhase> next,
                             source.Next({.cluster = context_.cluster,
                                          .plan = plan(),
                                          .report = context_.recorder.report(),
                                          .begin = begin_,
                                          .newest = newest.has_value() ? &*newest : nullptr}));
    newest.reset();  // it may be large
    if (!next.has_value()) return absl::OkStatus();
    if (next->added.has_value()) {
      next->place = plan().phases_size();
      IOBENCH_RETURN_IF_ERROR(context_.recorder.AddPlanned(*std::exchange(next->added, std::nullopt)));
    }
    index = next->index.value_or(index);
    IOBENCH_RETURN_IF_ERROR(context_.recorder.AdoptUpTo(index, context_.cluster, context_.observer));
    IOBENCH_ASSIGN_OR_RETURN(const bool ran, RunPhase(*next, index, newest));
    if (ran) ++index;
  }
}

absl::Status PhaseLoop::EndData(DataKeeper::AtEnd at_end) { return context_.look.data->Finish(at_end, ledger_); }

RunPart PhaseLoop::Part() const {
  return context_.options.resume.has_value() ? context_.options.resume->part : RunPart();
}

// mpirun ends the ranks with SIGTERM, on its own or when it gets one itself.
bool PhaseLoop::EndedByLauncher() const {
  return context_.interrupt.signal() == SIGTERM && context_.cluster.transport_name() == "mpi";
}

absl::StatusOr<bool> PhaseLoop::RunPhase(const NextPhase& next, uint32_t index,
                                         std::optional<v1::PhaseReport>& report) {
  if (context_.interrupt.raised()) return absl::CancelledError("interrupted");
  const Layout& layout = *context_.look.layout;
  DataKeeper& data = *context_.look.data;
  const v1::Phase& planned = plan().phases(next.place);
  v1::Phase phase;
  if (!HasTimeFor(planned, phase)) return false;
  SizeGrowingFiles(phase);
  if (const std::set<uint32_t> targets = TargetsOfNewSharedFiles(plan(), phase, layout); !targets.empty()) {
    IOBENCH_RETURN_IF_ERROR(data.RemoveSharedFiles(targets));
    ledger_.ForgetShared(targets);
    broken_files_.ForgetShared(targets);
  }
  IOBENCH_ASSIGN_OR_RETURN(const StepsOfWorkers fill_steps, FillSpace(index, planned));
  ledger_.Begin(phase);
  const LaterNeeds later = LaterNeedsOf(plan(), layout, next.place, next.goes_on);
  PhaseConductor conductor({.cluster = context_.cluster,
                            .clock_sync = *context_.look.clocks,
                            .plan = plan(),
                            .layout = layout,
                            .observer = context_.observer,
                            .data_must_exist = data.decision().uses_kept_data,
                            .later = later,
                            .settle_until = EndOfDuration(),
                            .broken_files = broken_files_,
                            .trees = trees_,
                            .data = ledger_,
                            .keeper = data,
                            .timeout_ns = context_.options.phase_timeout_ns,
                            .ended_by_launcher = [this] { return EndedByLauncher(); },
                            .phase_count = next.phase_count,
                            .start_lead = start_lead_,
                            .samplers = samplers_},
                           phase, index, next.repetition);
  IOBENCH_RETURN_IF_ERROR(hooks_.Before(plan(), conductor.record()));
  const double cpu_begin_s = ProcessCpuSeconds();
  absl::Status status = conductor.Run();
  v1::PhaseRecord& record = conductor.record();
  AddFirst(fill_steps, record);
  PhaseCost& cost = costs_.emplace_back(conductor.cost());
  const bool has_results = HasResults(record);
  if (hooks_.has_after()) {
    // A second Ctrl-C ends the program while the command runs.
    if (has_results) context_.recorder.SaveEarly(record);
    const v1::PhaseReport so_far = SummarizePhase(context_.recorder.record(), record, Charts::kLeftOut);
    status.Update(hooks_.After(plan(), so_far, status, record));
  }
  ledger_.Note(record);
  // First saves what was measured, whatever ended the phase.
  absl::Status saved;
  if (has_results) {
    const WhileFilesHang stay_in_touch([this] { context_.cluster.Attend(); });
    report = context_.recorder.AddPhase(record, cost, saved);
  }
  if (has_results) {
    context_.observer.PhaseEnds(context_.recorder.report(), *report);
  }
  cost.cpu_s = ProcessCpuSeconds() - cpu_begin_s;
  IOBENCH_RETURN_IF_ERROR(saved);
  // Also if a command after the phase has failed: the phase is saved.
  if (has_results && WasShortened(planned, record)) context_.recorder.RecordLimited(planned, RunRecorder::Limited::kShortened);
  IOBENCH_RETURN_IF_ERROR(status);
  broken_files_.Note(record);
  trees_.Note(record, layout);
  if (context_.cluster.live_count() == 0) return absl::UnavailableError("every worker was lost");
  return true;
}

// Phases that a resumed run skips have filled the file system too.
absl::StatusOr<StepsOfWorkers> PhaseLoop::FillSpace(uint32_t index, const v1::Phase& phase) {
  uint32_t percent = FillPercent(phase);
  if (!filled_for_.has_value() || index != *filled_for_ + 1) {
    const int skipped = static_cast<int>(std::min(index, static_cast<uint32_t>(plan().phases_size())));
    for (int i = 0; i < skipped; ++i) percent = std::max(percent, FillPercent(plan().phases(i)));
  }
  filled_for_ = index;
  StepsOfWorkers steps;
  if (percent == 0) return steps;
  IOBENCH_RETURN_IF_ERROR(context_.look.data->Fill(
      percent, [&](uint64_t bytes) { context_.observer.SpaceFills(percent, bytes); }, steps));
  return steps;
}

// False: --max-duration leaves no time for the phase. Otherwise `fitted` is the phase, limited to the time that is
// left.
bool PhaseLoop::HasTimeFor(const v1::Phase& phase, v1::Phase& fitted) {
  fitted = phase;
  const double max_duration_s = context_.options.max_duration_s;
  if (max_duration_s <= 0) return true;
  const double left_s = max_duration_s - SecondsFrom(context_.cluster.Now() - begin_);
  // A phase that needs less time than the first that was skipped does not run either: a resumed run goes on at a
  // position in the plan.
  const bool is_over = !context_.recorder.record().skipped_phases().empty();
  const std::optional<FittedPhase> fits = is_over ? std::nullopt : FitInto(phase, left_s);
  if (!fits.has_value()) {
    context_.recorder.RecordLimited(phase, RunRecorder::Limited::kSkipped);
    return false;
  }
  fitted = fits->phase;
  return true;
}

// The size of files that grow is known only where they have been written.
void PhaseLoop::SizeGrowingFiles(v1::Phase& phase) const {
  if (GrowsFiles(plan(), phase)) {
    const std::optional<uint64_t> free_bytes = LeastFreeBytes(context_.look.data->facts());
    phase.mutable_files()->set_bytes_per_lane(
        MostGrownBytes(plan(), phase, free_bytes, context_.look.layout->lane_count()));
    return;
  }
  if (!GrowsFiles(plan()) || phase.files().has_bytes_per_lane() || IsMetadata(phase)) return;
  const uint64_t bytes = WholeRecordsIn(ledger_.BytesWrittenFor(phase), phase);
  if (bytes > 0) phase.mutable_files()->set_bytes_per_lane(bytes);
}

// When --max-duration is over.
CoordTime PhaseLoop::EndOfDuration() const {
  const bool is_limited = context_.options.max_duration_s > 0;
  return is_limited ? begin_ + NanosFrom(context_.options.max_duration_s) : CoordTime{INT64_MAX};
}

}  // namespace iobench
