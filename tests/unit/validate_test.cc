// What a validation does as a whole: which checks run, what ends it, waivers, evidence.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>

#include "common/status_util.h"
#include "tests/unit/validated.h"

namespace iobench {
namespace {

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

TEST_CASE("without space nothing can be checked, and nothing is said of the file system") {
  Validated run;
  run.workers.tamper = [](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id == 1 && action.what() == v1::FileAction::WRITE) {
      *result.mutable_problem() = ToProblem(ErrnoStatus("write f1", EDQUOT));
    }
  };
  run.Run();
  CHECK(run.Verdict("space") == "fail");
  Says(run.Text("space"), "c1: write f1: ");
  // Neither what ran beside it and failed, nor what would run after it.
  for (const char* const name : {"close-to-open", "cache-modes"}) {
    CHECK(run.Verdict(name) == "follows");
    Says(run.Text(name), "see space: EDQUOT");
  }
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
  gone.choice.waivers = {{"storage", "known"}, {"close-to-open", "known"}};
  gone.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() == v1::FileAction::TRUNCATE) {
      *result.mutable_problem() =
          ToProblem(ErrnoStatus("open directory d/cluster-iobench.validate-7/d1", ENOENT));
    }
  };
  gone.Run();
  CHECK(gone.Verdict("storage") == "fail");
  Says(gone.Text("storage"), "the directory of validate cannot be opened any more: ENOENT");
  CHECK(gone.Verdict("close-to-open") == "follows");
  CHECK(gone.Verdict("cache-modes") == "follows");
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
