#include "coordinator/validate/checks/fault.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/hook_run.h"

namespace iobench {
namespace {

constexpr uint32_t kBlockCount = 256;
constexpr uint32_t kFaultLockFile = 1, kFirstBlocks = 10;
constexpr uint32_t kHeldLock = 7;
constexpr uint32_t kFreeWithinMs = 10'000;  // after its holder has released it
// Writers report how far they are this often.
constexpr uint32_t kPartMs = 1000;
constexpr int64_t kRoundsNs = 2 * kNanosPerSecond, kStraightNs = 2 * kNanosPerSecond;
constexpr int64_t kAfterNs = 5 * kNanosPerSecond;

// Lets all peers write, part after part, until Stop.
class Writers {
 public:
  Writers(CheckContext& context, uint32_t directory, Fault& fault)
      : context_(context), directory_(directory), fault_(fault) {}

  void Begin() {
    Cluster& cluster = context_.files.cluster();
    cluster.set_on_event(
        [this](const Member& member, const ReceivedEvent& received) { Take(member, received); });
    for (size_t i = 0; i < context_.peers.size(); ++i) {
      v1::BlockWrites& writes = fault_.writers[context_.peers[i]].writes;
      writes.set_block_count(kBlockCount);
      writes.set_flush(i % 2 == 0 ? v1::BlockWrites::FSYNC : v1::BlockWrites::CLOSE);
      writes.set_key(context_.random());
      Continue(context_.peers[i]);
    }
  }
  // From their next part on, they overwrite nothing: a later write would hide that an earlier one was lost.
  void GoStraight() { straight_ = true; }
  void Stop() { stopped_ = true; }
  bool AllStopped() const { return waiting_.empty(); }
  // Writers that have not answered hang.
  void End() {
    context_.files.cluster().set_on_event(nullptr);
    for (const auto& [worker, call] : waiting_) {
      WriterStory& story = fault_.writers[worker];
      story.hangs = true;
      story.writes.set_begun(story.writes.begun() + 1);
    }
  }
  const absl::Status& status() const { return status_; }

  static uint32_t FileOf(uint32_t worker) { return kFirstBlocks + worker; }

 private:
  void Continue(uint32_t worker) {
    v1::BlockWrites& writes = fault_.writers[worker].writes;
    if (straight_ && writes.straight_from() == 0) writes.set_straight_from(writes.begun());
    CallList list(directory_);
    v1::FileAction& action = list.Add(v1::FileAction::WRITE_BLOCKS, FileOf(worker));
    *action.mutable_blocks() = writes;
    action.set_timeout_ms(kPartMs);
    Cluster& cluster = context_.files.cluster();
    waiting_[worker] = cluster.Ask(cluster.members()[worker], context_.files.RequestFor(list));
  }
  void Take(const Member& member, const ReceivedEvent& received) {
    const auto waiting = waiting_.find(member.number);
    if (waiting == waiting_.end()) return;
    if (received.event.has_lost()) {
      status_.Update(absl::UnavailableError(absl::StrCat(member.Name(), " was lost: ", member.lost_reason)));
      waiting_.erase(waiting);
      return;
    }
    if (received.event.call_id() != waiting->second) return;
    waiting_.erase(waiting);
    WriterStory& story = fault_.writers[member.number];
    status_.Update(ProblemOf(member, received));
    if (received.event.file_actions_done().results_size() == 0) return;
    const v1::FileActionResult& result = received.event.file_actions_done().results(0);
    const v1::BlockCounts& counts = result.blocks();
    story.writes.set_begun(counts.begun());
    story.writes.set_acknowledged(counts.acknowledged());
    story.longest_s = std::max(story.longest_s, static_cast<double>(counts.longest_ns()) * 1e-9);
    story.first_errno = counts.first_errno();
    if (result.problem().code() != 0) story.first_errno = std::max(1, result.problem().errno_value());
    // A full file is not written from its start again: that would hide that an earlier write was lost.
    story.full = counts.full();
    if (!stopped_ && !story.full && story.first_errno == 0) Continue(member.number);
  }

  CheckContext& context_;
  const uint32_t directory_;
  Fault& fault_;
  bool straight_ = false;
  bool stopped_ = false;
  absl::Status status_;
  std::map<uint32_t, uint64_t> waiting_;  // worker -> call
};

absl::Status RunFaultHook(CheckContext& context, Fault& fault) {
  std::set<std::string> hosts;
  for (const uint32_t worker : context.peers) hosts.insert(context.HostOf(worker));
  IOBENCH_ASSIGN_OR_RETURN(
      HookRun ran, RunHook(context, context.fault_hook, {{"IOBENCH_CLIENTS", absl::StrJoin(hosts, "\n")}}));
  fault.hook_s = ran.seconds;
  fault.hook_problem = std::move(ran.problem);
  return absl::OkStatus();
}

absl::Status AcquireLock(CheckContext& context, uint32_t directory) {
  CallList list(directory);
  list.Open(kFaultLockFile, kHeldLock, /*write=*/true).mutable_how()->set_create(true);
  list.Add(v1::FileAction::LOCK, kFaultLockFile).set_held(kHeldLock);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults results, context.files.Do(context.peers.front(), list));
  return ToStatus(results[1].problem());
}

// Another client must still be refused, and get the lock once its holder has released it.
absl::Status CheckLock(CheckContext& context, uint32_t directory, Fault& fault) {
  const uint32_t holder = context.peers.front(), other = context.peers[1];
  CallList ask(directory), release(directory);
  ask.Open(kFaultLockFile, kHeldLock, /*write=*/true);
  ask.Add(v1::FileAction::LOCK, kFaultLockFile).set_held(kHeldLock);
  release.Add(v1::FileAction::UNLOCK, kFaultLockFile).set_held(kHeldLock);
  release.Add(v1::FileAction::CLOSE_HELD, kFaultLockFile).set_held(kHeldLock);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults asked, context.files.Do(other, ask));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults released, context.files.Do(holder, release));
  fault.lock_checked = true;
  if (asked[0].problem().code() != 0) {
    fault.lock_problem = absl::StrCat(context.NameOf(other), ": ", Printable(asked[0].problem().message()));
    return absl::OkStatus();
  }
  const absl::Status got = ToStatus(asked[1].problem()), let_go = ToStatus(released[0].problem());
  if (got.ok()) {
    fault.lock_problem =
        absl::StrCat(context.NameOf(other), " got the lock that ", context.NameOf(holder), " holds");
  } else if (ErrnoOf(got) != EAGAIN) {
    fault.lock_problem = absl::StrCat(context.NameOf(other), ": ", Printable(std::string(got.message())));
  } else if (!let_go.ok()) {
    fault.lock_problem = absl::StrCat(
        context.NameOf(holder), " could not release its lock: ", Printable(std::string(let_go.message())));
  }
  CallList take(directory);
  v1::FileAction& lock = take.Add(v1::FileAction::LOCK, kFaultLockFile);
  lock.set_held(kHeldLock);
  lock.set_timeout_ms(kFreeWithinMs);
  take.Add(v1::FileAction::CLOSE_HELD, kFaultLockFile).set_held(kHeldLock);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults taken, context.files.Do(other, take));
  if (taken[0].problem().code() != 0 && fault.lock_problem.empty()) {
    fault.lock_problem = absl::StrCat(context.NameOf(other), " could not get the lock within ",
                                      FormatSeconds(kFreeWithinMs / 1e3), " after ", context.NameOf(holder),
                                      " had released it: ", Printable(taken[0].problem().message()));
  }
  return absl::OkStatus();
}

// Each file is read by a client that did not write it, if there is one.
absl::Status ReadBack(CheckContext& context, uint32_t directory, Fault& fault) {
  std::map<uint32_t, CallList> calls;
  std::map<uint32_t, uint32_t> writer_of;
  for (size_t i = 0; i < context.peers.size(); ++i) {
    const uint32_t writer = context.peers[i], reader = context.peers[(i + 1) % context.peers.size()];
    const WriterStory& story = fault.writers[writer];
    if (fault.writers[reader].hangs) {
      fault.writers[writer].unread = absl::StrCat(context.NameOf(reader), " still hangs");
      continue;
    }
    CallList list(directory);
    *list.Add(v1::FileAction::CHECK_BLOCKS, Writers::FileOf(writer)).mutable_blocks() = story.writes;
    calls.emplace(reader, std::move(list));
    writer_of[reader] = writer;
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers read, context.files.DoAll(calls));
  for (const auto& [reader, results] : read) {
    WriterStory& story = fault.writers[writer_of[reader]];
    story.found = results[0].blocks();
    if (results[0].problem().code() != 0) {
      story.unread = absl::StrCat(context.NameOf(reader), ": ", Printable(results[0].problem().message()));
    }
  }
  return absl::OkStatus();
}

absl::Status MakeFault(CheckContext& context, Fault& fault) {
  Cluster& cluster = context.files.cluster();
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  const bool has_lock = context.peers.size() > 1 && AcquireLock(context, directory).ok();
  IOBENCH_ASSIGN_OR_RETURN(const ServerSights before, LookAtServer(context, directory));
  Writers writers(context, directory, fault);
  writers.Begin();
  absl::Status status = WaitFor(cluster, kRoundsNs, [&] { return !writers.status().ok(); });
  writers.GoStraight();
  if (status.ok()) status = WaitFor(cluster, kStraightNs, [&] { return !writers.status().ok(); });
  for (const auto& [worker, story] : fault.writers) {
    if (story.first_errno == 0 || !fault.hook_problem.empty()) continue;
    fault.hook_problem = absl::StrCat("it was not run, because ", context.NameOf(worker),
                                      " could not write: ", ErrnoName(story.first_errno));
  }
  if (status.ok() && fault.hook_problem.empty()) status = RunFaultHook(context, fault);
  if (status.ok() && fault.hook_problem.empty()) {
    status = WaitFor(cluster, kAfterNs, [&] { return !writers.status().ok(); });
  }
  writers.Stop();
  if (status.ok()) {
    status =
        WaitFor(cluster, NanosFrom(context.limits.fault_timeout_s), [&] { return writers.AllStopped(); });
  }
  writers.End();
  IOBENCH_RETURN_IF_ERROR(status);
  IOBENCH_RETURN_IF_ERROR(writers.status());
  const bool any_hangs = std::any_of(fault.writers.begin(), fault.writers.end(),
                                     [](const auto& writer) { return writer.second.hangs; });
  ServerSights after;
  if (!any_hangs) {
    IOBENCH_ASSIGN_OR_RETURN(after, LookAtServer(context, directory));
  }
  fault.signs = SignsBetween(before, after);
  for (const auto& [worker, story] : fault.writers) {
    fault.signs.held_up_s = std::max(fault.signs.held_up_s, story.longest_s);
    fault.signs.write_failed |= story.first_errno != 0 || story.hangs;
  }
  // A client that hangs answers no more calls.
  if (any_hangs) {
    for (auto& [worker, story] : fault.writers) story.unread = "a client still hangs";
    return absl::OkStatus();
  }
  IOBENCH_RETURN_IF_ERROR(ReadBack(context, directory, fault));
  return has_lock ? CheckLock(context, directory, fault) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<const Fault*> FaultOf(CheckContext& context) {
  if (context.fault == nullptr) {
    auto fault = std::make_shared<Fault>();
    IOBENCH_RETURN_IF_ERROR(MakeFault(context, *fault));
    context.fault = std::move(fault);
  }
  return context.fault.get();
}

}  // namespace iobench
