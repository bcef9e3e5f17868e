// Checks the lock of a client that loses its power. It is the last check, because it costs a client.
#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/roster/roster.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/checks/hook_run.h"

namespace iobench {
namespace {

constexpr uint32_t kFileOfDead = 1, kHeldOfDead = 1;
// A client that answers a ping within this time still has its power.
constexpr int64_t kAliveNs = 3 * kNanosPerSecond;
constexpr int64_t kLookAgainNs = kNanosPerSecond / 2;
// Without a known lease: a lock that is free sooner was released by a client that still had its power.
constexpr double kSoonestS = 5;
// The Linux server's lease. It looks for leases that have run out once per lease, so a lock may last for two.
constexpr double kUsualLeaseS = 90, kSpareS = 30;
// Over NFSv3 no timeout frees the lock; this long the check waits for something else to free it.
constexpr double kLookOverNfs3S = 20;

// The worker whose client loses its power, and the worker that then asks for its lock.
struct Pair {
  uint32_t holder, other;
};

// Returns the last client that is not the coordinator's host. nullopt: there is none.
std::optional<Pair> PairOf(const CheckContext& context) {
  const std::vector<Member>& members = context.files.cluster().members();
  for (auto holder = context.peers.rbegin(); holder != context.peers.rend(); ++holder) {
    if (IsOnHost(members[*holder].facts, context.own_boot_id)) continue;
    return Pair{.holder = *holder, .other = context.peers[context.peers.front() == *holder ? 1 : 0]};
  }
  return std::nullopt;
}

class LockOfDead {
 public:
  LockOfDead(CheckContext& context, Pair pair, uint32_t directory)
      : context_(context), pair_(pair), directory_(directory) {}

  // Takes the lock for the holder, and checks that the other client is refused. Otherwise `problem` says what happened.
  absl::Status Take(std::string& problem) {
    CallList open(directory_);
    open.Open(kFileOfDead, kHeldOfDead, /*write=*/true).mutable_how()->set_create(true);
    for (const uint32_t worker : {pair_.holder, pair_.other}) {
      IOBENCH_ASSIGN_OR_RETURN(const CallResults opened, context_.files.Do(worker, open));
      Note(worker, opened[0], problem);
    }
    if (!problem.empty()) return absl::OkStatus();
    IOBENCH_ASSIGN_OR_RETURN(const absl::Status held, Ask(pair_.holder));
    IOBENCH_ASSIGN_OR_RETURN(const absl::Status refused, Ask(pair_.other));
    if (!held.ok()) {
      problem = absl::StrCat(context_.NameOf(pair_.holder), ": ", Printable(std::string(held.message())));
    } else if (refused.ok()) {
      problem = absl::StrCat(context_.NameOf(pair_.other), " got the lock that ",
                             context_.NameOf(pair_.holder), " holds");
    } else if (ErrnoOf(refused) != EAGAIN) {
      problem = absl::StrCat(context_.NameOf(pair_.other), ": ", Printable(std::string(refused.message())));
    }
    return absl::OkStatus();
  }

  // Asks again and again. nullopt: not free within this time.
  absl::StatusOr<std::optional<CoordTime>> AwaitFree(double within_s, std::string& problem) {
    Cluster& cluster = context_.files.cluster();
    const CoordTime deadline = cluster.Now() + NanosFrom(within_s);
    while (true) {
      IOBENCH_ASSIGN_OR_RETURN(const absl::Status got, Ask(pair_.other));
      if (got.ok()) return cluster.Now();
      if (ErrnoOf(got) != EAGAIN) problem = Printable(std::string(got.message()));
      if (!problem.empty() || cluster.Now() >= deadline) return std::nullopt;
      IOBENCH_RETURN_IF_ERROR(WaitFor(cluster, kLookAgainNs, [] { return false; }));
    }
  }

  absl::Status CloseOther() {
    CallList close(directory_);
    close.Add(v1::FileAction::CLOSE_HELD, kFileOfDead).set_held(kHeldOfDead);
    return context_.files.Do(pair_.other, close).status();
  }

 private:
  absl::StatusOr<absl::Status> Ask(uint32_t worker) {
    CallList lock(directory_);
    lock.Add(v1::FileAction::LOCK, kFileOfDead).set_held(kHeldOfDead);
    absl::StatusOr<CallResults> results = context_.files.Do(worker, lock);
    IOBENCH_RETURN_IF_ERROR(results.status());
    return ToStatus((*results)[0].problem());
  }
  void Note(uint32_t worker, const v1::FileActionResult& result, std::string& problem) const {
    if (result.problem().code() == 0 || !problem.empty()) return;
    problem = absl::StrCat(context_.NameOf(worker), ": ", Printable(result.problem().message()));
  }

  CheckContext& context_;
  const Pair pair_;
  const uint32_t directory_;
};

// Returns the lease in seconds. 0: the client does not know it.
double LeaseOf(const CheckContext& context, uint32_t worker) {
  const auto& settings = context.SeenBy(worker).settings();
  const auto lease = settings.find("lease_time");
  double seconds = 0;
  return lease != settings.end() && absl::SimpleAtod(lease->second, &seconds) ? seconds : 0;
}

void JudgeFree(const std::string& name, double since_begin_s, double since_end_s, double lease_s,
               Outcome& outcome) {
  outcome.Figure("lock_free_s", since_end_s, "s");
  const std::string found = absl::StrCat(
      "the lock of ", name, " was free ", FormatSeconds(since_end_s), " after the hook had cut its power",
      lease_s > 0 ? absl::StrCat("; the server's lease is ", FormatSeconds(lease_s)) : "");
  // A client renews its lease when two thirds of it are over. A lock that is free sooner was not lost with the power.
  const double soonest_s = lease_s > 0 ? lease_s / 3 : kSoonestS;
  if (since_begin_s < soonest_s) {
    outcome.Warn(absl::StrCat(found, ": sooner than a client without power loses it"),
                 "let the hook cut the power: a client that shuts down gives its locks back");
  } else {
    outcome.Pass(found);
  }
}

void JudgeHeld(const std::string& name, double waited_s, bool is_nfs3, bool declared, Outcome& outcome) {
  outcome.Figure("lock_held_s", waited_s, "s");
  const std::string found = absl::StrCat("the lock of ", name, " was still held ", FormatSeconds(waited_s),
                                         " after its power was cut");
  const char* const nfs3 =
      "; over NFSv3 nothing frees it until that client boots and its rpc.statd tells the server, or the server is told";
  if (is_nfs3 && !declared) {
    outcome.Pass(absl::StrCat(found, nfs3));
    return;
  }
  outcome.Fail(absl::StrCat(found, is_nfs3 ? nfs3 : "", declared ? " (--lock-free-within)" : ""),
               is_nfs3 ? "mount with NFSv4, or let whoever finds a client dead break its locks on the server"
                       : "check the lease of the server, and that it drops clients that do not renew theirs");
}

}  // namespace

absl::Status CheckDeadClient(CheckContext& context, Outcome& outcome) {
  const std::optional<Pair> pair = PairOf(context);
  if (!pair) {
    outcome.Skip("all clients are the coordinator's host: run it on another host, which keeps its power");
    return absl::OkStatus();
  }
  Cluster& cluster = context.files.cluster();
  const std::string name = context.NameOf(pair->holder);
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(pair->other));
  LockOfDead lock(context, *pair, directory);
  std::string problem;
  IOBENCH_RETURN_IF_ERROR(lock.Take(problem));
  if (!problem.empty()) {
    outcome.Skip(absl::StrCat("no lock to look at (see locks): ", problem));
    return absl::OkStatus();
  }
  const CoordTime begin = cluster.Now();
  IOBENCH_ASSIGN_OR_RETURN(const HookRun hook, RunHook(context, context.client_hook,
                                                       {{"IOBENCH_CLIENT", context.HostOf(pair->holder)}}));
  const CoordTime end = cluster.Now();
  if (!hook.problem.empty()) {
    outcome.NotReached("fail", absl::StrCat("the client hook failed: ", hook.problem),
                       "fix the hook, and check again");
    return absl::OkStatus();
  }
  cluster.DropDead(kAliveNs, "the client hook has cut its power");
  if (!cluster.members()[pair->holder].lost) {
    outcome.NotReached("fail", absl::StrCat("the client hook has ended with 0, but ", name, " still answers"),
                       "let the hook cut the power of the host that IOBENCH_CLIENT names");
    return absl::OkStatus();
  }
  const bool is_nfs3 = context.SeenBy(pair->holder).filesystem() == "nfs";
  const bool declared = context.limits.lock_free_within_s > 0;
  const double lease_s = LeaseOf(context, pair->holder);
  const double limit_s = declared  ? context.limits.lock_free_within_s
                         : is_nfs3 ? kLookOverNfs3S
                                   : 2 * (lease_s > 0 ? lease_s : kUsualLeaseS) + kSpareS;
  const double passed_s = SecondsFrom(cluster.Now() - end);
  IOBENCH_ASSIGN_OR_RETURN(const std::optional<CoordTime> free,
                           lock.AwaitFree(std::max(0.0, limit_s - passed_s), problem));
  if (!problem.empty()) {
    outcome.Evidence(absl::StrCat(context.NameOf(pair->other), ": ", problem));
    outcome.Fail(absl::StrCat("after the power of ", name, " was cut, its lock cannot be asked for"), "");
  } else if (free) {
    JudgeFree(name, SecondsFrom(*free - begin), SecondsFrom(*free - end), lease_s, outcome);
  } else {
    JudgeHeld(name, SecondsFrom(cluster.Now() - end), is_nfs3, declared, outcome);
  }
  return lock.CloseOther();
}

}  // namespace iobench
