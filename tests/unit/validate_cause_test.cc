// One cause, one finding: a call that fails for a cause of its own is judged before the theory of the check that made it.
#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <tuple>
#include <utility>

#include "common/status_util.h"
#include "tests/unit/validated.h"

namespace iobench {
namespace {

// From this action on, worker 1 gets this errno.
Tamper FailsOn(v1::FileAction::What what, int error) {
  return [=](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (id == 1 && action.what() == what)
      *result.mutable_problem() = ToProblem(ErrnoStatus("call f1", error));
  };
}

Finding Unwritable(const char* client, uint32_t worker, int error) {
  Finding finding = FindingOf(PreflightCheck::kWrite, client, "create check file: it failed");
  finding.workers = {worker};
  finding.error = error;
  finding.advice = "the advice of preflight";
  return finding;
}

TEST_CASE("an errno is a finding of the check that answers for it, and others follow") {
  for (const auto& [error, owner] :
       {std::pair{EROFS, "storage"}, {EACCES, "identity"}, {EDQUOT, "space"}, {EIO, "storage"}}) {
    INFO(ErrnoName(error));
    Validated run;
    run.workers.tamper = FailsOn(v1::FileAction::WRITE, error);
    run.Run();
    CHECK(run.Verdict(owner) == "fail");
    CHECK(run.Of(owner).cause() == ErrnoName(error));
    CHECK_FALSE(run.Of(owner).advice().empty());
    Says(run.Text(owner), "c1: call f1: ");
    CHECK(run.Verdict("close-to-open") == "follows");
    CHECK(run.Of("close-to-open").follows_from() == owner);
    CHECK(run.Of("close-to-open").cause() == ErrnoName(error));
    CHECK(run.report.counts().at("fail") == 1);
    CHECK(run.LeftNothing());
  }
}

TEST_CASE("the check that is alone answers for what it meets") {
  Validated run;
  run.choice.only = {"close-to-open", "delegations"};
  run.workers.tamper = FailsOn(v1::FileAction::WRITE, EROFS);
  run.Run();
  CHECK(run.Verdict("close-to-open") == "fail");
  CHECK(run.Of("close-to-open").cause() == "EROFS");
  Says(run.Text("close-to-open"), "export it with rw");
  CHECK(run.Verdict("delegations") == "follows");
  CHECK(run.Of("delegations").follows_from() == "close-to-open");
}

TEST_CASE("what a check asks for itself is its own") {
  Validated run;
  run.workers.tamper = FailsOn(v1::FileAction::LINK, EPERM);
  run.Run("races");
  CHECK(run.Verdict("races") == "fail");
  CHECK(run.Of("races").cause().empty());
}

TEST_CASE("nobody can write: the check that answers says so once, and the report is whole") {
  for (const auto& [error, owner] : {std::pair{EROFS, "storage"}, {EACCES, "identity"}, {ENOSPC, "space"}}) {
    Validated run(2);
    run.findings = {Unwritable("c0", 0, error), Unwritable("c1", 1, error)};
    run.Run();
    INFO(run.Text(owner));
    CHECK(run.Verdict(owner) == "fail");
    Says(run.Text(owner), "c1: create check file");
    CHECK(run.Of(owner).advice() == "the advice of preflight");
    CHECK(run.report.counts().at("fail") == 1);
    CHECK(run.Verdict("locks") == "follows");
    CHECK(run.Of("locks").follows_from() == owner);
    CHECK(HasNewFailure(run.report));
  }
}

TEST_CASE("one client that cannot write leaves the others to be checked") {
  Validated run;
  run.findings = {Unwritable("c2", 2, EACCES)};
  run.Run();
  CHECK(run.Verdict("identity") == "fail");
  CHECK(run.Verdict("mounts") == "pass");
  CHECK(run.Verdict("close-to-open") == "pass");
}

TEST_CASE("a path that cannot be used: the mount, the export or the rights answer for it") {
  for (const auto& [error, options, owner] : {std::tuple{ENOENT, "rw", "mounts"},
                                              {0, "rw", "mounts"},
                                              {EROFS, "ro,vers=4.2", "mounts"},
                                              {EROFS, "rw,vers=4.2", "storage"},
                                              {ESTALE, "rw", "storage"},
                                              {EACCES, "rw", "identity"}}) {
    Validated run(2);
    run.findings = {Unwritable("c0", 0, error), Unwritable("c1", 1, error)};
    for (Finding& finding : run.findings) finding.check = PreflightCheck::kPath;
    for (v1::WorkerTargets& seen : run.targets) seen.mutable_targets(0)->set_mount_options(options);
    run.Run();
    INFO(error << " " << options << " " << run.Text(owner));
    CHECK(run.Verdict(owner) == "fail");
    CHECK(run.report.counts().at("fail") == 1);
    CHECK(run.Verdict("locks") == "follows");
  }
}

TEST_CASE("a warning of preflight stays one") {
  Validated run;
  run.findings = {FindingOf(PreflightCheck::kMount, "c2", "other options"),
                  FindingOf(PreflightCheck::kStorage, "c2", "other storage")};
  for (Finding& finding : run.findings) finding.severity = Severity::kWarning;
  run.Run();
  CHECK(run.Verdict("mounts") == "warn");
  CHECK(run.Verdict("storage") == "warn");
}

TEST_CASE("after a fault, a file that the server no longer knows is the fault's doing") {
  Validated run(2);
  run.fault_hook = "sleep 0.1";
  run.workers.tamper = FailsOn(v1::FileAction::CHECK_BLOCKS, ESTALE);
  run.choice.only = {"durability", "failover", "storage"};
  run.Run();
  CHECK(run.Verdict("failover") == "fail");
  CHECK(run.Of("failover").cause() == "ESTALE");
  Says(run.Text("failover"), "fsid=");
  CHECK(run.Verdict("durability") == "follows");
  CHECK(run.Of("durability").follows_from() == "failover");
  CHECK(run.Verdict("storage") == "pass");
}

}  // namespace
}  // namespace iobench
