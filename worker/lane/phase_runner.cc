#include "worker/lane/phase_runner.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/net/nfs_url.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/time.h"
#include "common/unique_fd.h"
#include "worker/client/binding.h"
#include "worker/client/client_probe.h"
#include "worker/client/remount.h"
#include "worker/client/server_route.h"
#include "worker/client/system_caches.h"
#include "worker/data/buffer_pages.h"
#include "worker/data_directory/data_directory.h"
#include "worker/lane/phase_steps.h"
#include "worker/rights/worker_rights.h"
#include "worker/storage/mounts.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

// Until this time before the start, a lane waits so that it can be cancelled; after that it sleeps by the clock.
constexpr int64_t kCallableUntilNs = 2'000'000;
// How long a lane spins before its start; longer than a timer may be late.
constexpr int64_t kStartSpinNs = 200'000;
// Counters are read this long before the start, plus the duration of the last reading: after the lanes have started to
// sleep by the clock, and before they spin. What happens in between is in the counters but in no figure.
constexpr int64_t kCountersAheadNs = 1'000'000;

// Duration of the last reading of the counters. Files in /proc are slow on hosts with many processors.
std::atomic<int64_t> counters_take_ns{500'000};

void Relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

PhaseRunner::PhaseRunner(v1::Prepare prepare, const WorkerClock& clock, double loop_ns, EventTaker take_event)
    : prepare_(std::move(prepare)),
      clock_(clock),
      loop_ns_(loop_ns),
      take_event_(std::move(take_event)),
      together_(RanksTogetherFor(prepare_.operation())) {}

PhaseRunner::~PhaseRunner() = default;

// ------------------------------------------------------------------------------------------ control side

absl::StatusOr<v1::Prepared> PhaseRunner::Prepare() {
  auto prepared = PrepareLanes();
  // Otherwise the other ranks would wait for this one.
  if (!prepared.ok() && together_ != nullptr) together_->Decline();
  return prepared;
}

absl::StatusOr<v1::Prepared> PhaseRunner::PrepareLanes() {
  IOBENCH_ASSIGN_OR_RETURN(spec_, PhaseSpec::From(prepare_, clock_, loop_ns_));
  spec_.engine_options.together = together_;
  absl::Status cancelled = absl::CancelledError("disarmed while the phase was prepared");
  if (!Rest()) return cancelled;
  IOBENCH_RETURN_IF_ERROR(CheckEngineHere(spec_.engine));
  IOBENCH_RETURN_IF_ERROR(MakeLanes());
  IOBENCH_RETURN_IF_ERROR(StartLanes());
  if (!WaitAllArrived(kFilesReady)) return cancelled;
  for (const auto& lane : lanes_) IOBENCH_RETURN_IF_ERROR(lane->lost_claim());
  absl::Status system_caches;
  if (spec_.drops_caches && spec_.uses_files) {
    for (const auto& [target, directory] : directories_) {
      if (spec_.works_on_tree() && directory->fd() >= 0) WriteBack(directory->fd());
    }
    system_caches = DropSystemCaches();
  }
  OpenMeeting(kFilesReady);
  if (!WaitAllArrived(kFilesOpen)) return cancelled;
  for (v1::StepResult& step : StepsBefore(spec_, lanes_, system_caches)) steps_.push_back(std::move(step));
  FindCarriers();
  RecordSpaces();
  RecordBuffers();
  {
    Counters counters = CountersBefore();
    MutexLock lock(mutex_);
    before_ = std::move(counters);
  }
  early_pair_ = ReadTickPair(spec_.ticks);
  prepared_.store(true, std::memory_order_release);

  v1::Prepared answer;
  answer.mutable_steps()->Assign(steps_.begin(), steps_.end());
  if (spec_.verifies_cold) {
    *answer.mutable_cold() = ColdnessAfter(spec_, lanes_, system_caches);
    for (const std::string& mount_point : mount_points_) {
      if (CheckRemount(mount_point).ok()) answer.mutable_cold()->add_remountable(mount_point);
    }
  }
  return answer;
}

bool PhaseRunner::Rest() {
  if (spec_.rest_s == 0) return true;
  const int64_t begin_ns = MonotonicNowNs();
  resting_.store(true, std::memory_order_relaxed);
  MutexLock lock(mutex_);
  lane_moved_on_.WaitUntil(mutex_, begin_ns + NanosFrom(spec_.rest_s),
                     [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return cancelled_; });
  resting_.store(false, std::memory_order_relaxed);
  v1::StepResult& step = steps_.emplace_back();
  step.set_name("rest");
  step.set_seconds(SecondsFrom(MonotonicNowNs() - begin_ns));
  return !cancelled_;
}

absl::Status PhaseRunner::MakeLanes() {
  for (const v1::LanePlan& plan : prepare_.lanes()) {
    if (spec_.uses_files) IOBENCH_RETURN_IF_ERROR(OpenTargetOf(plan));
    const auto directory = directories_.find(plan.target());
    lanes_.push_back(std::make_unique<Lane>(
        spec_, plan, spec_.uses_files ? prepare_.targets(static_cast<int>(plan.target())).path() : "",
        directory == directories_.end() ? nullptr : directory->second.get()));
    at_work_.emplace_back();
  }
  return absl::OkStatus();
}

uint32_t PhaseRunner::NumberOfTarget(const v1::LanePlan& plan) const {
  const bool is_said = plan.target() < static_cast<uint32_t>(prepare_.target_numbers_size());
  return is_said ? prepare_.target_numbers(static_cast<int>(plan.target())) : plan.target();
}

absl::Status PhaseRunner::OpenTargetOf(const v1::LanePlan& plan) {
  if (directories_.contains(plan.target())) return absl::OkStatus();
  const std::string& path = prepare_.targets(static_cast<int>(plan.target())).path();
  if (IsNfsUrl(path)) {  // each lane connects on its own
    IOBENCH_RETURN_IF_ERROR(RightsOfThisWorker().paths.CheckUrl(path));
    IOBENCH_ASSIGN_OR_RETURN(const NfsUrl url, ParseNfsUrl(path));
    servers_.insert(AddressOf(url.host));
    return absl::OkStatus();
  }
  IOBENCH_ASSIGN_OR_RETURN(
      std::unique_ptr<Directory> directory,
      spec_.existing_files.empty() ? OpenClaimedDirectory(path, spec_.ClaimOf(plan)) : OpenTarget(path));
  const std::optional<Mount> mount = MountOf(directory->fd(), path);
  if (mount && IsNfs(mount->filesystem)) nfs_mount_points_[NumberOfTarget(plan)] = mount->mount_point;
  if (mount && RightsOfThisWorker().remounts_for_cold) mount_points_.insert(mount->mount_point);
  if (mount && IsNetworkFilesystem(mount->filesystem)) servers_.insert(ServerAddressOf(*mount));
  directories_.emplace(plan.target(), std::move(directory));
  return absl::OkStatus();
}

absl::Status PhaseRunner::StartLanes() {
  {
    MutexLock lock(mutex_);
    if (cancelled_) return absl::CancelledError("disarmed before the phase was prepared");
    lanes_made_ = true;
  }
  for (size_t i = 0; i < lanes_.size(); ++i) {
    auto thread = StartThread([self = shared_from_this(), &lane = *lanes_[i], &work = at_work_[i]] {
      self->RunLane(lane, work);
    });
    if (!thread.ok()) {
      return absl::ResourceExhaustedError(absl::StrCat("lane ", lanes_[i]->number(), " of ", lanes_.size(), ": ",
                                                       thread.status().message(),
                                                       ", or use fewer lanes per worker"));
    }
    MutexLock lock(mutex_);
    threads_.push_back(*std::move(thread));
    ++threads_started_;
  }
  return absl::OkStatus();
}

void PhaseRunner::FindCarriers() {
  for (const std::string& server : servers_) {
    if (const std::optional<std::string> interface = InterfaceTo(server)) {
      carriers_.merge(WithThoseBelow(*interface));
    }
  }
  for (const std::string& interface : carriers_) FactsOfNic(interface);  // now, while nothing is measured
}

void PhaseRunner::RecordSpaces() {
  for (const v1::LanePlan& plan : prepare_.lanes()) {
    const auto directory = directories_.find(plan.target());
    if (directory == directories_.end() || spaces_.contains(NumberOfTarget(plan))) continue;
    const absl::StatusOr<v1::Space> space = directory->second->Space();
    if (space.ok()) spaces_[NumberOfTarget(plan)] = *space;
  }
}

// Of the whole process, which has one worker. The lanes have touched all pages.
void PhaseRunner::RecordBuffers() {
  const std::vector<LargeBuffer> buffers = LargeBuffers();
  if (buffers.empty()) return;
  uint64_t bytes = 0;
  for (const LargeBuffer& buffer : buffers) bytes += buffer.memory.size();
  buffers_.set_bytes(bytes);
  if (const std::optional<uint64_t> huge_bytes = HugePageBytesIn(buffers)) buffers_.set_huge_page_bytes(*huge_bytes);
  if (NumaNodeCount() < 2) return;
  if (const std::optional<uint64_t> local_bytes = LocalBytesIn(buffers)) buffers_.set_local_bytes(*local_bytes);
}

PhaseRunner::Counters PhaseRunner::CountersBefore() const {
  const int64_t begin_ns = MonotonicNowNs();
  Counters counters;
  counters.host = ReadHostCounters(nfs_mount_points_, /*last_is_cpu=*/true, servers_);
  ::getrusage(RUSAGE_SELF, &counters.process);
  counters_take_ns.store(MonotonicNowNs() - begin_ns, std::memory_order_relaxed);
  return counters;
}

void PhaseRunner::RecordStart() {
  int64_t start_ns = 0;
  {
    MutexLock lock(mutex_);
    start_ns = start_->ns - clock_.offset_ns();
    const int64_t read_at_ns = start_ns - kCountersAheadNs - counters_take_ns.load(std::memory_order_relaxed);
    // Too close to the start: reading would disturb the lanes and could miss part of their work.
    if (MonotonicNowNs() > read_at_ns) return;
    lane_moved_on_.WaitUntil(mutex_, read_at_ns, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return cancelled_; });
    if (cancelled_) return;
  }
  Counters counters = CountersBefore();
  if (MonotonicNowNs() > start_ns) return;
  MutexLock lock(mutex_);
  before_ = std::move(counters);
}

v1::Armed PhaseRunner::Arm(const v1::Arm& arm, WorkerTime now) {
  assert(prepared_.load());
  v1::Armed answer;
  answer.set_margin_ns(arm.start_worker_ns() - now.ns);
  answer.set_late(answer.margin_ns() < arm.margin_needed_ns() && !arm.start_anyway());
  if (answer.late()) return answer;
  MutexLock lock(mutex_);
  start_ = WorkerTime{arm.start_worker_ns()};
  lanes_may_go_on_.NotifyAll();
  return answer;
}

void PhaseRunner::StopLanes(UnfinishedFiles unfinished) {
  stopped_ = true;
  if (lanes_made_) {
    for (const auto& lane : lanes_) unfinished == UnfinishedFiles::kLeft ? lane->Quit() : lane->Stop();
  }
  lanes_may_go_on_.NotifyAll();
  lane_moved_on_.NotifyAll();
}

void PhaseRunner::Stop() {
  MutexLock lock(mutex_);
  StopLanes(UnfinishedFiles::kCompleted);
}

void PhaseRunner::Quit() {
  MutexLock lock(mutex_);
  StopLanes(UnfinishedFiles::kLeft);
}

void PhaseRunner::Cancel() {
  MutexLock lock(mutex_);
  cancelled_ = true;
  StopLanes(UnfinishedFiles::kLeft);
}

void PhaseRunner::SetGoal(uint64_t ops_goal) {
  MutexLock lock(mutex_);
  goal_ = ops_goal;
  lanes_may_go_on_.NotifyAll();
}

bool PhaseRunner::WaitForLanes(int64_t until_ns) {
  std::vector<std::thread> threads;
  bool ended = false;
  {
    MutexLock lock(mutex_);
    ended = lane_moved_on_.WaitUntil(mutex_, until_ns, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return threads_ended_ == threads_started_;
    });
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) ended ? thread.join() : thread.detach();
  return ended;
}

// --------------------------------------------------------------------------------------------- lanes' side

void PhaseRunner::RunLane(Lane& lane, AtWork& work) {
  work.thread.store(static_cast<pid_t>(::syscall(SYS_gettid)), std::memory_order_relaxed);
  RunPhaseOn(lane, work);
  work.step.store("close", std::memory_order_relaxed);
  lane.Release();
  work.thread.store(0, std::memory_order_relaxed);
  bool last = false;
  {
    MutexLock lock(mutex_);
    last = ++threads_ended_ == threads_started_;
  }
  if (last) lane_moved_on_.NotifyAll();
}

void PhaseRunner::RunPhaseOn(Lane& lane, AtWork& work) {
  const auto note = [&work](const char* step) { work.step.store(step, std::memory_order_relaxed); };
  note("its preparation");
  lane.UnshareDescriptors();
  lane.Bind();  // early, so that its memory and its engine's threads are local to it
  lane.MakeReady();
  lane.CreateFiles();
  note("its prefill");
  lane.Prefill();
  if (spec_.drops_caches) lane.ForgetPages();  // after the prefill, whose pages must be dropped too
  note(nullptr);
  Arrive(kFilesReady);
  if (!WaitMeetingOpen(kFilesReady)) return;
  note("open");
  lane.LookAtFiles();
  note("its wait for other ranks");  // a nap by the clock, which is no stall
  lane.MeetOthers();
  note("open");
  lane.Open();
  note(nullptr);
  Arrive(kFilesOpen);
  const std::optional<WorkerTime> start = WaitForStart();
  if (!start) return;
  RunTimedRegion(lane, *start, work);
  if (!WaitMeetingOpen(kRegionOver)) return;
  note("its unmeasured rest");
  lane.Settle();
  lane.WriteTrace();
  note(nullptr);
  Arrive(kSettled);
}

std::optional<WorkerTime> PhaseRunner::WaitForStart() {
  WorkerTime start;
  {
    MutexLock lock(mutex_);
    lanes_may_go_on_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return start_ || cancelled_; });
    if (!start_) return std::nullopt;
    start = *start_;
    lanes_may_go_on_.WaitUntil(mutex_, start.ns - clock_.offset_ns() - kCallableUntilNs,
                       [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return cancelled_; });
    if (cancelled_) return std::nullopt;
  }
  clock_.SleepUntil(start + -kStartSpinNs);
  // With more lanes than processors, spinning lanes would keep each other from running.
  if (prepare_.crowded() || lanes_.size() > UsableProcessors()) {
    clock_.SleepUntil(start);
  } else {
    while (clock_.Now() < start) Relax();
  }
  return start;
}

void PhaseRunner::RunTimedRegion(Lane& lane, WorkerTime start, AtWork& work) {
  const auto note = [&work](const char* step) { work.step.store(step, std::memory_order_relaxed); };
  note("its ops");
  lane.BeginRegion(start);
  lane.RunOps();
  if (lane.waits_at_deadline()) {
    note(nullptr);
    if (const std::optional<uint64_t> goal = WaitForGoal(lane)) {
      note("its ops");
      lane.RunToGoal(*goal);
    } else {
      lane.RecordStoppedAtDeadline();
    }
  }
  note("fsync or close");
  RecordOpsEnded(lane);
  lane.EndRegion();
  note(nullptr);
  RecordRegionEnded();
}

std::optional<v1::WorkerEvent> PhaseRunner::DeadlineEvent() {
  if (!spec_.stop.wear_out() || deadline_sent_ || stopped_ || waiting_ + ops_over_ < lanes_.size()) {
    return std::nullopt;
  }
  deadline_sent_ = true;
  v1::WorkerEvent event;
  event.mutable_deadline_reached()->set_max_ops(max_ops_);
  return event;
}

std::optional<uint64_t> PhaseRunner::WaitForGoal(const Lane& lane) {
  std::optional<v1::WorkerEvent> event;
  {
    MutexLock lock(mutex_);
    ++waiting_;
    max_ops_ = std::max(max_ops_, lane.ops());
    event = DeadlineEvent();
  }
  if (event) take_event_(*std::move(event));
  MutexLock lock(mutex_);
  lanes_may_go_on_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return goal_ || stopped_; });
  --waiting_;
  return stopped_ ? std::nullopt : goal_;
}

void PhaseRunner::RecordOpsEnded(const Lane& lane) {
  std::optional<v1::WorkerEvent> ended, deadline;
  {
    MutexLock lock(mutex_);
    ++ops_over_;
    if (lane.takes_part()) max_ops_ = std::max(max_ops_, lane.ops());
    if (lane.ended_by_itself() && !end_sent_) {
      end_sent_ = true;
      ended.emplace();
      ended->mutable_lane_ended();
    }
    // If no lane waits for the goal, ReportDone sends this event, since it must arrive before LanesDone.
    if (waiting_ > 0) deadline = DeadlineEvent();
  }
  if (ended) take_event_(*std::move(ended));
  if (deadline) take_event_(*std::move(deadline));
}

void PhaseRunner::RecordRegionEnded() {
  bool last = false;
  {
    MutexLock lock(mutex_);
    last = ++regions_over_ == lanes_.size();
  }
  if (!last) return;
  ReportDone();
  Arrive(kRegionOver, lanes_.size());
}

// Called by the lane that ended last; the others wait.
void PhaseRunner::ReportDone() {
  scale_.emplace(spec_.ticks, early_pair_, ReadTickPair(spec_.ticks));
  std::optional<v1::WorkerEvent> deadline;
  {
    MutexLock lock(mutex_);
    if (cancelled_) return;
    deadline = DeadlineEvent();
  }
  if (deadline) take_event_(*std::move(deadline));
  v1::WorkerEvent event;
  for (const auto& lane : lanes_) *event.mutable_lanes_done()->add_ends() = lane->EndsOn(*scale_);
  take_event_(std::move(event));
  RecordCounters();
}

void PhaseRunner::RecordCounters() {
  rusage process{};
  ::getrusage(RUSAGE_SELF, &process);
  const HostCounters host = ReadHostCounters(nfs_mount_points_, /*last_is_cpu=*/false, servers_);
  MutexLock lock(mutex_);
  host_ = HostDeltaBetween(before_.host, host, carriers_);
  host_.mutable_spaces()->insert(spaces_.begin(), spaces_.end());
  process_cpu_user_s_ = SecondsFrom(process.ru_utime) - SecondsFrom(before_.process.ru_utime);
  process_cpu_system_s_ = SecondsFrom(process.ru_stime) - SecondsFrom(before_.process.ru_stime);
}

void PhaseRunner::Arrive(Meeting meeting, size_t lane_count) {
  bool last = false;
  {
    MutexLock lock(mutex_);
    arrived_[meeting] += lane_count;
    last = arrived_[meeting] == lanes_.size();
  }
  if (last) lane_moved_on_.NotifyAll();
}

bool PhaseRunner::WaitAllArrived(Meeting meeting) {
  MutexLock lock(mutex_);
  lane_moved_on_.Wait(mutex_, [this, meeting]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return cancelled_ || arrived_[meeting] == lanes_.size();
  });
  return !cancelled_;
}

void PhaseRunner::OpenMeeting(Meeting meeting) {
  {
    MutexLock lock(mutex_);
    open_[meeting] = true;
  }
  lanes_may_go_on_.NotifyAll();
}

bool PhaseRunner::WaitMeetingOpen(Meeting meeting) {
  MutexLock lock(mutex_);
  lanes_may_go_on_.Wait(mutex_,
                [this, meeting]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return cancelled_ || open_[meeting]; });
  return !cancelled_;
}

}  // namespace iobench
