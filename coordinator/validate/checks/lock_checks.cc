// Locks between clients: what they exclude, when they are released, and that they protect what they should.
#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/checks/lock_waits.h"

namespace iobench {
namespace {

constexpr uint32_t kLockedFile = 1, kCounterFile = 2;
constexpr uint32_t kHeld = 1;
constexpr double kLockTimeoutS = 30, kLockedStepS = 0.05, kMaxLockTimeoutS = 300;

// How often each client raises the counter under a lock. One client at a time does, so that with many clients, fewer
// steps of each take as long.
uint32_t StepsOf(const CheckContext& context) {
  constexpr uint32_t kQuickSteps = 75, kFewest = 5, kMost = 25, kMostAtDistance = 10;
  const auto clients = static_cast<uint32_t>(context.peers.size());
  const uint32_t most = context.files.server_is_distant() ? kMostAtDistance : kMost;
  return context.whole ? 200 : std::clamp(kQuickSteps / clients, kFewest, most);
}

// Clients ask again; NFSv4 has no wake-up that all servers send. So they do not queue: in the worst case the last one
// waits for all steps of all others, each with a write that may go to a disk. A client that died with the lock makes all
// others wait that long.
double LockTimeoutS(const CheckContext& context) {
  const double steps = static_cast<double>(context.peers.size()) * StepsOf(context);
  return std::min(kLockTimeoutS + kLockedStepS * steps, kMaxLockTimeoutS);
}

// Two clients that have one file open and ask for locks in turn.
class LockPair {
 public:
  LockPair(CheckContext& context, uint32_t directory, bool flock, uint32_t first, uint32_t second,
           Outcome& outcome)
      : context_(context), outcome_(outcome), directory_(directory), flock_(flock), workers_{first, second} {}

  absl::Status Open() {
    for (const uint32_t worker : workers_) {
      CallList list(directory_);
      list.Open(kLockedFile, kHeld, /*write=*/true).mutable_how()->set_create(true);
      IOBENCH_ASSIGN_OR_RETURN(const CallResults results, context_.files.Do(worker, list));
      IOBENCH_RETURN_IF_ERROR(ToStatus(results[0].problem()));
    }
    return absl::OkStatus();
  }
  absl::Status Close(int of) {
    CallList list(directory_);
    list.Add(v1::FileAction::CLOSE_HELD, kLockedFile).set_held(kHeld);
    return context_.files.Do(workers_[of], list).status();
  }

  // Asks for a lock, which must (not) be granted.
  struct Wanted {
    const char* what;
    bool granted = true;
    bool shared = false;
    uint64_t begin = 0, bytes = 0;
  };
  absl::Status Ask(int of, const Wanted& wanted) {
    if (unsupported_) return absl::OkStatus();
    IOBENCH_ASSIGN_OR_RETURN(const absl::Status got, Send(of, wanted, /*take=*/true));
    const int error = ErrnoOf(got);
    if (!got.ok() && error != EAGAIN) {
      unsupported_ = true;
      outcome_.Evidence(absl::StrCat(kind(), ": ", context_.NameOf(workers_[of]), ": ",
                                     Printable(std::string(got.message()))));
      return absl::OkStatus();
    }
    ++asked_;
    if (got.ok() == wanted.granted) return absl::OkStatus();
    outcome_.Evidence(
        absl::StrCat(kind(), ": ", context_.NameOf(workers_[of]), got.ok() ? " got " : " was refused ",
                     wanted.what, got.ok() ? ", which " : ", although nothing of ",
                     context_.NameOf(workers_[1 - of]), got.ok() ? " holds" : " is in its way"));
    return absl::OkStatus();
  }
  absl::Status Release(int of, uint64_t begin = 0, uint64_t bytes = 0) {
    if (unsupported_) return absl::OkStatus();
    return Send(of, {.what = "", .begin = begin, .bytes = bytes}, /*take=*/false).status();
  }

  int asked() const { return asked_; }
  bool unsupported() const { return unsupported_; }

 private:
  const char* kind() const { return flock_ ? "flock" : "fcntl"; }
  absl::StatusOr<absl::Status> Send(int of, const Wanted& wanted, bool take) {
    CallList list(directory_);
    v1::FileAction& action = list.Add(take ? v1::FileAction::LOCK : v1::FileAction::UNLOCK, kLockedFile);
    action.set_held(kHeld);
    action.mutable_lock()->set_flock(flock_);
    action.mutable_lock()->set_shared(wanted.shared);
    action.mutable_lock()->set_begin(wanted.begin);
    action.mutable_lock()->set_bytes(wanted.bytes);
    absl::StatusOr<CallResults> results = context_.files.Do(workers_[of], list);
    IOBENCH_RETURN_IF_ERROR(results.status());
    return ToStatus((*results)[0].problem());
  }

  CheckContext& context_;
  Outcome& outcome_;
  const uint32_t directory_;
  const bool flock_;
  const uint32_t workers_[2];
  int asked_ = 0;
  bool unsupported_ = false;
};

absl::Status CheckExclusion(CheckContext& context, bool flock, uint32_t first, uint32_t second, int& asked,
                            bool& unsupported, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  LockPair pair(context, directory, flock, first, second, outcome);
  if (const absl::Status opened = pair.Open(); !opened.ok()) {
    if (absl::IsUnavailable(opened) || absl::IsCancelled(opened)) return opened;
    outcome.Evidence(Printable(std::string(opened.message())));
    return absl::OkStatus();
  }
  IOBENCH_RETURN_IF_ERROR(pair.Ask(0, {.what = "an exclusive lock"}));
  IOBENCH_RETURN_IF_ERROR(pair.Ask(1, {.what = "an exclusive lock", .granted = false}));
  IOBENCH_RETURN_IF_ERROR(pair.Ask(1, {.what = "a shared lock", .granted = false, .shared = true}));
  IOBENCH_RETURN_IF_ERROR(pair.Release(0));
  IOBENCH_RETURN_IF_ERROR(pair.Ask(1, {.what = "a shared lock after its release", .shared = true}));
  IOBENCH_RETURN_IF_ERROR(pair.Ask(0, {.what = "a second shared lock", .shared = true}));
  IOBENCH_RETURN_IF_ERROR(pair.Release(0));
  IOBENCH_RETURN_IF_ERROR(pair.Ask(0, {.what = "an exclusive lock beside a shared one", .granted = false}));
  IOBENCH_RETURN_IF_ERROR(pair.Release(1));
  if (!flock) {
    IOBENCH_RETURN_IF_ERROR(pair.Ask(0, {.what = "bytes 0 to 99", .bytes = 100}));
    IOBENCH_RETURN_IF_ERROR(pair.Ask(1, {.what = "bytes 100 to 199", .begin = 100, .bytes = 100}));
    IOBENCH_RETURN_IF_ERROR(
        pair.Ask(1, {.what = "bytes 50 to 149", .granted = false, .begin = 50, .bytes = 100}));
    IOBENCH_RETURN_IF_ERROR(pair.Release(0, 0, 100));
    IOBENCH_RETURN_IF_ERROR(pair.Release(1, 100, 100));
  }
  IOBENCH_RETURN_IF_ERROR(pair.Ask(0, {.what = "an exclusive lock"}));
  IOBENCH_RETURN_IF_ERROR(pair.Close(0));
  IOBENCH_RETURN_IF_ERROR(pair.Ask(1, {.what = "a lock that close() has released"}));
  IOBENCH_RETURN_IF_ERROR(pair.Close(1));
  asked += pair.asked();
  unsupported |= pair.unsupported();
  return absl::OkStatus();
}

// Raises the counter `count` times, each under a lock.
void AddCount(bool flock, uint32_t count, double timeout_s, CallList& list) {
  v1::FileAction& action = list.Add(v1::FileAction::COUNT_UP, kCounterFile);
  action.set_count(count);
  action.mutable_lock()->set_flock(flock);
  action.set_timeout_ms(static_cast<uint32_t>(timeout_s * 1000));
  action.set_interval_ms(1);
}

// False, with evidence of one client, if a step failed. `late`: lines of evidence that a lock came too late.
bool AllCounted(const CheckContext& context, const ResultsOfWorkers& counted, uint32_t steps,
                const char* kind, size_t& late, Outcome& outcome) {
  // Another failure is told first: it may be why a lock was not released.
  for (const bool of_late : {false, true}) {
    for (const auto& [worker, results] : counted) {
      const v1::Problem& problem = results[0].problem();
      if (problem.code() == 0 || (problem.errno_value() == EAGAIN) != of_late) continue;
      const std::string what =
          of_late ? absl::StrCat("a lock was not obtained within ", FormatSeconds(LockTimeoutS(context)))
                  : Printable(problem.message());
      outcome.Evidence(absl::StrCat(kind, ": ", context.NameOf(worker), " ended after ",
                                    CountText(results[0].count()), " of ", Counted(steps, "step"), ": ",
                                    what));
      late += of_late ? 1 : 0;
      return false;
    }
  }
  return true;
}

// All clients count in one file, each step under a lock: none may be lost.
absl::Status CountTogether(CheckContext& context, bool flock, uint64_t& due_of_all, size_t& late,
                           Outcome& outcome) {
  const uint32_t count = StepsOf(context);
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  std::map<uint32_t, CallList> calls;
  for (const uint32_t worker : context.peers) {
    CallList list(directory);
    AddCount(flock, count, LockTimeoutS(context), list);
    calls.emplace(worker, std::move(list));
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers counted,
                           context.files.DoAll(calls, FileCalls::Start::kTogether));
  const char* const kind = flock ? "flock" : "fcntl";
  if (!AllCounted(context, counted, count, kind, late, outcome)) return absl::OkStatus();
  // Opening shows an NFSv3 client no change that fell into the same tick of the server's clock, but taking the lock
  // does: so the client that looks raises the counter once more.
  CallList look(directory);
  AddCount(flock, 1, kLockTimeoutS, look);
  look.Add(v1::FileAction::READ, kCounterFile);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults seen, context.files.Do(context.peers.front(), look));
  const uint64_t due = uint64_t{count} * context.peers.size() + 1;
  due_of_all += due - 1;
  const std::string_view expected(reinterpret_cast<const char*>(&due), sizeof due);
  if (seen[1].problem().code() == 0 && seen[1].contents_xxh3() == Xxh3Of(expected)) return absl::OkStatus();
  const std::string raised = CountText(due - 1);
  outcome.Evidence(absl::StrCat(kind, ": a counter that ", context.peers.size(), " clients raised ", raised,
                                " times under a lock does not say ", raised));
  return absl::OkStatus();
}

// What was found on all locks.
struct LockStory {
  int asked = 0;
  uint64_t steps = 0;
  size_t late_counts = 0;  // lines of evidence: a step of the counter came too late
  bool unsupported = false;
  LockWaits waits;
  std::vector<std::string> without_statd;
};

// Says what is wrong if locks do not exclude, or cannot be had: the mount options first, which explain it.
void JudgeBrokenLocks(const CheckContext& context, const LockStory& story, Outcome& outcome) {
  std::vector<std::string> local = LocalLocks(context, /*flock=*/false);
  if (local.empty()) local = LocalLocks(context, /*flock=*/true);
  for (const std::string& line : story.without_statd) outcome.Evidence(line);
  if (!local.empty()) {
    const std::string found = absl::StrCat("locks do not reach the server, so two clients can hold one (",
                                           absl::StrJoin(local, ", "));
    if (context.causes.contains(kLocalLocks)) {
      outcome.Follow("mounts", "", absl::StrCat(found, "): see mounts"));
    } else {
      outcome.Fail(absl::StrCat(found, ")"), "mount without nolock and with local_lock=none");
    }
  } else if (story.unsupported && !story.without_statd.empty()) {
    outcome.Fail("locks are refused, because rpc.statd does not answer", kStatdAdvice);
  } else {
    outcome.Fail(
        "locks do not protect what they should",
        context.CacheAdvice(
            "check lockd and rpc.statd (NFSv3) or the state of NFSv4: is the server just booting, or does it "
            "take two clients for one?"));
  }
}

}  // namespace

absl::Status CheckLocks(CheckContext& context, Outcome& outcome) {
  LockStory story;
  constexpr size_t kQuickPairs = 4;
  // A refused lock may take the kernel 10 s: all are asked for at the same time.
  const size_t pairs = context.whole ? context.peers.size() : std::min(context.peers.size(), kQuickPairs);
  std::vector<std::function<absl::Status()>> exclusions;
  for (const bool flock : {false, true}) {
    for (size_t i = 0; i < pairs; ++i) {
      exclusions.emplace_back([&, flock, i] {
        const uint32_t next = context.peers[(i + 1) % context.peers.size()];
        return CheckExclusion(context, flock, context.peers[i], next, story.asked, story.unsupported,
                              outcome);
      });
    }
  }
  IOBENCH_RETURN_IF_ERROR(context.files.side_by_side().Run(exclusions));
  if (!story.unsupported) {
    const auto count = [&](bool flock) {
      return CountTogether(context, flock, story.steps, story.late_counts, outcome);
    };
    IOBENCH_RETURN_IF_ERROR(context.files.side_by_side().Run(std::vector<std::function<absl::Status()>>{
        [&] { return count(false); }, [&] { return count(true); }}));
  }
  // Where locks exclude nobody, nobody waits. One kind after the other: two waits of one client, side by side, were told
  // late by Linux 6.1 over NFSv4.2 (8 s in the lab).
  for (const bool flock : {false, true}) {
    if (outcome.evidence_count() == 0 && story.waits.late.empty())
      IOBENCH_RETURN_IF_ERROR(WaitForLocks(context, flock, story.waits));
  }
  IOBENCH_RETURN_IF_ERROR(FindMissingStatd(context, story.without_statd));
  outcome.Figure("locks_asked_for", story.asked);
  outcome.Figure("counted_under_lock", static_cast<double>(story.steps));
  if (story.waits.waits > 0) outcome.Figure("lock_wait_after_release_s", story.waits.longest_s, "s");
  if (outcome.evidence_count() > story.late_counts) {
    JudgeBrokenLocks(context, story, outcome);
    context.causes.insert("locks");
    return absl::OkStatus();
  }
  if (outcome.evidence_count() > 0) {
    outcome.Fail(
        absl::StrCat("a lock was not obtained within ", FormatSeconds(LockTimeoutS(context))),
        "find out what the server is waiting for: its disks, and lockd (NFSv3) or the state of NFSv4");
    return absl::OkStatus();
  }
  const std::vector<std::string>& late = story.waits.late;
  for (const std::string& line : late) outcome.Evidence(line);
  for (const std::string& line : story.without_statd) outcome.Evidence(line);
  if (!late.empty()) {
    outcome.Fail(
        "a client that waits for a lock is not told when it is free: programs that wait (F_SETLKW, flock) stand "
        "still for up to half a minute",
        LateLockAdvice(context));
  } else if (!story.without_statd.empty()) {
    outcome.Warn(
        "locks work, but will be lost when the server or a client restarts: rpc.statd does not answer",
        kStatdAdvice);
  } else {
    outcome.Pass(absl::StrCat(
        story.asked, " locks asked for between clients, fcntl and flock, all answered correctly; ",
        story.steps, " steps of a counter under locks, none lost",
        story.waits.waits > 0
            ? absl::StrCat("; who waits has a lock ", FormatSeconds(std::max(0.0, story.waits.longest_s)),
                           " after its release")
            : ""));
  }
  return absl::OkStatus();
}

}  // namespace iobench
