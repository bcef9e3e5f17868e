// Checks of validate that need no fault: mounts, storage, clocks, what clients see of each other, races, listings.
#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "common/host_identity.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "tests/unit/validated.h"

namespace iobench {
namespace {

TEST_CASE("mount options that do not fit shared data are named, with the clients that have them") {
  const auto with = [](const std::string& options) {
    auto run = std::make_unique<Validated>();
    run->targets[1].mutable_targets(0)->set_mount_options("rw,vers=4.2," + options);
    run->Run("mounts");
    return run;
  };
  for (const char* const wrong :
       {"soft", "softerr", "hard,nocto", "hard,nolock", "hard,local_lock=all", "hard,proto=udp"}) {
    const auto run = with(wrong);
    CHECK(run->Verdict("mounts") == "fail");
    Says(run->Text("mounts"), "c1: ");
    CHECK_FALSE(run->Of("mounts").advice().empty());
  }
  for (const char* const slow : {"hard,noac", "hard,acdirmax=600", "hard,wsize=4096", "hard,sync"}) {
    CHECK(with(slow)->Verdict("mounts") == "warn");
  }
  Validated run;
  run.findings.push_back(FindingOf(PreflightCheck::kMount, "c2", "other options"));
  Says(run.Run("mounts").Text("mounts"), "c2: other options");
  CHECK(run.Verdict("mounts") == "fail");
}

TEST_CASE("a client whose user may not use the others' files fails, and is checked like the others") {
  Validated run;
  run.findings.push_back(
      FindingOf(PreflightCheck::kStorage, "c2", "may not write what another worker has made"));
  run.findings.back().workers = {2};
  run.findings.back().of_users = true;
  run.Run();
  CHECK(run.Verdict("storage") == "fail");
  Says(run.Text("close-to-open"), ": 1,260 reads");
}

TEST_CASE("a client with other storage fails, and the others are checked without it") {
  Validated run;
  run.findings.push_back(FindingOf(PreflightCheck::kStorage, "c2", "its own disk"));
  run.findings.back().workers = {2};
  run.Run();
  CHECK(run.Verdict("storage") == "fail");
  Says(run.Text("storage"), "c2: its own disk");
  CHECK(run.Verdict("close-to-open") == "pass");
  Says(run.Text("close-to-open"), ": 630 reads");  // one reader less
  run.findings.push_back(FindingOf(PreflightCheck::kPath, "c1", "does not exist"));
  run.findings.back().workers = {1};
  Validated two(2);
  two.findings = {run.findings.back()};
  two.Run();
  CHECK(two.Verdict("mounts") == "fail");
  CHECK(two.Verdict("limits") == "pass");
  Says(two.Text("close-to-open"), "needs 2 clients that see the same storage and can write there (1 cannot)");
}

TEST_CASE("clocks: a client that is ahead of the file system") {
  for (const auto& [ahead_s, verdict] :
       {std::pair{0.0, "pass"}, {0.5, "warn"}, {5.0, "fail"}, {-5.0, "fail"}}) {
    Validated run;
    run.workers.tamper = [by_s = ahead_s](WorkerId id, const v1::FileAction&, v1::FileActionResult& result) {
      if (id != 1) return;
      result.set_begin_wall_ns(result.begin_wall_ns() + NanosFrom(by_s));
      result.set_end_wall_ns(result.end_wall_ns() + NanosFrom(by_s));
    };
    run.Run("clocks");
    INFO(run.Text("clocks"));
    CHECK(run.Verdict("clocks") == verdict);
    if (ahead_s != 0) Says(run.Text("clocks"), std::string("c1: its clock is "));
  }
}

TEST_CASE("clocks: timestamps of whole seconds do not make a clock look ahead") {
  constexpr int64_t kEvenSecondNs = 1'700'000'000 * kNanosPerSecond;
  // The first has steps of 1 s, the second of 2 s.
  for (const auto& [stamp_s, created_s, verdict] :
       {std::tuple{1.0, 1.9, "pass"}, {0.0, 1.9, "pass"}, {1.0, 2.3, "warn"}, {1.0, 2.9, "fail"}}) {
    Validated run;
    run.limits.clock_difference_s = 0.5;
    const int64_t stamp_ns = kEvenSecondNs + NanosFrom(stamp_s);
    const int64_t created_ns = kEvenSecondNs + NanosFrom(created_s);
    run.workers.tamper = [=](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
      if (action.what() == v1::FileAction::CREATE) {
        result.set_begin_wall_ns(created_ns);
        result.set_end_wall_ns(created_ns + 1'000'000);
      }
      if (result.has_facts()) result.mutable_facts()->set_modified_ns(stamp_ns);
    };
    run.Run("clocks");
    INFO(stamp_s << ", " << created_s << ": " << run.Text("clocks"));
    CHECK(run.Verdict("clocks") == verdict);
    if (run.Verdict("clocks") == "pass") {
      Says(run.Text("clocks"), stamp_s > 0 ? "within 1 s (timestamps have steps of 1 s)" : "steps of 2 s");
    }
  }
}

TEST_CASE("clocks: a slow create is no difference between clients, and two clients that are apart are one") {
  Validated slow;
  slow.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id != 1 || action.what() != v1::FileAction::CREATE) return;
    result.set_end_wall_ns(result.end_wall_ns() + 5 * kNanosPerSecond);
  };
  slow.Run("clocks");
  INFO(slow.Text("clocks"));
  CHECK(slow.Verdict("clocks") == "pass");

  // Neither is a second from the file system's clock.
  Validated apart;
  apart.workers.tamper = [](WorkerId id, const v1::FileAction&, v1::FileActionResult& result) {
    const int64_t ahead_ns = id == 1 ? NanosFrom(0.7) : id == 2 ? -NanosFrom(0.7) : 0;
    result.set_begin_wall_ns(result.begin_wall_ns() + ahead_ns);
    result.set_end_wall_ns(result.end_wall_ns() + ahead_ns);
  };
  CHECK(apart.Run("clocks").Verdict("clocks") == "fail");
}

TEST_CASE("close-to-open: old contents, other contents and errors are told apart") {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> last;  // by directory and file
  const auto with = [&last](const std::function<void(v1::FileActionResult&, uint64_t before)>& lie) {
    last.clear();
    auto run = std::make_unique<Validated>();
    run->workers.tamper = [&last, lie, lied = false](WorkerId id, const v1::FileAction& action,
                                                     v1::FileActionResult& result) mutable {
      if (id != 2 || action.what() != v1::FileAction::READ || result.problem().code() != 0) return;
      const uint64_t before =
          std::exchange(last[{action.directory(), action.file()}], result.contents_xxh3());
      if (before != 0 && !std::exchange(lied, true)) lie(result, before);
    };
    run->Run("close-to-open");
    return run;
  };
  const auto stale =
      with([](v1::FileActionResult& result, uint64_t before) { result.set_contents_xxh3(before); });
  CHECK(stale->Verdict("close-to-open") == "fail");
  Says(stale->Text("close-to-open"), "c2: reads the old contents");
  Says(stale->Text("close-to-open"), "1 of ");
  const auto other = with([](v1::FileActionResult& result, uint64_t) { result.set_contents_xxh3(1); });
  Says(other->Text("close-to-open"), "reads other contents");
  const auto error = with([](v1::FileActionResult& result, uint64_t) {
    *result.mutable_problem() = ToProblem(ErrnoStatus("open f1", ESTALE));
  });
  Says(error->Text("close-to-open"), "ESTALE");
  CHECK(error->LeftNothing());
}

TEST_CASE("close-to-open: timestamps of whole seconds are waited for, and told") {
  Validated run(2);
  std::map<uint32_t, uint32_t> writes;  // by directory
  uint32_t in_step = 0;
  run.workers.tamper = [&](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() != v1::FileAction::WRITE || action.file() != 1'000'000) return;
    ++in_step;
    const int64_t steps = ++writes[action.directory()] / 3;  // one change in three has a later time
    result.mutable_facts()->set_modified_ns(1 + steps * kNanosPerSecond);
  };
  run.Run("close-to-open");
  CHECK(run.Verdict("close-to-open") == "warn");
  Says(run.Text("close-to-open"),
       "630 reads, none wrong; but the file system's timestamps have steps of 1 s");
  CHECK(in_step >= 126);  // 63 waits, which need two writes at least
  Validated stands_still(2);
  stands_still.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::WRITE) result.mutable_facts()->set_modified_ns(5);
  };
  CHECK(stands_still.Run("mmap").Verdict("mmap") == "pass");
}

TEST_CASE("visibility: a client that does not see a change within the limit") {
  Validated run;
  run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id == 1 && action.awaited() == v1::FileAction::NAME) result.set_seen(false);
  };
  run.Run("visibility");
  CHECK(run.Verdict("visibility") == "fail");
  Says(run.Text("visibility"), "c1 had not seen a new name by c0");
}

TEST_CASE("quota: an error is right, and neither silence nor loss is") {
  const auto with = [](const std::function<void(v1::Overfilled&)>& change) {
    auto run = std::make_unique<Validated>();
    run->over_quota_bytes = 1_MiB;
    run->workers.tamper = [change](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
      if (action.what() != v1::FileAction::OVERFILL) return;
      CHECK(result.overfilled().written_bytes() == 1_MiB);
      change(*result.mutable_overfilled());
    };
    run->Run("quota");
    return run;
  };
  const auto fails = [](v1::Overfilled& seen, const char* call, int error) {
    seen.set_failed_call(call);
    seen.set_errno_value(error);
  };
  const auto silent = with([](v1::Overfilled&) {});
  CHECK(silent->Verdict("quota") == "fail");
  Says(silent->Text("quota"), "1 MiB were stored without an error");
  for (const char* const call : {"write", "fsync", "close"}) {
    const auto right = with([&](v1::Overfilled& seen) { fails(seen, call, EDQUOT); });
    CHECK(right->Verdict("quota") == "pass");
    Says(right->Text("quota"), std::string(call) + " failed with EDQUOT after 1 MiB");
  }
  CHECK(with([&](v1::Overfilled& seen) { fails(seen, "write", ENOSPC); })->Verdict("quota") == "warn");
  CHECK(with([&](v1::Overfilled& seen) { fails(seen, "fsync", EIO); })->Verdict("quota") == "fail");
  const auto lost = with([&](v1::Overfilled& seen) {
    fails(seen, "fsync", EDQUOT);
    seen.set_bad_bytes(4096);
  });
  CHECK(lost->Verdict("quota") == "fail");
  Says(lost->Text("quota"), "4 KiB that fsync had acknowledged are not there");
  Validated unasked;
  CHECK(unasked.Run("quota").Verdict("quota") == "skipped");
}

TEST_CASE("races: contests one after the other show little, which is said") {
  Validated run;
  run.Run("races");  // the workers of this test answer one after the other
  CHECK(run.Verdict("races") == "warn");
  Says(run.Text("races"), "one winner in each of 600 contests");  // three times the 40 of each race
  Says(run.Text("races"), "exclusive create 0 of 120, mkdir 0 of 120");
  Validated together;
  together.workers.tamper = Together;
  together.Run("races");
  CHECK(together.Verdict("races") == "pass");
  Says(together.Text("races"), "200 contests of 3, 200 of them at the same time");
}

TEST_CASE("races: two winners, or none, are wrong") {
  for (const bool wins : {true, false}) {
    for (const auto what : {v1::FileAction::WRITE, v1::FileAction::MAKE_DIRECTORY, v1::FileAction::RENAME,
                            v1::FileAction::LINK, v1::FileAction::REMOVE}) {
      Validated run;
      run.workers.tamper = [what, wins](WorkerId id, const v1::FileAction& action,
                                        v1::FileActionResult& result) {
        const bool contest = action.what() == what && action.file() != 0 &&
                             (what != v1::FileAction::WRITE || action.how().exclusive());
        if (!contest || action.file() % 10'000 != 5) return;
        if (wins && id == 1) result.clear_problem();
        if (!wins)
          *result.mutable_problem() = ToProblem(ErrnoStatus(
              "", what == v1::FileAction::RENAME || what == v1::FileAction::REMOVE ? ENOENT : EEXIST));
      };
      run.Run("races");
      INFO(static_cast<int>(what) << run.Text("races"));
      CHECK(run.Verdict("races") == "fail");
      Says(run.Text("races"), wins ? "2 winners: c0, c1" : "0 winners");
    }
  }
}

TEST_CASE("advice fits the file system") {
  for (const auto& [filesystem, advice] :
       {std::pair{"nfs4", "nocto"}, {"fuse.glusterfs", "direct-io-mode"}, {"lustre", "client caches"}}) {
    Validated run;
    run.targets[0].mutable_targets(0)->set_filesystem(filesystem);
    run.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
      if (action.what() == v1::FileAction::READ) result.set_contents_xxh3(1);
    };
    run.Run("close-to-open");
    Says(run.Text("close-to-open"), advice);
    Says(run.Text("close-to-open"), "reads other contents (");
  }
}

TEST_CASE("advice for races that GlusterFS does not decide is about GlusterFS, for others it is not") {
  for (const auto& [filesystem, what, advice] :
       {std::tuple{"fuse.glusterfs", v1::FileAction::REMOVE, "a single replica set"},
        {"fuse.glusterfs", v1::FileAction::RENAME, "report it to the vendor"},
        {"lustre", v1::FileAction::REMOVE, "report it to the vendor"}}) {
    Validated run(2);
    run.targets[0].mutable_targets(0)->set_filesystem(filesystem);
    run.workers.tamper = [hidden = what](WorkerId, const v1::FileAction& action,
                                         v1::FileActionResult& result) {
      if (action.what() == hidden && action.file() != 0) result.clear_problem();
    };
    run.Run("races");
    CHECK(run.Verdict("races") == "fail");
    Says(run.Of("races").advice(), advice);
  }
}

TEST_CASE("mounts: other addresses, directories above and bind mounts are told, and are no failure") {
  const auto with = [](const std::string& source, const std::string& root) {
    auto run = std::make_unique<Validated>();
    run->targets[1].mutable_targets(0)->set_mount_source(source);
    if (!root.empty()) (*run->targets[1].mutable_targets(0)->mutable_settings())["mount_root"] = root;
    run->Run("mounts");
    CHECK(run->Verdict("mounts") == "pass");
    Says(run->Of("mounts").found(), "nfs4 from server:/export on c0, c2, and mounted in 1 other way");
    return run->Text("mounts");
  };
  Says(with("10.0.0.2:/export", ""), "c1: nfs4 from 10.0.0.2:/export: another address or name of the server");
  Says(with("server:/", "/export"),
       "c1: nfs4 from server:/ (a bind mount of /export there): a directory above");
  Says(with("server:/export/sub", ""), ": a directory below");
  Says(with("[fe80::1]:/exports", ""), ": another address or name of the server, another path");
}

TEST_CASE(
    "mounts: without a network file system each client has storage of its own, unless they share it after all") {
  const auto with = [](size_t count, bool differs) {
    auto run = std::make_unique<Validated>(count);
    for (v1::WorkerTargets& seen : run->targets) {
      seen.mutable_targets(0)->set_filesystem("tmpfs");
      seen.mutable_targets(0)->set_network(false);
    }
    if (differs) {
      run->findings.push_back(FindingOf(PreflightCheck::kStorage, "c1", "is other storage"));
      run->findings.back().workers = {1};
    }
    run->choice.only = {"mounts", "storage"};
    run->Run();
    return run;
  };
  const auto wrong = with(2, true);
  CHECK(wrong->Verdict("mounts") == "fail");
  Says(wrong->Text("mounts"), "tmpfs from server:/export on all: no client has a network file system there");
  CHECK(wrong->Verdict("storage") == "follows");
  CHECK(wrong->Of("storage").follows_from() == "mounts");
  CHECK(with(2, false)->Verdict("mounts") == "pass");
  Says(with(2, false)->Text("mounts"), "what one client wrote was seen by the others");
  Says(with(1, false)->Text("mounts"), "only this client sees it");
}

TEST_CASE("client-identity: host names and ids that a server of NFSv4.1 cannot tell apart") {
  const auto of = [](const std::string& host, const std::vector<std::string>& ids, const char* version) {
    auto run = std::make_unique<Validated>(2, host, ids);
    for (v1::WorkerTargets& seen : run->targets) {
      seen.mutable_targets(0)->set_mount_options(std::string("rw,hard,vers=") + version);
    }
    run->workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
      if (id == 1 && action.what() == v1::FileAction::LOCK) {
        *result.mutable_problem() = ToProblem(ErrnoStatus("lock f1", EIO));
      }
    };
    run->choice.only = {"client-identity", "locks"};
    run->Run();
    return run;
  };
  const auto twins = of("twin", {}, "4.2");
  CHECK(twins->Verdict("client-identity") == "fail");
  Says(twins->Text("client-identity"), "twin, twin (2): the server knows each as \"Linux NFSv4.2 twin\"");
  CHECK(twins->Verdict("locks") == "follows");
  CHECK(twins->Of("locks").follows_from() == "client-identity");
  Says(of("twin", {"rack", "rack"}, "4.1")->Text("client-identity"), "\"Linux NFSv4.1 rack/twin\"");
  const auto apart = of("twin", {"a", "b"}, "4.2");
  CHECK(apart->Verdict("client-identity") == "pass");
  CHECK(apart->Verdict("locks") == "fail");  // for a reason of its own
  CHECK(of("", {"rack", "rack"}, "4.2")->Verdict("client-identity") == "pass");
  CHECK(of("twin", {}, "4.0")->Verdict("client-identity") == "skipped");
}

TEST_CASE("mounts: the options of a client in user space are not all known") {
  Validated run;
  for (v1::WorkerTargets& seen : run.targets) seen.mutable_targets(0)->set_filesystem("fuse.glusterfs");
  run.Run("mounts");
  CHECK(run.Verdict("mounts") == "pass");
  Says(run.Of("mounts").found(), "with equal options as far as the kernel knows them");
  Validated nfs;
  CHECK(nfs.Run("mounts").Of("mounts").found().ends_with("with equal options"));
}

TEST_CASE("append: lost records are a fact of NFS, and a warning elsewhere") {
  for (const bool nfs : {true, false}) {
    Validated run;
    if (!nfs) run.targets[0].mutable_targets(0)->set_filesystem("gpfs");
    run.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
      if (action.what() == v1::FileAction::READ) result.mutable_facts()->set_bytes(200 * 64);
    };
    run.Run("append");
    CHECK(run.Verdict("append") == (nfs ? "pass" : "warn"));
    Says(run.Text("append"), "100 of 300 records overwritten");
  }
}

TEST_CASE("mmap: what a reader does not find") {
  Validated run;
  run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id == 1 && action.what() == v1::FileAction::READ_MAPPED) result.set_contents_xxh3(0);
  };
  run.Run("mmap");
  CHECK(run.Verdict("mmap") == "fail");
  Says(run.Text("mmap"), "c1 does not find in its mapping what c0 wrote");
}

TEST_CASE("delegations: a write that waits too long") {
  Validated run;
  run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id == 2 && action.what() == v1::FileAction::WRITE) {
      result.set_end_worker_ns(result.begin_worker_ns() + 30 * kNanosPerSecond);
    }
  };
  run.Run("delegations");
  CHECK(run.Verdict("delegations") == "fail");
  Says(run.Text("delegations"), "30 s");
  Says(run.Text("delegations"), "c2 waited while c1 had the file open");
}

TEST_CASE("open-unlink: contents that are gone, and names that stay") {
  Validated gone;
  gone.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::READ_HELD)
      *result.mutable_problem() = ToProblem(ErrnoStatus("read", ESTALE));
  };
  CHECK(gone.Run("open-unlink").Verdict("open-unlink") == "fail");
  Validated stays;
  stays.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::LIST) result.mutable_names()->set_listed(1);
  };
  CHECK(stays.Run("open-unlink").Verdict("open-unlink") == "fail");
  Says(stays.Text("open-unlink"), "stayed in the directory");
}

TEST_CASE("open-unlink: a removal that another client cannot do is no removal") {
  Validated run;
  run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id == 1 && action.what() == v1::FileAction::REMOVE)
      *result.mutable_problem() = ToProblem(ErrnoStatus("remove f2", EACCES));
  };
  CHECK(run.Run("open-unlink").Verdict("open-unlink") == "pass");
  Says(run.Text("open-unlink"), "could not be removed by c1: remove f2: ");
  CHECK(run.Text("open-unlink").find("still readable") == std::string::npos);
  CHECK(run.Of("open-unlink").figures_size() == 0);
}

TEST_CASE("listings: no name comes again while a client lists") {
  Validated run;
  std::set<uint32_t> made;
  bool comes_again = false;
  run.workers.tamper = [&](WorkerId, const v1::FileAction& action, v1::FileActionResult&) {
    if (action.what() != v1::FileAction::FILL) return;
    for (uint32_t i = 0; i < action.count(); ++i) comes_again |= !made.insert(action.file() + i).second;
  };
  CHECK(run.Run("listings").Verdict("listings") == "pass");
  CHECK_FALSE(comes_again);
  CHECK(made.size() == 60 + 2 * 2 * 3 * 200);  // two listers, two others, three rounds of 200 names
}

TEST_CASE("listings: a name that is missing, or there twice, quiet or while others work") {
  for (const bool doubled : {false, true}) {
    for (const int which : {1, 4}) {
      Validated run;
      run.workers.tamper = [doubled, which, lists = 0](WorkerId, const v1::FileAction& action,
                                                       v1::FileActionResult& result) mutable {
        if (action.what() != v1::FileAction::LIST || ++lists != which) return;
        if (doubled) result.mutable_names()->set_doubled(2);
        if (!doubled) result.mutable_names()->set_missing(1);
        result.mutable_names()->set_first_missing(17);
      };
      run.Run("listings");
      CHECK(run.Verdict("listings") == "fail");
      Says(run.Text("listings"), doubled ? "2 names twice" : "1 of 60 names missing, first f17");
      if (which == 4) Says(run.Text("listings"), "while others create and remove");
    }
  }
}

TEST_CASE("limits: names that are refused") {
  Validated run;
  run.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.style() == v1::FileAction::UTF8)
      *result.mutable_problem() = ToProblem(ErrnoStatus("open", EILSEQ));
  };
  run.Run("limits");
  CHECK(run.Verdict("limits") == "fail");
  Says(run.Text("limits"), "UTF-8 names: ");
}

TEST_CASE("the directory of validate is made for the coordinator") {
  Validated run;
  std::set<std::string> owners;
  run.workers.tamper = [&](WorkerId, const v1::FileAction& action, v1::FileActionResult&) {
    const bool makes = action.what() == v1::FileAction::MAKE_DIRECTORY && action.file() == 0;
    if (makes) owners.insert(action.contents());
  };
  run.Run("races");
  REQUIRE(owners.size() == 1);
  const auto owner = ProcessFromLine(*owners.begin());
  REQUIRE(owner.has_value());
  CHECK(owner->pid == ::getpid());
}

}  // namespace
}  // namespace iobench
