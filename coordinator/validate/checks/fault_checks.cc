// Verdicts on the fault that the user's hook has made.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/preflight/cause.h"
#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/checks/fault.h"

namespace iobench {
namespace {

// False, and a failure, if the hook did not make the fault.
bool HasHappened(const Fault& fault, Outcome& outcome) {
  if (!fault.hook_problem.empty()) {
    outcome.NotReached("fail", absl::StrCat("the fault hook failed: ", fault.hook_problem),
                       "fix the hook, and check again");
    return false;
  }
  return true;
}

// False, and a failure, if a client stopped before the end of the check because its file was full: nothing then shows
// that it wrote during the fault. `also`: what was found all the same, with its evidence, or nothing.
bool WroteThroughout(const CheckContext& context, const Fault& fault, const std::string& also,
                     Outcome& outcome) {
  constexpr const char* kAdvice = "let the hook make the fault and end within 20 minutes, and check again";
  for (const auto& [worker, story] : fault.writers) {
    if (!story.full) continue;
    const std::string stopped =
        absl::StrCat(context.NameOf(worker),
                     " stopped writing when its file reached the limit of 1 GiB, before the check ",
                     "ended and perhaps before the fault; the hook took ", FormatSeconds(fault.hook_s));
    if (also.empty()) {
      outcome.NotReached("fail", stopped, kAdvice);
    } else {
      outcome.Fail(absl::StrCat(stopped, "; ", also), kAdvice);
    }
    return false;
  }
  return true;
}

void AddSigns(const Fault& fault, Outcome& outcome) {
  outcome.Evidence(Describe(fault.kind()));
  for (const std::string& line : Lines(fault.signs)) outcome.Evidence(line);
}

// True, and a warning, if nothing happened that the check could judge.
bool NoFaultSeen(const Fault& fault, Outcome& outcome) {
  if (fault.kind() != FaultKind::kNone) return false;
  outcome.Warn(
      "no fault was seen: did the hook do anything?",
      "let the hook restart the server, or cut its power, while the clients write, and return when it is back");
  AddSigns(fault, outcome);
  return true;
}

// After a restart, a client that opens a file waits for the end of the server's grace period; one that has it open does
// not. 0: no such wait was seen.
double GraceWaitedS(const Fault& fault) {
  constexpr double kPlainS = 3;
  double opening_s = 0, open_s = 0;
  bool has_open = false;
  for (const auto& [worker, story] : fault.writers) {
    const bool opens = story.writes.flush() == v1::BlockWrites::CLOSE;
    has_open |= !opens;
    double& longest_s = opens ? opening_s : open_s;
    longest_s = std::max(longest_s, story.longest_s);
  }
  const bool restarted =
      fault.kind() == FaultKind::kServiceRestarted || fault.kind() == FaultKind::kHostRestarted;
  return restarted && has_open && opening_s > open_s + kPlainS ? opening_s - open_s : 0;
}

struct Losses {
  uint64_t checked = 0, lost = 0, stale = 0, torn = 0;

  uint64_t bad() const { return lost + stale + torn; }
  void Add(const v1::BlockCounts& found) {
    checked += found.checked();
    lost += found.lost();
    stale += found.stale();
    torn += found.torn();
  }
  std::string Text() const {
    return absl::StrCat(lost, " lost, ", stale, " stale, ", torn, " torn of ", checked, " blocks of 4 KiB");
  }
};

// What it proves that nothing was lost. Only a host that went away may have lost what was in its memory.
void JudgeSurvival(const Fault& fault, const std::string& all_there, bool is_nfs, Outcome& outcome) {
  const FaultKind kind = fault.kind();
  if (NoFaultSeen(fault, outcome)) return;
  if (kind == FaultKind::kHostRestarted || kind == FaultKind::kUnknown || !is_nfs) {
    outcome.Pass(absl::StrCat(all_there, "; whether power was cut, only the hook knows"));
  } else {
    outcome.Warn(absl::StrCat(all_there, ", but the loss of power was not tested: ", Describe(kind)),
                 "let the hook cut the power of the server's host, and boot it again");
  }
  AddSigns(fault, outcome);
}

}  // namespace

absl::Status CheckDurability(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const Fault* const fault, FaultOf(context));
  if (!HasHappened(*fault, outcome)) return absl::OkStatus();
  uint64_t acknowledged = 0;
  Losses all, of_fsync;
  bool unread = false;
  for (const auto& [worker, story] : fault->writers) {
    const v1::BlockCounts& found = story.found;
    acknowledged += story.writes.acknowledged();
    const bool by_fsync = story.writes.flush() == v1::BlockWrites::FSYNC;
    all.Add(found);
    if (by_fsync) of_fsync.Add(found);
    if (!story.unread.empty()) {
      unread = true;
      outcome.Evidence(
          absl::StrCat("what ", context.NameOf(worker), " wrote could not be read: ", story.unread));
    } else if (found.lost() + found.stale() + found.torn() > 0) {
      outcome.Evidence(absl::StrCat(context.NameOf(worker), ": of ", found.checked(), " blocks that ",
                                    by_fsync ? "fsync" : "close", " acknowledged, ", found.lost(), " lost, ",
                                    found.stale(), " older, ", found.torn(), " torn; the first at offset ",
                                    found.first_bad_offset()));
    }
  }
  outcome.Figure("acknowledged_writes", static_cast<double>(acknowledged));
  outcome.Figure("checked_blocks", static_cast<double>(all.checked));
  outcome.Figure("lost_blocks", static_cast<double>(all.lost));
  outcome.Figure("stale_blocks", static_cast<double>(all.stale));
  outcome.Figure("torn_blocks", static_cast<double>(all.torn));
  // NFS promises for close() what POSIX promises only for fsync().
  const bool is_broken = context.IsNfs() ? all.bad() > 0 : of_fsync.bad() > 0;
  constexpr AdviceByFilesystem kWriteCaches = {
      .nfs = "export with sync, and check write caches of disks and controllers on the server",
      .gluster = "check write caches of disks and controllers below the bricks",
      .others = "check write caches of disks and controllers on the servers"};
  if (is_broken) {
    outcome.Fail(absl::StrCat("acknowledged data did not survive: ", all.Text()),
                 context.Advice(kWriteCaches));
  } else if (unread) {
    outcome.Fail("what was written could not be read afterwards", "see failover");
  } else if (!WroteThroughout(context, *fault, all.bad() > 0 ? all.Text() : "", outcome)) {
    return absl::OkStatus();
  } else if (all.bad() > 0) {
    outcome.Warn(absl::StrCat("close() does not make data durable here, fsync() does: ", all.Text(),
                              ", none of which fsync had acknowledged"),
                 "let programs call fsync for what they must not lose: only NFS promises it of close, too");
  } else {
    JudgeSurvival(*fault,
                  absl::StrCat(acknowledged, " writes acknowledged by fsync or close, ", all.checked,
                               " blocks read back after the fault: all there"),
                  context.IsNfs(), outcome);
  }
  const std::vector<std::string> async = AsyncExports(context);
  for (const std::string& line : async) outcome.Evidence(line);
  if (!async.empty()) {
    outcome.Warn(
        "nothing was lost this time, but the server acknowledges writes before they are on a disk (async)",
        "export with sync");
  }
  return absl::OkStatus();
}

absl::Status CheckFailover(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const Fault* const fault, FaultOf(context));
  if (!HasHappened(*fault, outcome)) return absl::OkStatus();
  double longest_s = 0;
  const Cause* cause = nullptr;  // of the first failed write
  for (const auto& [worker, story] : fault->writers) {
    longest_s = std::max(longest_s, story.longest_s);
    if (story.hangs) {
      outcome.Evidence(absl::StrCat(context.NameOf(worker), ": its write still hangs ",
                                    FormatSeconds(context.limits.fault_timeout_s),
                                    " after the hook has ended"));
    } else if (story.first_errno != 0) {
      outcome.Evidence(
          absl::StrCat(context.NameOf(worker), ": a write failed with ", ErrnoName(story.first_errno)));
      const Cause* const known = CauseOf(story.first_errno);
      if (cause == nullptr && known != nullptr && known->after_fault != nullptr) cause = known;
    } else if (story.longest_s > context.limits.stall_within_s) {
      outcome.Evidence(
          absl::StrCat(context.NameOf(worker), ": a write took ", FormatSeconds(story.longest_s)));
    }
  }
  outcome.Figure("hook_s", fault->hook_s, "s");
  outcome.Figure("stall_max_s", longest_s, "s");
  if (outcome.evidence_count() > 0) {
    if (cause != nullptr) outcome.Cause(ErrnoName(cause->error));
    outcome.Fail(absl::StrCat("I/O did not survive the fault within ",
                              FormatSeconds(context.limits.stall_within_s), " (--stall-within)"),
                 cause != nullptr && !context.IsGluster()
                     ? cause->after_fault
                     : context.Advice(
                           {.nfs = "mount with hard, and check how long the takeover and the grace period "
                                   "of the server take",
                            .gluster = "its clients give up when no brick of a file answers: replicate over "
                                       "servers, so that one of them may fail",
                            .others = "check how long the takeover takes, and what clients do until then"}));
  } else if (!WroteThroughout(context, *fault, "", outcome)) {
    return absl::OkStatus();
  } else if (!NoFaultSeen(*fault, outcome)) {
    const double grace_s = GraceWaitedS(*fault);
    if (grace_s > 0) outcome.Figure("grace_wait_s", grace_s, "s");
    outcome.Pass(absl::StrCat("no write failed, the longest took ", FormatSeconds(longest_s),
                              grace_s > 0
                                  ? absl::StrCat("; who opened a file waited ", FormatSeconds(grace_s),
                                                 " longer than who had it "
                                                 "open: the server's grace period")
                                  : ""));
    AddSigns(*fault, outcome);
  }
  return absl::OkStatus();
}

absl::Status CheckLockReclaim(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const Fault* const fault, FaultOf(context));
  if (!HasHappened(*fault, outcome)) return absl::OkStatus();
  if (!fault->lock_checked) {
    outcome.Skip("no lock could be had before the fault, or a client hangs: see locks and failover");
  } else if (!fault->lock_problem.empty()) {
    outcome.Evidence(fault->lock_problem);
    outcome.Fail(
        "a lock was lost in the fault",
        context.Advice({.nfs = "check that rpc.statd notifies (NFSv3), and the server's grace period",
                        .gluster = "bricks know locks in memory only: replicate over servers, or take "
                                   "locks again when a call has failed",
                        .others = "check that clients take their locks again after a restart"}));
  } else if (NoFaultSeen(*fault, outcome)) {
    return absl::OkStatus();
  } else if (fault->kind() == FaultKind::kSilence) {
    outcome.Warn(absl::StrCat("a lock still excluded others afterwards, but no client had to reclaim it: ",
                              Describe(fault->kind())),
                 "let the hook restart the server");
  } else {
    outcome.Pass("a lock held during the fault still excluded others afterwards");
  }
  return absl::OkStatus();
}

}  // namespace iobench
