// Checks of validate around a fault: of the server, or of a client that loses its power.
#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "common/clock.h"
#include "common/status_util.h"
#include "coordinator/validate/checks/fault_evidence.h"
#include "tests/unit/validated.h"

namespace iobench {
namespace {

TEST_CASE("the fault: acknowledged data that are gone, locks that were lost, and a hook that fails") {
  Validated fine;
  fine.fault_hook = "test -d \"$IOBENCH_PATH\" && test \"$(echo \"$IOBENCH_CLIENTS\" | wc -l)\" = 3";
  fine.choice.only = {"durability", "failover", "lock-reclaim"};
  fine.Run();
  INFO(fine.Text("durability") << fine.Text("failover"));
  for (const char* const name : {"durability", "failover", "lock-reclaim"}) {
    CHECK(fine.Verdict(name) == "warn");  // nothing was held up
    Says(fine.Text(name), "no fault was seen");
  }
  CHECK(fine.LeftNothing());

  Validated lost;
  lost.fault_hook = "true";
  lost.choice.only = {"durability", "failover", "lock-reclaim"};
  lost.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::CHECK_BLOCKS && id == 1) {
      result.mutable_blocks()->set_lost(3);
      result.mutable_blocks()->set_first_bad_offset(8192);
    }
    if (action.what() == v1::FileAction::LOCK && id == 1) result.clear_problem();
    if (action.what() == v1::FileAction::WRITE_BLOCKS && id == 2) {
      result.mutable_blocks()->set_longest_ns(100 * kNanosPerSecond);
    }
  };
  lost.Run();
  CHECK(lost.Verdict("durability") == "fail");
  Says(lost.Text("durability"), "c0: of ");
  Says(lost.Text("durability"), "3 lost, 0 older, 0 torn; the first at offset 8192");
  CHECK(lost.Verdict("failover") == "fail");
  Says(lost.Text("failover"), "c2: a write took 1 min 40");
  CHECK(lost.Verdict("lock-reclaim") == "fail");
  Says(lost.Text("lock-reclaim"), "c1 got the lock that c0 holds");

  // The server still keeps a lock that its holder has released.
  Validated stuck;
  stuck.fault_hook = "true";
  stuck.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() != v1::FileAction::LOCK || id != 1) return;
    *result.mutable_problem() = ToProblem(ErrnoStatus("lock f1", EAGAIN));
  };
  CHECK(stuck.Run("lock-reclaim").Verdict("lock-reclaim") == "fail");
  Says(stuck.Text("lock-reclaim"), "c1 could not get the lock within 10 s after c0 had released it");

  Validated broken;
  broken.fault_hook = "exit 3";
  CHECK(broken.Run("durability").Verdict("durability") == "fail");
  Says(broken.Text("durability"), "exit code 3");
  Validated endless;
  endless.fault_hook = "sleep 600";
  endless.limits.fault_timeout_s = 0.2;
  CHECK(endless.Run("failover").Verdict("failover") == "fail");
  Says(endless.Text("failover"), "had not ended after");
}

// What the clients see of a server between two looks: before the fault, all numbers are 1.
struct SeenOfServer {
  uint64_t connects = 1, introductions = 1, tcp_timeouts = 1;
  double open_write_s = 5,
         opening_write_s = 5;  // by who has its file open, and by who opens it for each block
};
std::unique_ptr<Validated> RunWithFault(const SeenOfServer& after) {
  auto run = std::make_unique<Validated>(2);
  run->fault_hook = "true";
  run->choice.only = {"durability", "failover", "lock-reclaim"};
  run->workers.tamper = [after, looks = std::map<WorkerId, int>()](WorkerId id, const v1::FileAction& action,
                                                                   v1::FileActionResult& result) mutable {
    if (action.what() == v1::FileAction::WRITE_BLOCKS) {
      const bool opens = action.blocks().flush() == v1::BlockWrites::CLOSE;
      result.mutable_blocks()->set_longest_ns(
          static_cast<int64_t>((opens ? after.opening_write_s : after.open_write_s) * kNanosPerSecond));
    }
    if (action.what() != v1::FileAction::TRY) return;
    const SeenOfServer seen = looks[id]++ == 0 ? SeenOfServer() : after;
    for (v1::TrialResult& trial : *result.mutable_trials()) {
      trial.set_number(trial.name() == "server-connects"        ? seen.connects
                       : trial.name() == "server-introductions" ? seen.introductions
                                                                : seen.tcp_timeouts);
    }
  };
  run->Run();
  return run;
}

TEST_CASE("the fault: what it proves depends on what the clients saw of it") {
  const auto hang = RunWithFault({});
  CHECK(hang->Verdict("durability") == "warn");
  Says(hang->Text("durability"), "the loss of power was not tested: the server did not answer for a while");
  CHECK(hang->Verdict("failover") == "pass");
  CHECK(hang->Verdict("lock-reclaim") == "warn");
  Says(hang->Text("lock-reclaim"), "no client had to reclaim it");

  const auto service = RunWithFault({.connects = 2, .introductions = 2});
  CHECK(service->Verdict("durability") == "warn");
  Says(service->Text("durability"), "the NFS service was restarted, on a host that answered all the time");
  CHECK(service->Verdict("lock-reclaim") == "pass");

  const auto host =
      RunWithFault({.connects = 2, .introductions = 2, .tcp_timeouts = 9, .opening_write_s = 25});
  CHECK(host->Verdict("durability") == "pass");
  Says(host->Text("durability"), "whether power was cut, only the hook knows");
  Says(host->Text("durability"), "its NFS service then began anew");
  Says(host->Text("failover"), "waited 20");
  Says(host->Text("failover"), "the server's grace period");
}

TEST_CASE("kinds of faults, by what clients saw") {
  const auto kind = [](double held_up_s, std::optional<uint64_t> reconnects,
                       std::optional<uint64_t> introductions, std::optional<uint64_t> timeouts) {
    return KindOf({.held_up_s = held_up_s,
                   .reconnects = reconnects,
                   .introductions = introductions,
                   .tcp_timeouts = timeouts});
  };
  CHECK(kind(0.2, 0, 0, 0) == FaultKind::kNone);
  CHECK(kind(0.2, {}, {}, 0) == FaultKind::kNone);
  CHECK(kind(5, {}, {}, 9) == FaultKind::kUnknown);
  CHECK(kind(5, 0, 0, 9) == FaultKind::kSilence);
  CHECK(kind(0.2, 1, 0, 0) == FaultKind::kSilence);  // a connection that broke
  CHECK(kind(0.2, 1, 1, 0) == FaultKind::kServiceRestarted);
  CHECK(kind(5, 1, 1, 2) == FaultKind::kServiceRestarted);
  CHECK(kind(5, 1, 1, 3) == FaultKind::kHostRestarted);
  CHECK(kind(5, 1, {}, 0) == FaultKind::kServiceRestarted);  // NFSv3
  CHECK(kind(5, 1, {}, 9) == FaultKind::kHostRestarted);
}

TEST_CASE("durability: what close() alone has acknowledged may be lost, but not over NFS") {
  const auto lost_by = [](const char* filesystem, const char* flush) {
    auto run = std::make_unique<Validated>();
    run->fault_hook = "true";
    for (v1::WorkerTargets& seen : run->targets) seen.mutable_targets(0)->set_filesystem(filesystem);
    // Each client's blocks are read by the next one; c0 flushes by fsync(), c1 by close().
    const WorkerId reader = flush == std::string("fsync") ? 1 : 2;
    run->workers.tamper = [reader](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
      if (action.what() == v1::FileAction::CHECK_BLOCKS && id == reader) result.mutable_blocks()->set_lost(3);
    };
    run->Run("durability");
    Says(run->Text("durability"), (std::string(flush) + " acknowledged, 3 lost").c_str());
    return run;
  };
  CHECK(lost_by("nfs4", "fsync")->Verdict("durability") == "fail");
  CHECK(lost_by("nfs4", "close")->Verdict("durability") == "fail");
  CHECK(lost_by("fuse.glusterfs", "fsync")->Verdict("durability") == "fail");
  const auto close = lost_by("fuse.glusterfs", "close");
  CHECK(close->Verdict("durability") == "warn");
  Says(close->Text("durability"), "close() does not make data durable here, fsync() does: 3 lost");
}

TEST_CASE("advice after a fault fits the file system") {
  for (const auto& [filesystem, of_failover, of_locks] :
       {std::tuple{"nfs4", "mount with hard", "rpc.statd"},
        {"fuse.glusterfs", "replicate over servers", "in memory only"},
        {"lustre", "takeover takes", "take their locks again"}}) {
    Validated run;
    run.fault_hook = "true";
    run.choice.only = {"failover", "lock-reclaim"};
    run.targets[0].mutable_targets(0)->set_filesystem(filesystem);
    run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
      if (action.what() == v1::FileAction::LOCK && id == 1) result.clear_problem();
      if (action.what() == v1::FileAction::WRITE_BLOCKS) {
        result.mutable_blocks()->set_longest_ns(100 * kNanosPerSecond);
      }
    };
    run.Run();
    Says(run.Of("failover").advice(), of_failover);
    Says(run.Of("lock-reclaim").advice(), of_locks);
  }
}

// The last of three clients loses its power, and its lock is free when another one checks for the `free_at_look`th
// time; 0: never.
std::unique_ptr<Validated> RunWithoutPower(int free_at_look, const std::function<void(Validated&)>& change) {
  auto run = std::make_unique<Validated>();
  Validated& it = *run;
  it.client_hook = "echo \"$IOBENCH_CLIENT\" > \"$IOBENCH_PATH/off\"";
  it.workers.has_power = [&it](WorkerId id) { return id != 2 || !it.directory.Has("off"); };
  it.workers.tamper = [&it, free_at_look, looks = 0](WorkerId id, const v1::FileAction& action,
                                                     v1::FileActionResult& result) mutable {
    if (id != 0 || action.what() != v1::FileAction::LOCK || !it.directory.Has("off")) return;
    if (++looks == free_at_look) result.clear_problem();
  };
  for (v1::WorkerTargets& seen : it.targets)
    (*seen.mutable_targets(0)->mutable_settings())["lease_time"] = "15";
  // Only calls move this clock, and they race ahead while a hook runs, however long that waits for a processor.
  // Meanwhile, neither may the hook be killed nor the client that is already off be dropped for its silence.
  it.workers.real_time_passes = false;
  it.limits.fault_timeout_s = 1e9;
  it.patience.lost_after_ns = 1'000'000'000 * kNanosPerSecond;
  change(it);
  it.Run("dead-client");
  return run;
}

TEST_CASE("the lock of a client without power: when it is free, and over NFSv3 that it is not") {
  const auto nothing = [](Validated&) {};
  const auto over_nfs3 = [](Validated& run) {
    for (v1::WorkerTargets& seen : run.targets) {
      seen.mutable_targets(0)->set_filesystem("nfs");
      seen.mutable_targets(0)->clear_settings();
    }
  };
  // The clock of these tests: three seconds to notice that the client is off, and half a second between two checks.
  const auto freed = RunWithoutPower(9, nothing);
  CHECK(freed->ended.ok());
  CHECK(freed->Verdict("dead-client") == "pass");
  Says(freed->Text("dead-client"), "the lock of c2 was free 7");
  Says(freed->Text("dead-client"), "the server's lease is 15 s");
  CHECK(freed->LeftNothing());
  const auto late = RunWithoutPower(9, [](Validated& run) { run.limits.lock_free_within_s = 4; });
  CHECK(late->Verdict("dead-client") == "fail");
  Says(late->Text("dead-client"), "--lock-free-within");
  const auto soon = RunWithoutPower(1, [](Validated& run) {
    for (v1::WorkerTargets& seen : run.targets) {
      (*seen.mutable_targets(0)->mutable_settings())["lease_time"] = "3000000000";
    }
  });
  CHECK(soon->Verdict("dead-client") == "warn");
  Says(soon->Text("dead-client"), "a client that shuts down gives its locks back");
  const auto never = RunWithoutPower(0, nothing);
  CHECK(never->Verdict("dead-client") == "fail");
  Says(never->Text("dead-client"), "still held 1 min 0");
  const auto fact = RunWithoutPower(0, over_nfs3);
  CHECK(fact->Verdict("dead-client") == "pass");
  Says(fact->Text("dead-client"), "still held 20");
  Says(fact->Text("dead-client"), "over NFSv3 nothing frees it until that client boots");
  const auto declared = RunWithoutPower(0, [&](Validated& run) {
    over_nfs3(run);
    run.limits.lock_free_within_s = 6;
  });
  CHECK(declared->Verdict("dead-client") == "fail");
}

TEST_CASE("the lock of a client without power: hooks that do nothing, and hosts that must keep theirs") {
  const auto idle = RunWithoutPower(0, [](Validated& run) { run.client_hook = "true"; });
  CHECK(idle->Verdict("dead-client") == "fail");
  Says(idle->Text("dead-client"), "has ended with 0, but c2 still answers");
  const auto broken = RunWithoutPower(0, [](Validated& run) {
    run.client_hook = "exit 3";
    run.choice.waivers = {{"dead-client", "known"}};
  });
  CHECK(broken->Verdict("dead-client") == "fail");
  Says(broken->Text("dead-client"), "exit code 3");
  const auto own = RunWithoutPower(0, [](Validated& run) {
    run.client_hook = "echo \"$IOBENCH_CLIENT\" > \"$IOBENCH_PATH/named\"; exit 1";
    run.own_boot_id = "boot 2";
  });
  CHECK(own->directory.Read("named") == "c1\n");
  Validated unlocked;
  unlocked.client_hook = "touch \"$IOBENCH_PATH/ran\"";
  unlocked.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::LOCK) result.clear_problem();
  };
  CHECK(unlocked.Run("dead-client").Verdict("dead-client") == "skipped");
  Says(unlocked.Text("dead-client"), "c0 got the lock that c2 holds");
  CHECK_FALSE(unlocked.directory.Has("ran"));
}

TEST_CASE("a client whose mount hangs leaves another the time to remove the directory") {
  Validated run;
  run.workers.hangs = [](WorkerId id, const v1::FileActions& requested) {
    return id == 0 && requested.actions(0).what() == v1::FileAction::REMOVE_DIRECTORY;
  };
  run.Run("limits");
  CHECK(run.Verdict("limits") == "pass");
  INFO(run.ended.message());
  CHECK(run.ended.ok());
  CHECK(run.LeftNothing());
}

TEST_CASE("writers that stop before the fault are no proof of durability") {
  Validated run;
  run.fault_hook = "touch \"$IOBENCH_PATH/hook-ran\"";
  run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id == 1 && action.what() == v1::FileAction::WRITE_BLOCKS)
      result.mutable_blocks()->set_first_errno(ENOSPC);
  };
  run.Run("durability");
  CHECK(run.Verdict("durability") == "fail");
  Says(run.Text("durability"), "it was not run, because c1 could not write: ENOSPC");
  CHECK_FALSE(run.directory.Has("hook-ran"));
}

TEST_CASE("a client whose file is full is asked no more, and proves neither durability nor failover") {
  int straight_parts = 0;
  bool loses = false;
  const auto run_with_full_file = [&] {
    auto run = std::make_unique<Validated>();
    run->fault_hook = "true";
    run->choice.only = {"durability", "failover", "lock-reclaim"};
    run->workers.tamper = [&](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
      if (loses && action.what() == v1::FileAction::CHECK_BLOCKS) result.mutable_blocks()->set_lost(3);
      if (id != 1 || action.what() != v1::FileAction::WRITE_BLOCKS) return;
      if (action.blocks().straight_from() == 0) return;
      ++straight_parts;
      result.mutable_blocks()->set_full(true);
    };
    run->Run();
    return run;
  };
  const auto full = run_with_full_file();
  CHECK(straight_parts == 1);
  for (const char* const check : {"durability", "failover"}) {
    CHECK(full->Verdict(check) == "fail");
    Says(full->Text(check), "c1 stopped writing when its file reached the limit of 1 GiB");
  }
  CHECK(full->Verdict("lock-reclaim") == "warn");  // no fault was seen
  // What was lost is told all the same.
  loses = true;
  Says(run_with_full_file()->Text("durability"), "acknowledged data did not survive");
}

}  // namespace
}  // namespace iobench
