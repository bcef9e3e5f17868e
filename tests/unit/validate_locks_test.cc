// Checks of locks: who holds them, who waits for them, and what keeps them from the server.

#include <catch2/catch.hpp>
#include <cerrno>
#include <map>
#include <string>
#include <tuple>

#include "common/status_util.h"
#include "tests/unit/validated.h"

namespace iobench {
namespace {

TEST_CASE("locks: a lock that two hold, locks that do not work, and a count that is lost") {
  Validated both;
  both.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::LOCK && action.lock().flock()) result.clear_problem();
  };
  both.Run("locks");
  CHECK(both.Verdict("locks") == "fail");
  Says(both.Text("locks"), "flock: c1 got an exclusive lock, which c0 holds");
  CHECK(both.Text("locks").find("fcntl") == std::string::npos);

  Validated none;
  none.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::LOCK)
      *result.mutable_problem() = ToProblem(ErrnoStatus("lock f1", ENOLCK));
  };
  none.Run("locks");
  CHECK(none.Verdict("locks") == "fail");
  Says(none.Text("locks"), "ENOLCK");

  Validated lost;
  lost.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::READ) result.set_contents_xxh3(0);
  };
  lost.Run("locks");
  CHECK(lost.Verdict("locks") == "fail");
  Says(lost.Text("locks"), "does not say 75");
}

TEST_CASE("locks: a lock that comes too late is no lost count, and more clients have more time") {
  std::map<size_t, uint32_t> timeout_ms;  // by number of clients
  for (const size_t clients : {2, 3}) {
    Validated run(clients);
    run.workers.tamper = [&](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
      if (action.what() != v1::FileAction::COUNT_UP || action.count() == 1) return;
      timeout_ms[clients] = action.timeout_ms();
      if (id == 1) *result.mutable_problem() = ToProblem(ErrnoStatus("lock f2", EAGAIN));
    };
    run.Run("locks");
    CHECK(run.Verdict("locks") == "fail");
    Says(run.Of("locks").found(), "a lock was not obtained within 3");
    Says(run.Text("locks"), "fcntl: c1 ended after 25 of 25 steps: a lock was not obtained within 3");
    CHECK(run.Text("locks").find("do not protect") == std::string::npos);
  }
  CHECK(timeout_ms[2] > 30'000);
  CHECK(timeout_ms[3] > timeout_ms[2]);
}

TEST_CASE("locks: an error beside a lock that comes too late is told instead") {
  Validated run;
  run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() != v1::FileAction::COUNT_UP || id == 2) return;
    *result.mutable_problem() = ToProblem(ErrnoStatus("lock f2", id == 0 ? EAGAIN : EIO));
  };
  run.Run("locks");
  Says(run.Of("locks").found(), "locks do not protect what they should");
  Says(run.Text("locks"), "EIO");
}

TEST_CASE("locks that do not reach the server follow from the mounts, unless these are not checked") {
  for (const char* const options : {"rw,vers=3,hard,nolock", "rw,vers=3,hard,local_lock=all"}) {
    for (const bool with_mounts : {true, false}) {
      Validated local(2);
      for (v1::WorkerTargets& seen : local.targets) {
        seen.mutable_targets(0)->set_filesystem("nfs");
        seen.mutable_targets(0)->set_mount_options(options);
      }
      local.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
        for (v1::TrialResult& trial : *result.mutable_trials()) trial.set_answer("yes");
        if (action.what() == v1::FileAction::LOCK) result.clear_problem();
      };
      local.choice.only = {"locks"};
      if (with_mounts) local.choice.only = {"mounts", "locks"};
      local.Run();
      CHECK(local.Verdict("locks") == (with_mounts ? "follows" : "fail"));
      Says(local.Of("locks").found(), "locks do not reach the server");
    }
  }
}

TEST_CASE("locks: a client that is not told when a lock is free, and one that never gets it") {
  const char* const nfs3 = "rw,vers=3,local_lock=none";
  const char* const nfs4 = "rw,vers=4.2,local_lock=none";
  for (const auto& [first, second, advice] : {std::tuple{nfs3, nfs3, "rpcbind (port 111)"},
                                              {nfs4, nfs4, "nfs.callback_tcpport"},
                                              {nfs3, nfs4, "one NFS version"}}) {
    Validated late(2);
    late.targets[0].mutable_targets(0)->set_mount_options(first);
    late.targets[1].mutable_targets(0)->set_mount_options(second);
    late.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
      if (action.lock().waits() && id == 1)
        result.set_end_worker_ns(result.end_worker_ns() + 30 * kNanosPerSecond);
      for (v1::TrialResult& trial : *result.mutable_trials()) trial.set_answer("yes");
    };
    late.Run("locks");
    CHECK(late.Verdict("locks") == "fail");
    Says(late.Text("locks"), "fcntl: c1 waited, and got the lock that c0 released 30");
    Says(late.Of("locks").advice(), advice);
    CHECK(late.Text("locks").find("flock: ") == std::string::npos);  // one cause, found once
  }
  Validated never(3);
  never.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.lock().waits() && action.lock().flock() && id == 0)
      *result.mutable_problem() = ToProblem(ErrnoStatus("lock f1", EAGAIN));
  };
  never.Run("locks");
  CHECK(never.Verdict("locks") == "fail");
  Says(never.Text("locks"), "flock: c0 waited, and had not got the lock that c2 released");
}

TEST_CASE("locks: options that keep them on the client are named, and so is a statd that is missing") {
  Validated local(2);
  local.targets[1].mutable_targets(0)->set_mount_options("rw,vers=3,local_lock=posix");
  local.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::LOCK && !action.lock().flock()) result.clear_problem();
  };
  local.Run("locks");
  CHECK(local.Verdict("locks") == "fail");
  Says(local.Text("locks"),
       "locks do not reach the server, so two clients can hold one (c1: local_lock=posix");

  for (const bool refused : {false, true}) {
    Validated without(2);
    for (v1::WorkerTargets& seen : without.targets)
      seen.mutable_targets(0)->set_mount_options("rw,vers=3,local_lock=none");
    without.workers.tamper = [refused](WorkerId id, const v1::FileAction& action,
                                       v1::FileActionResult& result) {
      for (v1::TrialResult& trial : *result.mutable_trials())
        trial.set_answer(id == 1 && trial.name() == "statd" ? "no" : "yes");
      if (refused && action.what() == v1::FileAction::LOCK)
        *result.mutable_problem() = ToProblem(ErrnoStatus("lock f1", ENOLCK));
    };
    without.Run("locks");
    CHECK(without.Verdict("locks") == (refused ? "fail" : "warn"));
    Says(without.Text("locks"), "c1: rpc.statd of this client does not answer");
    Says(without.Of("locks").advice(), "rpc.statd");
    CHECK(without.Text("locks").find("c0: rpc.statd") == std::string::npos);
  }
}

}  // namespace
}  // namespace iobench
