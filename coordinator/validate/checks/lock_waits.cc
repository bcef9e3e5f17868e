#include "coordinator/validate/checks/lock_waits.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "common/time.h"

namespace iobench {
namespace {

constexpr uint32_t kFirstLockFile = 1, kMissingFile = 900, kHeldOfWait = 1;
// NFSv4.0 clients ask again after 1, 2, 4 … s: they, too, have the lock soon after so short a wait.
constexpr double kHoldS = 0.5;
// Longer than the 30 s after which clients ask again.
constexpr double kGiveUpS = 45;

struct WaitingPair {
  uint32_t holder, waiter, file;
};

v1::FileAction& AddLock(CallList& list, v1::FileAction::What what, const WaitingPair& pair, bool flock) {
  v1::FileAction& action = list.Add(what, pair.file);
  action.set_held(kHeldOfWait);
  action.mutable_lock()->set_flock(flock);
  return action;
}

// One call after the other on each worker of `lists`; true: all of them succeeded.
absl::StatusOr<bool> AllDone(CheckContext& context, const std::map<uint32_t, CallList>& lists) {
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers all, context.files.DoAll(lists));
  for (const auto& [worker, results] : all) {
    for (const v1::FileActionResult& result : results) {
      if (result.problem().code() != 0) return false;
    }
  }
  return true;
}

// No worker is in two of the pairs.
absl::Status WaitInPairs(CheckContext& context, uint32_t directory, const std::vector<WaitingPair>& pairs,
                         bool flock, LockWaits& waits) {
  std::map<uint32_t, CallList> open, hold, wait, close;
  for (const WaitingPair& pair : pairs) {
    for (const uint32_t worker : {pair.holder, pair.waiter}) {
      open.emplace(worker, directory)
          .first->second.Open(pair.file, kHeldOfWait, true)
          .mutable_how()
          ->set_create(true);
      close.emplace(worker, directory)
          .first->second.Add(v1::FileAction::CLOSE_HELD, pair.file)
          .set_held(kHeldOfWait);
    }
    AddLock(hold.emplace(pair.holder, directory).first->second, v1::FileAction::LOCK, pair, flock);
    CallList release(directory), ask(directory);
    release.Await(v1::FileAction::NAME, kMissingFile, kHoldS);  // never comes: the lock is held until then
    AddLock(release, v1::FileAction::UNLOCK, pair, flock);
    v1::FileAction& lock = AddLock(ask, v1::FileAction::LOCK, pair, flock);
    lock.mutable_lock()->set_waits(true);
    lock.set_timeout_ms(static_cast<uint32_t>(kGiveUpS * 1000));
    AddLock(ask, v1::FileAction::UNLOCK, pair, flock);
    wait.emplace(pair.holder, std::move(release));
    wait.emplace(pair.waiter, std::move(ask));
  }
  IOBENCH_ASSIGN_OR_RETURN(const bool opened, AllDone(context, open));
  if (!opened) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const bool held, AllDone(context, hold));
  if (held) {
    IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers waited,
                             context.files.DoAll(wait, FileCalls::Start::kTogether));
    for (const WaitingPair& pair : pairs) {
      const v1::FileActionResult& unlock = waited.at(pair.holder)[1];
      const v1::FileActionResult& lock = waited.at(pair.waiter)[0];
      const std::string who = absl::StrCat(flock ? "flock: " : "fcntl: ", context.NameOf(pair.waiter));
      const std::string whose = absl::StrCat("the lock that ", context.NameOf(pair.holder), " released");
      if (unlock.problem().code() != 0) continue;
      if (lock.problem().errno_value() == EAGAIN) {
        waits.late.push_back(absl::StrCat(who, " waited, and had not got ", whose, " ",
                                          FormatSeconds(kGiveUpS - kHoldS), " before"));
      } else if (lock.problem().code() != 0) {
        waits.late.push_back(
            absl::StrCat(who, " waited for ", whose, ": ", Printable(lock.problem().message())));
      } else {
        const double after_s = SecondsFrom(context.files.OnCoordinator(pair.waiter, lock.end_worker_ns()) -
                                           context.files.OnCoordinator(pair.holder, unlock.end_worker_ns()));
        ++waits.waits;
        waits.longest_s = std::max(waits.longest_s, after_s);
        if (after_s > kLateLockS) {
          waits.late.push_back(
              absl::StrCat(who, " waited, and got ", whose, " ", FormatSeconds(after_s), " later"));
        }
      }
    }
  }
  return AllDone(context, close).status();
}

std::optional<std::string> Option(const CheckContext& context, uint32_t worker, const char* name) {
  const std::string options = absl::StrCat(",", context.SeenBy(worker).mount_options(), ",");
  const std::string word = absl::StrCat(",", name);
  for (size_t at = options.find(word); at != std::string::npos; at = options.find(word, at + 1)) {
    const size_t end = at + word.size();
    if (options[end] == ',') return "";
    if (options[end] == '=') return options.substr(end + 1, options.find(',', end) - end - 1);
  }
  return std::nullopt;
}

bool IsNfs3(const CheckContext& context, uint32_t worker) {
  return Option(context, worker, "vers").value_or("").starts_with("3");
}

}  // namespace

absl::Status WaitForLocks(CheckContext& context, bool flock, LockWaits& waits) {
  const size_t count = context.peers.size();
  if (count < 2) return absl::OkStatus();
  // Neighbours in a ring wait for each other: first those at even positions for the next ones, then the others.
  for (size_t round = 0; round < 2 + count % 2 && waits.late.empty(); ++round) {
    std::vector<WaitingPair> pairs;
    const auto add = [&](size_t i) {
      pairs.push_back({.holder = context.peers[i],
                       .waiter = context.peers[(i + 1) % count],
                       .file = kFirstLockFile + static_cast<uint32_t>(i)});
    };
    if (round == 2) {
      add(count - 1);
    } else {
      for (size_t i = round; i < count - count % 2; i += 2) add(i);
    }
    IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
    IOBENCH_RETURN_IF_ERROR(WaitInPairs(context, directory, pairs, flock, waits));
  }
  return absl::OkStatus();
}

std::string LateLockAdvice(const CheckContext& context) {
  if (!context.IsNfs())
    return "find out how the servers tell clients that a lock is free, and what keeps them from it";
  const auto is_nfs3 = [&context](uint32_t worker) { return IsNfs3(context, worker); };
  const bool some_nfs3 = std::any_of(context.peers.begin(), context.peers.end(), is_nfs3);
  if (some_nfs3 && !std::all_of(context.peers.begin(), context.peers.end(), is_nfs3)) {
    // Linux 6.1, in the lab: 9.7 s.
    return "use one NFS version on all clients: a Linux server calls an NFSv3 client that waits only some ten seconds after "
           "an NFSv4 client has released the lock";
  }
  if (some_nfs3) {
    return "let the server call the clients: it asks rpcbind (port 111) of a client for the port of its lockd, so open both "
           "in the clients' firewalls, with a fixed port (nlm_tcpport and nlm_udpport of lockd, or [lockd] in "
           "/etc/nfs.conf), and do not put the clients behind NAT";
  }
  return "let the server call the clients: NFSv4.0 opens a connection to a client, NFSv4.1 and later use the client's own "
         "one; check nfs.callback_tcpport, firewalls and NAT, and which of them the server's log says it cannot reach";
}

std::vector<std::string> LocalLocks(const CheckContext& context, bool flock) {
  std::vector<std::string> lines;
  for (const uint32_t worker : context.peers) {
    if (Option(context, worker, "nolock")) {
      lines.push_back(absl::StrCat(context.NameOf(worker), ": nolock"));
      continue;
    }
    const std::string local = Option(context, worker, "local_lock").value_or("none");
    if (local == "all" || local == (flock ? "flock" : "posix")) {
      lines.push_back(absl::StrCat(context.NameOf(worker), ": local_lock=", local));
    }
  }
  return lines;
}

absl::Status FindMissingStatd(CheckContext& context, std::vector<std::string>& missing) {
  std::vector<uint32_t> workers;
  for (const uint32_t worker : context.peers) {
    const bool has_locks =
        !Option(context, worker, "nolock") && Option(context, worker, "local_lock").value_or("none") != "all";
    if (!context.IsNfs() || !IsNfs3(context, worker) || !has_locks) continue;
    workers.push_back(worker);
  }
  if (workers.empty()) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  std::map<uint32_t, CallList> calls;
  for (const uint32_t worker : workers) {
    CallList list(directory);
    v1::FileAction& action = list.Add(v1::FileAction::TRY, 1);
    action.add_trials("statd");
    action.add_trials("server-statd");
    calls.emplace(worker, std::move(list));
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers tried, context.files.DoAll(calls));
  for (const auto& [worker, results] : tried) {
    for (const v1::TrialResult& trial : results[0].trials()) {
      if (trial.answer() != "no") continue;
      const std::string why = absl::StrCat(" (", Printable(trial.detail()), ")");
      missing.push_back(
          trial.name() == "statd"
              ? absl::StrCat(context.NameOf(worker), ": rpc.statd of this client does not answer", why)
              : absl::StrCat(context.NameOf(worker), ": rpc.statd of the server does not answer it", why));
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
