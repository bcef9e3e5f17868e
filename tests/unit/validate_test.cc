// The checks of validate against workers that call a real directory, and whose answers a test may change: a client that
// lies shows whether a check notices.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "common/clock.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/validate/validator.h"
#include "tests/support/temp_dir.h"
#include "worker/check/check_files.h"

namespace iobench {
namespace {

constexpr uint64_t kRunId = 7;

// Changes what a worker answers.
using Tamper = std::function<void(WorkerId, const v1::FileAction&, v1::FileActionResult&)>;

// Each worker performs its requests at once, on this thread.
class HonestWorkers final : public Transport {
 public:
  explicit HonestWorkers(size_t count) : files_(count) {
    for (WorkerId id = 0; id < count; ++id) {
      v1::WorkerEvent joined;
      joined.mutable_joined()->set_host("c" + std::to_string(id));
      joined.mutable_joined()->set_boot_id("boot " + std::to_string(id));
      joined.mutable_joined()->set_program_version("1.0");
      Push(id, joined);
    }
  }

  absl::Status Post(WorkerId id, const v1::WorkerRequest& request) override {
    if (has_power && !has_power(id)) return absl::OkStatus();
    v1::WorkerEvent event;
    event.set_call_id(request.call_id());
    if (request.has_ping()) {
      event.mutable_pong()->set_received_worker_ns(Now());
      event.mutable_pong()->set_replied_worker_ns(event.pong().received_worker_ns());
    } else if (request.has_file_actions()) {
      if (--requests_until_loss == 0) {
        event = {};
        event.mutable_lost()->set_reason("its host is gone");
      } else {
        Act(id, request, event);
      }
    } else {
      return absl::OkStatus();
    }
    Push(id, event);
    return absl::OkStatus();
  }
  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime) override {
    if (events_.empty()) return absl::DeadlineExceededError("nothing");
    ReceivedEvent next = std::move(events_.front());
    events_.pop_front();
    return next;
  }
  bool ordered() const override { return true; }
  std::string name() const override { return "test"; }

  // The clock of all workers. It runs fast, so that nothing waits for long.
  int64_t Now() { return MonotonicNowNs() + (skipped_ns_ += 5'000'000); }

  Tamper tamper;
  std::function<bool(WorkerId)> has_power;  // a worker without it answers nothing; null: all have it
  int requests_until_loss = -1;

 private:
  void Act(WorkerId id, const v1::WorkerRequest& request, v1::WorkerEvent& event) {
    v1::FileActionsDone& done = *event.mutable_file_actions_done();
    const absl::Status status = files_[id].Do(
        kRunId, request.file_actions(), [this] { return WorkerTime{Now()}; }, done);
    if (!status.ok()) *event.mutable_problem() = ToProblem(status);
    for (int i = 0; tamper && i < done.results_size(); ++i) {
      tamper(id, request.file_actions().actions(i), *done.mutable_results(i));
    }
  }
  void Push(WorkerId id, const v1::WorkerEvent& event) { events_.push_back({id, event, CoordTime{Now()}}); }

  std::vector<CheckFiles> files_;
  std::deque<ReceivedEvent> events_;
  int64_t skipped_ns_ = 0;
};

// As if all clients had been in their calls at the same time.
void Together(WorkerId, const v1::FileAction&, v1::FileActionResult& result) {
  result.set_begin_worker_ns(1'000'000'000);
  result.set_end_worker_ns(2'000'000'000);
}

struct Validated {
  TempDir directory;
  HonestWorkers workers;
  Interrupt interrupt;
  CheckChoice choice;
  std::vector<v1::WorkerTargets> targets;
  std::vector<Finding> findings;
  std::string fault_hook, client_hook;
  std::string own_boot_id = "boot 0";
  ValidateLimits limits{.visible_within_s = 0.2};
  bool whole = false;
  uint64_t over_quota_bytes = 0;
  v1::ValidateReport report;
  absl::Status ended;

  explicit Validated(size_t count = 3) : workers(count), targets(count) {
    for (v1::WorkerTargets& seen : targets) {
      seen.add_targets()->set_filesystem("nfs4");
      seen.mutable_targets(0)->set_mount_source("server:/export");
      seen.mutable_targets(0)->set_mount_options(
          "rw,hard,vers=4.2,rsize=1048576,wsize=1048576,local_lock=none");
    }
  }

  Validated& Run(const std::string& only = "") {
    if (!only.empty()) choice.only = {only};
    Cluster cluster(workers, kRunId, interrupt, {}, [this] { return CoordTime{workers.Now()}; });
    REQUIRE(cluster
                .Gather(static_cast<uint32_t>(targets.size()), cluster.Now() + kNanosPerSecond, "1.0",
                        [](uint32_t) {})
                .ok());
    ClockSync clocks(cluster, "boot 0", ClockSync::Measured::kOtherClocks);
    REQUIRE(clocks.Verify().ok());
    REQUIRE(clocks.Burst().ok());
    v1::Target target;
    target.set_path(directory.path());
    FileCalls files(cluster, clocks, target);
    CheckContext context{.files = files,
                         .peers = {},
                         .left_out = 0,
                         .one_of_each = {},
                         .client_count = cluster.client_count(),
                         .whole = whole,
                         .limits = limits,
                         .name_count = 60,
                         .fault_hook = fault_hook,
                         .fault_log = directory.path() + "/hook.log",
                         .client_hook = client_hook,
                         .client_hook_log = directory.path() + "/client-hook.log",
                         .own_boot_id = own_boot_id,
                         .path = directory.path(),
                         .targets = targets,
                         .findings = findings,
                         .random = std::mt19937_64(1)};
    context.over_quota_bytes = over_quota_bytes;
    context.peers = PeersOf(cluster.members(), findings, context.left_out);
    for (const Member& member : cluster.members()) context.one_of_each.push_back(member.number);
    NoteClients(context, report);
    ended = RunChecks(
        choice, context, [](const Check&, size_t, size_t) {}, report);
    return *this;
  }
  const v1::ValidateCheck& Of(const std::string& name) const {
    for (const v1::ValidateCheck& check : report.checks()) {
      if (check.name() == name) return check;
    }
    FAIL("no check " << name);
    return report.checks(0);
  }
  std::string Verdict(const std::string& name) const { return Of(name).verdict(); }
  // All that a check says.
  std::string Text(const std::string& name) const {
    const v1::ValidateCheck& check = Of(name);
    std::string text = check.verdict() + ": " + check.found() + "\n";
    for (const std::string& line : check.evidence()) text += line + "\n";
    return text + check.advice();
  }
  bool LeftNothing() const { return !directory.Has("cluster-iobench.validate-0000000000000007"); }
};

Finding FindingOf(PreflightCheck check, const char* client, const char* problem) {
  Finding finding;
  finding.check = check;
  finding.client = client;
  finding.problem = problem;
  return finding;
}

bool Says(const std::string& text, const std::string& what) {
  INFO(text);
  const bool says = text.find(what) != std::string::npos;
  CHECK(says);
  return says;
}

TEST_CASE("a right deployment passes every check, and nothing is left there") {
  Validated run;
  run.Run();
  CHECK(run.ended.ok());
  for (const v1::ValidateCheck& check : run.report.checks()) {
    INFO(run.Text(check.name()));
    const Check& row = *CheckNamed(check.name());
    // The workers of this test answer one after the other; it names no quota; a user other than root may have no
    // groups.
    if (check.name() == "groups" && ::geteuid() != 0) continue;
    const char* const right = check.name() == "races" ? "warn" : check.name() == "quota" ? "skipped" : "pass";
    CHECK(check.verdict() == (row.needs == Check::Needs::kNothing ? right : "skipped"));
    CHECK_FALSE(check.found().empty());
  }
  CHECK(run.report.checks_size() == static_cast<int>(Checks().size()));
  CHECK(run.report.clients_size() == 3);
  CHECK(run.report.filesystem() == "nfs4");
  CHECK_FALSE(HasNewFailure(run.report));
  CHECK(run.LeftNothing());
}

TEST_CASE("one client does what one can") {
  Validated run(1);
  run.Run();
  CHECK(run.Verdict("close-to-open") == "skipped");
  Says(run.Text("close-to-open"), "needs 2 clients");
  for (const char* const name : {"mounts", "clocks", "identity", "open-unlink", "listings", "limits"}) {
    CHECK(run.Verdict(name) == "pass");
  }
}

TEST_CASE("mount options that do not fit shared data are named, with the clients that have them") {
  const auto with = [](const std::string& options) {
    auto run = std::make_unique<Validated>();
    run->targets[1].mutable_targets(0)->set_mount_options("rw,vers=4.2," + options);
    run->Run("mounts");
    return run;
  };
  for (const char* const wrong :
       {"soft", "hard,nocto", "hard,nolock", "hard,local_lock=all", "hard,proto=udp"}) {
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

TEST_CASE("a client with other storage fails, and the others are checked without it") {
  Validated run;
  run.findings.push_back(FindingOf(PreflightCheck::kStorage, "c2", "its own disk"));
  run.findings.back().workers = {2};
  run.Run();
  CHECK(run.Verdict("storage") == "fail");
  Says(run.Text("storage"), "c2: its own disk");
  CHECK(run.Verdict("close-to-open") == "pass");
  Says(run.Text("close-to-open"), ": 600 reads");  // one reader less
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
    run.workers.tamper = [ahead_s = ahead_s](WorkerId id, const v1::FileAction&,
                                             v1::FileActionResult& result) {
      if (id != 1) return;
      result.set_begin_wall_ns(result.begin_wall_ns() + NanosFrom(ahead_s));
      result.set_end_wall_ns(result.end_wall_ns() + NanosFrom(ahead_s));
    };
    run.Run("clocks");
    INFO(run.Text("clocks"));
    CHECK(run.Verdict("clocks") == verdict);
    if (ahead_s != 0) Says(run.Text("clocks"), std::string("c1: its clock is "));
  }
}

TEST_CASE("identity: owners that change on their way") {
  using Facts = v1::FileFacts;
  const auto with = [](const std::function<void(WorkerId, uint32_t file, Facts&)>& change) {
    auto run = std::make_unique<Validated>();
    run->workers.tamper = [change](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
      if (result.has_facts()) change(id, action.file(), *result.mutable_facts());
    };
    run->Run("identity");
    return run;
  };
  const auto squashed = with([](WorkerId, uint32_t, Facts& facts) {
    facts.set_process_user(0);
    facts.set_user(65534);
  });
  CHECK(squashed->Verdict("identity") == "pass");
  Says(squashed->Text("identity"), "root is squashed to 65534");
  const auto partly = with([](WorkerId, uint32_t file, Facts& facts) {
    facts.set_process_user(0);
    facts.set_user(file == 2 ? 65534 : 0);
  });
  CHECK(partly->Verdict("identity") == "fail");
  Says(partly->Text("identity"), "c1: 0:");
  const auto nobody = with([](WorkerId, uint32_t, Facts& facts) {
    facts.set_process_user(1000);
    facts.set_user(65534);
  });
  CHECK(nobody->Verdict("identity") == "fail");
  Says(nobody->Text("identity"), "(nobody)");
  const auto mapped = with([](WorkerId id, uint32_t file, Facts& facts) {
    if (id == 2 && file == 1) facts.set_user(4711);
  });
  CHECK(mapped->Verdict("identity") == "fail");
  Says(mapped->Text("identity"), "on c2");
}

TEST_CASE("close-to-open: old contents, other contents and errors are told apart") {
  std::map<uint32_t, uint64_t> last;
  const auto with = [&last](const std::function<void(v1::FileActionResult&, uint64_t before)>& lie) {
    last.clear();
    auto run = std::make_unique<Validated>();
    run->workers.tamper = [&last, lie, reads = 0](WorkerId id, const v1::FileAction& action,
                                                  v1::FileActionResult& result) mutable {
      if (id != 2 || action.what() != v1::FileAction::READ || result.problem().code() != 0) return;
      const uint64_t before = last[action.file()];
      last[action.file()] = result.contents_xxh3();
      if (++reads == 30 && before != 0) lie(result, before);
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
  int64_t clock_ns = 1;
  uint32_t in_step = 0;
  run.workers.tamper = [&](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() != v1::FileAction::WRITE || action.file() != 1'000'000) return;
    if (++in_step % 4 == 0) clock_ns += kNanosPerSecond;  // one change in four has a later time
    result.mutable_facts()->set_modified_ns(clock_ns);
  };
  run.Run("close-to-open");
  CHECK(run.Verdict("close-to-open") == "warn");
  Says(run.Text("close-to-open"),
       "600 reads, none wrong; but the file system's timestamps have steps of 1 s");
  CHECK(in_step > 60);  // 30 waits, which need two writes at least
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

TEST_CASE("groups: refused ones fail, unless the server may look up a user that it does not know") {
  const auto with = [](const std::function<void(WorkerId, v1::GroupsTried&)>& change) {
    auto run = std::make_unique<Validated>();
    run->workers.tamper = [change](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
      if (action.what() != v1::FileAction::TRY_GROUPS) return;
      v1::GroupsTried& tried = *result.mutable_groups();
      tried.Clear();
      tried.set_user(61234);
      tried.set_for_root(true);
      tried.set_file_owner(61234);
      tried.set_groups(16);
      tried.set_honoured(16);
      tried.set_more_honoured(false);
      change(id, tried);
    };
    run->Run("groups");
    return run;
  };
  const auto refuse = [](v1::GroupsTried& tried) {
    tried.set_honoured(0);
    tried.set_first_refused(61300);
    tried.set_refused_errno(EPERM);
  };
  const auto right = with([](WorkerId, v1::GroupsTried&) {});
  CHECK(right->Verdict("groups") == "pass");
  Says(right->Text("groups"), "of more than 16 groups, only the first 16 count");
  const auto squashed = with([&](WorkerId id, v1::GroupsTried& tried) {
    if (id != 1) return;
    refuse(tried);
    tried.set_file_owner(65534);
  });
  CHECK(squashed->Verdict("groups") == "fail");
  Says(squashed->Text("groups"), "c1: user 61234 cannot give a file to group 61300");
  Says(squashed->Text("groups"), "its files belong to user 65534");
  CHECK(with([&](WorkerId, v1::GroupsTried& tried) { refuse(tried); })->Verdict("groups") == "skipped");
  const auto own = with([&](WorkerId, v1::GroupsTried& tried) {
    refuse(tried);
    tried.set_user(1000);
    tried.set_for_root(false);
    tried.set_file_owner(1000);
  });
  CHECK(own->Verdict("groups") == "fail");
  const auto none = with([](WorkerId, v1::GroupsTried& tried) { tried.Clear(); });
  CHECK(none->Verdict("groups") == "skipped");
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
    Says(run.Text("close-to-open"), "reads other contents (20 times)");
  }
}

TEST_CASE("advice for races that GlusterFS does not decide is about GlusterFS, for others it is not") {
  for (const auto& [filesystem, what, advice] :
       {std::tuple{"fuse.glusterfs", v1::FileAction::REMOVE, "a single replica set"},
        {"fuse.glusterfs", v1::FileAction::RENAME, "report it to the vendor"},
        {"lustre", v1::FileAction::REMOVE, "report it to the vendor"}}) {
    Validated run(2);
    run.targets[0].mutable_targets(0)->set_filesystem(filesystem);
    run.workers.tamper = [what = what](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
      if (action.what() == what && action.file() != 0) result.clear_problem();
    };
    run.Run("races");
    CHECK(run.Verdict("races") == "fail");
    Says(run.Of("races").advice(), advice);
  }
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

TEST_CASE("the fault: acknowledged data that are gone, locks that were lost, and a hook that fails") {
  Validated fine;
  fine.fault_hook = "test -d \"$IOBENCH_PATH\" && test \"$(echo \"$IOBENCH_CLIENTS\" | wc -l)\" = 3";
  fine.choice.only = {"durability", "failover", "lock-reclaim"};
  fine.Run();
  INFO(fine.Text("durability") << fine.Text("failover"));
  CHECK(fine.Verdict("durability") == "pass");
  CHECK(fine.Verdict("failover") == "warn");  // nothing was held up
  CHECK(fine.Verdict("lock-reclaim") == "pass");
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
  // This clock races ahead while a hook runs.
  it.limits.fault_timeout_s = 1e6;
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
      (*seen.mutable_targets(0)->mutable_settings())["lease_time"] = "3000000";
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

TEST_CASE("without space nothing can be checked, and nothing is said of the file system") {
  Validated run;
  run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id == 1 && action.what() == v1::FileAction::WRITE) {
      *result.mutable_problem() = ToProblem(ErrnoStatus("write f1", EDQUOT));
    }
  };
  run.Run();
  CHECK(run.Verdict("close-to-open") == "fail");
  Says(run.Text("close-to-open"), "cannot be checked: there is no space: c1: write f1: ");
  CHECK(run.Of("close-to-open").evidence_size() == 0);
  CHECK(run.Verdict("locks") == "skipped");
  Says(run.Text("locks"), "see close-to-open");
  CHECK(run.LeftNothing());
}

TEST_CASE("a lost worker ends the checks, and what was made is removed by another") {
  Validated run;
  run.workers.requests_until_loss = 40;
  run.Run();
  CHECK(absl::IsUnavailable(run.ended));
  CHECK(run.report.counts().at("skipped") > 5);
  Says(run.Text("limits"), "was lost");
  CHECK_FALSE(HasNewFailure(run.report));
  CHECK(run.LeftNothing());
}

TEST_CASE("an interrupt ends the checks, and nothing is left") {
  Validated run;
  run.workers.tamper = [&run](WorkerId, const v1::FileAction& action, v1::FileActionResult&) {
    if (action.what() == v1::FileAction::RENAME) run.interrupt.Raise();
  };
  run.Run();
  CHECK(absl::IsCancelled(run.ended));
  CHECK(run.report.counts().at("skipped") > 8);
  CHECK_FALSE(HasNewFailure(run.report));
  CHECK(run.LeftNothing());
}

TEST_CASE(
    "nobody waives what was not checked, and a directory that was removed is no fault of the file system") {
  Validated hook;
  hook.fault_hook = "exit 3";
  hook.choice.waivers = {{"failover", "known"}};
  CHECK(hook.Run("failover").Verdict("failover") == "fail");

  Validated gone;
  gone.choice.waivers = {{"close-to-open", "known"}};
  gone.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::TRUNCATE) {
      *result.mutable_problem() =
          ToProblem(ErrnoStatus("open directory d/cluster-iobench.validate-7/d1", ENOENT));
    }
  };
  gone.Run();
  CHECK(gone.Verdict("close-to-open") == "fail");
  Says(gone.Text("close-to-open"), "the directory of validate cannot be opened any more: c");
  CHECK(gone.Verdict("races") == "skipped");
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

TEST_CASE("a waiver makes a failure known, and a waived check that passes is told") {
  Validated run;
  run.choice.only = {"mmap", "limits"};
  run.choice.waivers = {{"mmap", "no maps here"}, {"limits", "old reason"}};
  run.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::READ_MAPPED) result.set_contents_xxh3(0);
  };
  run.Run();
  CHECK(run.Verdict("mmap") == "known");
  CHECK(run.Verdict("limits") == "pass");
  CHECK(run.Of("limits").waiver() == "old reason");
  CHECK_FALSE(HasNewFailure(run.report));
  CHECK(run.report.counts().at("known") == 1);
}

TEST_CASE("evidence is bounded, and equal lines are counted") {
  v1::ValidateCheck check;
  Outcome outcome(check);
  for (int i = 0; i < 50; ++i) outcome.Evidence("line " + std::to_string(i));
  for (int i = 0; i < 3; ++i) outcome.Evidence("line 4");
  outcome.Evidence("line 45");
  CHECK(check.evidence_size() == 21);
  CHECK(check.evidence(3) == "line 3");
  CHECK(check.evidence(4) == "line 4 (4 times)");
  CHECK(check.evidence(20) == "and 30 more");
  CHECK(outcome.evidence_count() == 50);
  outcome.Fail("first", "do it");
  outcome.Pass("later");
  CHECK(check.found() == "first");
}

}  // namespace
}  // namespace iobench
