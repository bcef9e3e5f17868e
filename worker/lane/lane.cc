#include "worker/lane/lane.h"

#include <cassert>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "worker/client/binding.h"
#include "worker/lane/own_descriptors.h"

namespace iobench {
namespace {

// Files whose data seem to be lost are looked at again this often, for two seconds in all.
constexpr int kLooksForLost = 20;
constexpr std::chrono::milliseconds kBetweenLooks(100);

}  // namespace

Lane::Lane(const PhaseSpec& spec, const v1::LanePlan& plan, const std::string& target,
           const Directory* directory)
    : work_(spec, plan, target, directory), directory_(directory, target, spec.ClaimOf(plan)) {}

void Lane::Fail(const LaneFailure& failure) {
  if (failed()) return;
  const int errno_value = ErrnoOf(failure.status);
  const bool is_missing = errno_value == ENOENT || errno_value == ESTALE || absl::IsNotFound(failure.status);
  // The same for all lanes, so that it is one error for the reader.
  const bool all_missing = is_missing && IsRemoved(work_.files.directory_fd);
  problem_ = ToProblem(all_missing ? ErrnoStatus(absl::StrCat(work_.files.directory,
                                                              ", the data directory of this run, was removed by another "
                                                              "process, perhaps another run with --force"),
                                                 errno_value == 0 ? ENOENT : errno_value)
                                   : failure.status);
  problem_->set_file(all_missing ? work_.files.directory : failure.file);
  problem_->set_offset(all_missing ? 0 : failure.offset);
  problem_->set_operation(std::string(work_.spec.operation->name));
}

void Lane::FailUnlessOk(const absl::Status& status) {
  if (!status.ok()) Fail({status, work_.FirstFile()});
}

// ------------------------------------------------------------------------------------------ before the start

void Lane::UnshareDescriptors() {
  const auto engine = FindEngine(work_.spec.engine);
  if (engine.ok() && (*engine)->threads == CallThreads::kShared)
    return;  // its threads use the process's descriptors
  static_cast<void>(
      iobench::UnshareDescriptors(work_.files.directory_fd));  // without it, the lane is only slower
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
  FailUnlessOk(directory_.Use([&](const Directory& directory) {
    IOBENCH_RETURN_IF_ERROR(iobench::CreateFiles(directory, work_.files, blocks, old));
    return FindReplaced(directory, work_.files, InPhase()).status();
  }));
}

void Lane::Prefill() {
  if (!takes_part() || !(work_.needs_data() || work_.spec.works_on_tree())) return;
  const Stopwatch watch(preparation_.times.prefill_ns);
  FailUnlessOk(PrepareData());
}

absl::Status Lane::PrepareData() {
  if (Payload* const payload = setup_->payload(); payload != nullptr) payload->BeginPrefill();
  if (work_.metadata) {
    IOBENCH_ASSIGN_OR_RETURN(preparation_.tree, PrepareTree(work_.files.directory_fd, work_.files.directory,
                                                            *work_.metadata, setup_->payload(), quit_));
    preparation_.prefilled_bytes = preparation_.tree.bytes;
    return setup_->ReadyDataForOps(preparation_.prefilled_bytes);
  }
  // With leaves_prefill, another lane writes the files that the two share.
  if (!work_.plan.leaves_prefill()) {
    IOBENCH_RETURN_IF_ERROR(work_.data_must_exist() ? CheckData() : CheckNothingLost());
    if (!failed()) IOBENCH_RETURN_IF_ERROR(CheckNothingReplaced());
    if (failed()) return absl::OkStatus();
    if (work_.may_prefill()) IOBENCH_RETURN_IF_ERROR(WriteData());
  }
  return setup_->ReadyDataForOps(preparation_.prefilled_bytes);
}

absl::Status Lane::CheckData() {
  return directory_.Use(
      [this](const Directory& directory) { return CheckDataExist(directory, work_.NeededFiles()); });
}

// Fails the lane if data are lost: what the run has written must not be written again, which would hide the loss.
absl::Status Lane::CheckNothingLost() {
  // Writes that failed may have left a shorter file: reads show what is there.
  if (work_.plan.written_bytes() == 0 || work_.plan.data().unacknowledged()) return absl::OkStatus();
  IOBENCH_RETURN_IF_ERROR(FindLost());
  // A client may learn late, from its cache of attributes, what another one has written.
  for (int tries = 0; lost_.bytes > 0 && !quits() && tries < kLooksForLost; ++tries) {
    std::this_thread::sleep_for(kBetweenLooks);
    IOBENCH_RETURN_IF_ERROR(FindLost());
  }
  if (lost_.bytes == 0) return absl::OkStatus();
  const std::string file = work_.files.PathOf(lost_.file_index);
  Fail({absl::DataLossError(absl::StrCat(
            file, lost_.exists ? absl::StrCat(" ends at ", lost_.offset) : " is missing",
            ": earlier phases of this run wrote it up to ", lost_.end, ", and ", lost_.bytes,
            " bytes of this lane's data are lost")),
        file, lost_.offset});
  return absl::OkStatus();
}

// Fails the lane if its data are not those that it wrote: whatever they are, no figure would be about them.
absl::Status Lane::CheckNothingReplaced() {
  if (work_.plan.mix() != v1::LANE_MIX_PER_OP) return absl::OkStatus();  // the writer of the pair may make them anew
  return directory_.Use([this](const Directory& directory) {
    IOBENCH_ASSIGN_OR_RETURN(const std::optional<ReplacedFile> found, FindReplaced(directory, work_.files, InPhase()));
    if (!found.has_value()) return absl::OkStatus();
    const std::string file = work_.files.PathOf(found->file_index);
    Fail({absl::DataLossError(absl::StrCat(
              file, " is another file than in the phase before: its inode number is ", found->now.number, ", and was ",
              found->before, "; it has ", ExactBytes(found->now.bytes), ": another process replaced it")),
          file});
    return absl::OkStatus();
  });
}

SeenIn Lane::InPhase() const {
  return {.run_id = work_.spec.ClaimOf(work_.plan).run_id(), .phase_index = work_.spec.shape.phase};
}

absl::Status Lane::FindLost() {
  return directory_.Use([this](const Directory& directory) {
    const auto found = FindLostBytes(directory, work_.files, work_.plan.written_bytes());
    if (found.ok()) lost_ = *found;
    return found.status();
  });
}

absl::Status Lane::WriteData() {
  absl::Status written = directory_.Use([this](const Directory& directory) {
    const auto bytes =
        iobench::Prefill(directory, work_.NeededFiles(), *setup_->payload(), quit_, work_.data.prefill_bytes());
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

void Lane::RecordContents() {
  const PhaseSpec& spec = work_.spec;
  if (!takes_part() || !spec.uses_files || !work_.reads() || work_.metadata) return;
  if (IsNfsUrl(work_.target)) return;  // nothing is cached, and nothing tells about holes
  FailUnlessOk(directory_.Use([this, direct = spec.mode.direct](const Directory& directory) {
    if (const auto unstored = UnstoredIn(directory, work_.files); unstored.ok()) {
      preparation_.unstored = *unstored;
    }
    if (direct) return absl::OkStatus();  // reads past the memory
    const auto bytes = ResidentBytes(directory, work_.files);
    if (bytes.ok()) preparation_.resident_bytes = *bytes;
    for (const LaneFile& file : work_.files.files) preparation_.file_bytes += file.bytes;
    return absl::OkStatus();  // unknown values are not reported
  }));
}

void Lane::RecordPlaces() {
  if (!takes_part() || !work_.spec.uses_files || work_.metadata || IsNfsUrl(work_.target)) return;
  FailUnlessOk(directory_.Use([this](const Directory& directory) {
    preparation_.places = PlacesOf(directory, work_.files);
    return absl::OkStatus();
  }));
}

void Lane::LookAtFiles() {
  RecordContents();
  RecordPlaces();
  directory_.CloseOwn();  // its connection is no longer needed
  preparation_.times.deferred_ns = directory_.deferred_ns();
}

void Lane::MeetOthers() {
  if (takes_part()) return FailUnlessOk(setup_->engine().MeetOthers(work_.files));
  if (work_.spec.engine_options.together != nullptr) work_.spec.engine_options.together->Decline();
}

void Lane::Open() {
  if (!takes_part()) return;
  region_->RecordBefore();
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

void Lane::RecordStoppedAtDeadline() {
  region_->RecordStoppedAtDeadline();
}

// A failed lane is only closed. So is one that quits: a flush could take longer than anyone waits for its results, which
// are those of an interrupted phase anyway.
void Lane::EndRegion() {
  if (!region_) return;
  region_->EndOps();
  if (!failed() && !quits()) FailUnlessOk(region_->Flush());
  FailUnlessOk(region_->Close());
  region_ns_ += MonotonicNowNs();
}

// ------------------------------------------------------------------------------------------------- after it

void Lane::Settle() {
  if (!takes_part() || !ran() || !work_.spec.uses_files || quits()) return;
  const uint64_t unfinished_ops = WhatIsUnfinished().ops;
  if (!work_.leaves_unflushed_data() && unfinished_ops == 0) return;
  const Stopwatch watch(settle_ns_);
  absl::Status status = unfinished_ops > 0 ? Complete(unfinished_ops) : absl::OkStatus();
  if (status.ok() && !failed() && !work_.spec.leaves_unflushed && !quits()) status = FlushWritten();
  FailUnlessOk(Annotate(status, "after the timed region"));
}

absl::Status Lane::Complete(uint64_t ops) {
  IoEngine& engine = setup_->engine();
  IOBENCH_RETURN_IF_ERROR(engine.Open(work_.files, work_.Mode()));
  if (const auto failure = setup_->RunUnmeasured(ops, quit_)) Fail(*failure);
  return engine.Close();
}

// Not with the engine's flush, which nothing could end early.
absl::Status Lane::FlushWritten() {
  if (!work_.metadata) {
    return directory_.Use(
        [this](const Directory& directory) { return FlushFiles(directory, work_.files, quit_); });
  }
  IoEngine& engine = setup_->engine();
  IOBENCH_RETURN_IF_ERROR(engine.Open(work_.files, work_.Mode()));
  absl::Status status = engine.Flush();
  status.Update(engine.Close());
  return status;
}

void Lane::WriteTrace() {
  quit_before_trace_ = quits();
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
