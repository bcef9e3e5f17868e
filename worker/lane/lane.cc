#include "worker/lane/lane.h"

#include <cassert>
#include <utility>

#include "common/model/engine.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "worker/client/binding.h"
#include "worker/lane/own_descriptors.h"

namespace iobench {

Lane::Lane(const PhaseSpec& spec, const v1::LanePlan& plan, const std::string& target,
           const Directory* directory)
    : work_(spec, plan, target, directory), directory_(directory, target, spec.ClaimOf(plan)) {}

void Lane::Fail(const LaneFailure& failure) {
  if (failed()) return;
  problem_ = ToProblem(failure.status);
  problem_->set_file(failure.file);
  problem_->set_offset(failure.offset);
  problem_->set_operation(std::string(work_.spec.operation->name));
}

void Lane::FailUnlessOk(const absl::Status& status) {
  if (!status.ok()) Fail({status, work_.FirstFile()});
}

// ------------------------------------------------------------------------------------------ before the start

void Lane::TakeOwnDescriptors() {
  const auto engine = FindEngine(work_.spec.engine);
  if (engine.ok() && (*engine)->threads == CallThreads::kShared)
    return;  // its threads use the process's descriptors
  static_cast<void>(
      iobench::TakeOwnDescriptors(work_.files.directory_fd));  // without it, the lane is only slower
}

void Lane::Bind() {
  if (!takes_part() || work_.spec.binding_slots.empty()) return;
  const absl::Status bound = BindThisThread(work_.spec.binding_slots.Of(work_.plan.index_on_client()));
  if (!bound.ok()) Fail({bound, /*file=*/""});
}

void Lane::MakeReady() {
  if (!takes_part()) return;
  auto setup = LaneSetup::Create(work_, stop_);
  if (!setup.ok()) return FailUnlessOk(setup.status());
  setup_ = *std::move(setup);
  region_.emplace(work_, *setup_, directory_);
  if (const absl::Status made = setup_->MakeTrace(); !made.ok()) return Fail({made, work_.TraceFile()});
  FailUnlessOk(setup_->MakeOpLog());
  FailUnlessOk(setup_->MakeEngineReady());
}

void Lane::CreateFiles() {
  if (!takes_part() || !work_.creates_files()) return;
  const Stopwatch watch(preparation_.times.create_ns);
  const PhaseSpec& spec = work_.spec;
  const FileBlocks blocks = spec.preallocates ? FileBlocks::kPreallocated : FileBlocks::kAllocatedByWrites;
  const OldFiles old = spec.keeps_existing ? OldFiles::kKept : OldFiles::kReplaced;
  FailUnlessOk(directory_.Use(
      [&](const Directory& directory) { return iobench::CreateFiles(directory, work_.files, blocks, old); }));
}

void Lane::Prefill() {
  if (!takes_part() || !(work_.needs_data() || work_.spec.works_on_tree())) return;
  const Stopwatch watch(preparation_.times.prefill_ns);
  FailUnlessOk(PrepareData());
}

absl::Status Lane::PrepareData() {
  if (work_.metadata) {
    IOBENCH_ASSIGN_OR_RETURN(preparation_.tree, PrepareTree(work_.files.directory_fd, work_.files.directory,
                                                            *work_.metadata, setup_->payload(), quit_));
    preparation_.prefilled_bytes = preparation_.tree.bytes;
    return absl::OkStatus();
  }
  // With leaves_prefill, another lane writes the files that the two share.
  if (!work_.plan.leaves_prefill()) {
    IOBENCH_RETURN_IF_ERROR(work_.data_must_exist() ? CheckData() : WriteData());
  }
  return setup_->ReadyDataForOps(preparation_.prefilled_bytes);
}

absl::Status Lane::CheckData() {
  return directory_.Use(
      [this](const Directory& directory) { return CheckDataExist(directory, work_.files); });
}

absl::Status Lane::WriteData() {
  absl::Status written = directory_.Use([this](const Directory& directory) {
    const auto bytes =
        iobench::Prefill(directory, work_.files, *setup_->payload(), quit_, work_.data.prefill_bytes());
    if (bytes.ok()) preparation_.prefilled_bytes = *bytes;
    return bytes.status();
  });
  if (written.ok() && !work_.writes()) setup_->DropPayload();
  return written;
}

void Lane::ForgetPages() {
  // For metadata only the whole system's caches can be dropped.
  if (!takes_part() || !work_.spec.uses_files || work_.metadata) return;
  const Stopwatch watch(preparation_.times.forget_ns);
  FailUnlessOk(directory_.Use(
      [this](const Directory& directory) { return iobench::ForgetPages(directory, work_.files); }));
}

void Lane::NoteResidentBytes() {
  const PhaseSpec& spec = work_.spec;
  if (!takes_part() || !spec.uses_files || !work_.reads() || work_.metadata || spec.mode.direct) return;
  if (IsNfsUrl(work_.target)) return;  // nothing is cached
  FailUnlessOk(directory_.Use([this](const Directory& directory) {
    const auto bytes = ResidentBytes(directory, work_.files);
    if (bytes.ok()) preparation_.resident_bytes = *bytes;
    for (const LaneFile& file : work_.files.files) preparation_.file_bytes += file.bytes;
    return absl::OkStatus();  // unknown values are not reported
  }));
}

void Lane::Open() {
  NoteResidentBytes();
  directory_.CloseOwn();  // its connection is no longer needed
  preparation_.times.deferred_ns = directory_.deferred_ns();
  if (!takes_part()) return;
  region_->NoteBefore();
  if (work_.spec.region.open()) return;
  const absl::Status opened = [&] {
    const Stopwatch watch(preparation_.times.open_ns);
    return setup_->engine().Open(work_.files, work_.Mode());
  }();
  FailUnlessOk(opened);
}

// ----------------------------------------------------------------------------------------- the timed region

void Lane::BeginRegion(WorkerTime start) {
  region_ns_ = -MonotonicNowNs();  // EndRegion adds the end
  if (takes_part()) FailUnlessOk(region_->Begin(start));
}

void Lane::RunOps() {
  if (!takes_part()) return;
  if (const std::optional<LaneFailure> failure = region_->RunOps()) Fail(*failure);
}

bool Lane::waits_at_deadline() const {
  return takes_part() && region_->waits_at_deadline();
}

void Lane::RunToGoal(uint64_t ops_goal) {
  assert(waits_at_deadline());
  if (const std::optional<LaneFailure> failure = region_->RunToGoal(ops_goal)) Fail(*failure);
}

void Lane::NoteStoppedAtDeadline() {
  region_->NoteStoppedAtDeadline();
}

// A failed lane is only closed.
void Lane::EndRegion() {
  if (!region_) return;
  region_->EndOps();
  if (!failed()) FailUnlessOk(region_->Flush());
  FailUnlessOk(region_->Close());
  region_ns_ += MonotonicNowNs();
}

// ------------------------------------------------------------------------------------------------- after it

void Lane::Settle() {
  const bool quits = quit_.stop.load(std::memory_order_relaxed);
  if (!takes_part() || !ran() || !work_.spec.uses_files || quits) return;
  const uint64_t unfinished_ops = region_->UnfinishedOps();
  if (!work_.leaves_unflushed_data() && unfinished_ops == 0) return;
  const Stopwatch watch(settle_ns_);
  constexpr char kWhen[] = "after the timed region";
  IoEngine& engine = setup_->engine();
  const absl::Status opened = engine.Open(work_.files, work_.Mode());
  if (!opened.ok()) return FailUnlessOk(Annotate(opened, kWhen));
  if (unfinished_ops > 0) {
    if (const auto failure = setup_->RunUnmeasured(unfinished_ops, quit_)) Fail(*failure);
  }
  absl::Status status = engine.Flush();
  status.Update(engine.Close());
  FailUnlessOk(Annotate(status, kWhen));
}

void Lane::WriteTrace() {
  quit_before_trace_ = quit_.stop.load(std::memory_order_relaxed);
  if (!ran()) return;
  // A phase that quit has no whole trace: Release removes the file.
  const absl::Status written = quit_before_trace_ ? absl::OkStatus() : setup_->WriteTrace();
  if (!written.ok()) Fail({written, work_.TraceFile()});
  const RegionOutcome& region = region_->outcome();
  const absl::Status logged = setup_->WriteOpLog(
      {.user_s = region.cpu_user_s, .system_s = region.cpu_system_s, .real_s = SecondsFrom(region_ns_)});
  if (!logged.ok()) Fail({logged, work_.OpLogFile()});
}

// Called by the lane's thread, because a descriptor number means another file in other threads.
void Lane::Release() {
  directory_.CloseOwn();
  if (setup_ != nullptr) setup_->Release();
}

void Lane::Quit() {
  Stop();
  quit_.stop.store(true, std::memory_order_relaxed);
}

// ------------------------------------------------------------------------------------------------- questions

bool Lane::ended_by_itself() const {
  return takes_part() && ran() && !waits_at_deadline() &&
         region_->outcome().end.reason != LoopEnd::Reason::kStopped;
}

uint64_t Lane::ops() const {
  return setup_ == nullptr ? 0 : setup_->recorder().ops();
}
uint64_t Lane::traced_ops() const {
  return setup_ == nullptr ? 0 : setup_->traced_ops();
}
uint64_t Lane::logged_ops() const {
  return setup_ == nullptr ? 0 : setup_->logged_ops();
}
uint64_t Lane::unlogged_ops() const {
  return setup_ == nullptr || setup_->op_log() == nullptr ? 0 : setup_->op_log()->left_out_count();
}
uint64_t Lane::untraced_ops() const {
  return setup_ == nullptr || setup_->trace() == nullptr ? 0 : setup_->trace()->left_out_count();
}

}  // namespace iobench
