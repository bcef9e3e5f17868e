// Checks of rules, renames, cache modes and random work: what they say of clients that lie.
#include <catch2/catch.hpp>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "coordinator/validate/checks/checks.h"
#include "tests/unit/validated.h"
#include "worker/check/trial/trial.h"

namespace iobench {
namespace {

TEST_CASE("the workers know every rule, and each rule has its check") {
  std::set<std::string> asked(PosixRules().begin(), PosixRules().end());
  CHECK(asked.size() == PosixRules().size());
  asked.insert({"rename-across", "rename-inside"});  // those of `renames`
  std::set<std::string> known;
  for (const Trial& trial : RuleTrials()) known.insert(trial.name);
  CHECK(asked == known);
}

TEST_CASE("a rule that does not hold is named, with the clients; what is not offered is no failure") {
  Validated run;
  run.workers.tamper = [](WorkerId id, const v1::FileAction&, v1::FileActionResult& result) {
    if (result.trials_size() == 0) return;
    v1::TrialResult& trial = *result.mutable_trials(0);
    if (id == 1 && trial.name() == "rename-over-full") {
      trial.set_answer("no");
      trial.set_detail("it succeeds instead of ENOTEMPTY");
    }
    if (trial.name() == "link-count") *trial.mutable_problem() = ToProblem(ErrnoStatus("link a", EPERM));
  };
  run.Run("posix");
  CHECK(run.Verdict("posix") == "fail");
  Says(run.Text("posix"), "1 of 34 rules do not hold: rename-over-full; not offered there: link-count");
  Says(run.Text("posix"), "c1: rename-over-full: it succeeds instead of ENOTEMPTY");
}

TEST_CASE("rules that cannot be tried for want of rights follow from identity") {
  Validated run;
  run.choice.only = {"identity", "posix"};
  run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id != 1 || action.has_as_user()) return;
    for (v1::TrialResult& trial : *result.mutable_trials()) {
      if (trial.name() == "chmod-times")
        *trial.mutable_problem() = ToProblem(ErrnoStatus("mkdir f1.rule", EACCES));
    }
  };
  run.Run();
  CHECK(run.Verdict("identity") == "fail");
  CHECK(run.Verdict("posix") == "follows");
}

TEST_CASE("ESTALE of a replaced file is the way of NFSv3, and a failure over NFSv4") {
  for (const bool is_v3 : {true, false}) {
    Validated run;
    if (is_v3) {
      for (v1::WorkerTargets& seen : run.targets)
        seen.mutable_targets(0)->set_mount_options("rw,hard,vers=3");
    }
    run.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
      const bool is_first = action.directory() == 1;
      if (action.what() == v1::FileAction::READ_HELD && is_first) {
        *result.mutable_problem() = ToProblem(ErrnoStatus("read f1", ESTALE));
      }
    };
    run.Run("renames");
    CHECK(run.Verdict("renames") == (is_v3 ? "pass" : "fail"));
    Says(run.Text("renames"), is_v3 ? "as NFSv3 cannot avoid" : "open files again after ESTALE");
  }
}

TEST_CASE("a file that is lost when it is moved points to subtree_check; a hidden name that stays is told") {
  Validated moved;
  moved.workers.tamper = [](WorkerId, const v1::FileAction&, v1::FileActionResult& result) {
    if (result.trials_size() == 0 || result.trials(0).name() != "rename-across") return;
    result.mutable_trials(0)->set_answer("no");
    result.mutable_trials(0)->set_detail("reading the open file fails: ESTALE");
  };
  moved.Run("renames");
  CHECK(moved.Verdict("renames") == "fail");
  Says(moved.Text("renames"), "export with no_subtree_check");
  Validated left;
  left.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::LIST) result.mutable_names()->set_listed(2);
  };
  left.Run("renames");
  CHECK(left.Verdict("renames") == "fail");
  Says(left.Text("renames"), "1 name of the replaced file stayed");
}

TEST_CASE("a pair of cache modes that does not fit is named; old contents without a lock are no failure") {
  Validated run;
  run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    const bool reads_mapped = action.what() == v1::FileAction::READ_HELD && action.how().mapped();
    if (id == 1 && reads_mapped) result.set_contents_xxh3(0);
  };
  run.Run("cache-modes");
  CHECK(run.Verdict("cache-modes") == "fail");
  Says(run.Text("cache-modes"), "buffered write, mapped read under a lock: c1 does not read what c0 wrote");
  CHECK(run.Text("cache-modes").find("mapped read: ") == std::string::npos);

  Validated old;
  bool locked = false;
  old.workers.tamper = [&locked](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::LOCK) locked = true;
    if (action.what() == v1::FileAction::UNLOCK) locked = false;
    const bool is_buffered = !action.how().mapped() && action.held() == 1;
    if (action.what() == v1::FileAction::READ_HELD && is_buffered && !locked) {
      result.set_contents_xxh3(0);
    }
  };
  // The results of a request are changed after all of it was done, in order, so `locked` is that of the call.
  old.Run("cache-modes");
  CHECK(old.Verdict("cache-modes") == "pass");
  Says(old.Text("cache-modes"), "old as is allowed: buffered write, buffered read");
}

TEST_CASE("a client that reads old contents is found by random work, with a short script") {
  Validated run(2);
  run.consistency_s = 5;
  run.limits.shrink_s = 1e6;  // the clock of these workers runs fast
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, v1::FileActionResult> first;
  run.workers.tamper = [&first](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id != 1 || action.what() != v1::FileAction::READ || result.problem().code() != 0) return;
    const v1::FileActionResult& old =
        first.emplace(std::tuple(action.directory(), action.file(), action.offset()), result).first->second;
    result.set_bytes(old.bytes());
    result.set_contents_xxh3(old.contents_xxh3());
  };
  run.Run("consistency");
  CHECK(run.Verdict("consistency") == "fail");
  const std::string text = run.Text("consistency");
  Says(text, "what was there after step");
  Says(text, ": shrunk from ");
  Says(text, "1. c");
  CHECK(run.Of("consistency").evidence_size() <= 6);
  CHECK(run.LeftNothing());
}

TEST_CASE("random work on a right file system passes, and is the same for one seed") {
  Validated run(2);
  run.consistency_s = 1;
  run.Run("consistency");
  Says(run.Text("consistency"), "pass: ");
  Says(run.Text("consistency"), "(--seed 1)");
  CHECK(run.LeftNothing());
  Validated without(2);
  without.Run("consistency");
  Says(without.Text("consistency"), "needs --consistency DURATION");
}

}  // namespace
}  // namespace iobench
