// Checks of validate of whom files belong to and what users may do: identity and groups.
#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>

#include "common/status_util.h"
#include "tests/unit/validated.h"

namespace iobench {
namespace {

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

// A validation of identity by workers that are root, or say so, one of whose answers is another.
std::unique_ptr<Validated> WithTrial(
    const std::function<void(WorkerId, const v1::FileAction&, v1::TrialResult&)>& change,
    const std::function<void(v1::FileFacts&)>& facts = [](v1::FileFacts&) {}) {
  auto run = std::make_unique<Validated>();
  run->workers.tamper = [=](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (result.has_facts()) {
      result.mutable_facts()->set_process_user(0);
      result.mutable_facts()->set_user(0);
      facts(*result.mutable_facts());
    }
    if (action.what() != v1::FileAction::TRY) return;
    result.clear_problem();
    result.clear_trials();
    for (const std::string& name : action.trials()) {
      v1::TrialResult& trial = *result.add_trials();
      trial.set_name(name);
      const bool refused = name == "no-rights" || name == "remove-from-sticky" ||
                           (name == "give-away" && action.has_as_user()) ||
                           (name == "read-file" && action.as_user().user() == 61235);
      trial.set_answer(refused ? "EACCES" : "yes");
      if (name == "own-file") trial.set_number(action.as_user().user());
      change(id, action, trial);
    }
  };
  run->choice.only = {"identity", "groups"};
  run->Run();
  return run;
}

TEST_CASE("identity: what ordinary users find names its cause") {
  using Trial = v1::TrialResult;
  const auto answers = [](const char* name, const char* answer, uint32_t user) {
    return [=](WorkerId id, const v1::FileAction& action, Trial& trial) {
      if (id != 1 || trial.name() != name || action.as_user().user() != user) return;
      trial.set_answer(answer);
      trial.set_failed_call("the call");
      trial.set_detail("something else");
    };
  };
  const auto right = WithTrial([](WorkerId, const v1::FileAction&, Trial&) {});
  CHECK(right->Verdict("identity") == "pass");
  Says(right->Text("identity"), "owners and modes count");
  struct Case {
    const char *trial, *answer;
    uint32_t user;
    const char *verdict, *says;
  };
  for (const Case& each :
       {Case{"give-away", "EINVAL", 0, "fail", "the server does not know the user"},
        {"give-away", "EPERM", 0, "warn", "root may not give files away"},
        {"own-file", "EACCES", 61234, "fail", "cannot create a file in a directory that is open"},
        {"modes", "other", 61234, "fail", "cannot set the mode of its file: something else"},
        {"no-rights", "yes", 61234, "fail", "opens a file of mode 0000"},
        {"umask", "other", 61234, "warn", "default ACL"},
        {"inherit", "other", 61234, "fail", "a setgid directory does not give its group"},
        {"give-away", "yes", 61234, "warn", "may give its files to others"},
        {"read-file", "EACCES", 61234, "fail", "cannot read a file of the same user on another"},
        {"read-file", "yes", 61235, "fail", "reads a file of mode 0600"},
        {"remove-from-sticky", "yes", 61235, "fail", "from a sticky directory"}}) {
    const auto run = WithTrial(answers(each.trial, each.answer, each.user));
    INFO(each.trial << " " << each.answer << ": " << run->Text("identity"));
    CHECK(run->Verdict("identity") == each.verdict);
    Says(run->Text("identity"), each.says);
    Says(run->Text("identity"), "c1: ");
    CHECK_FALSE(run->Of("identity").advice().empty());
  }
}

TEST_CASE("identity: squashed users are told from users whose names cannot be mapped") {
  const auto shown = [](uint32_t owner, bool all_are_one, uint32_t root_as) {
    return WithTrial(
        [=](WorkerId, const v1::FileAction& action, v1::TrialResult& trial) {
          if (trial.name() == "own-file") {
            trial.set_answer("other");
            trial.set_number(owner);
          }
          if (trial.name() == "give-away" && !action.has_as_user() && root_as != 0) trial.set_answer("EPERM");
          if (trial.name() == "read-file" && all_are_one) trial.set_answer("yes");
        },
        [=](v1::FileFacts& facts) { facts.set_user(root_as); });
  };
  const auto squashed = shown(1234, true, 1234);
  CHECK(squashed->Verdict("identity") == "fail");
  Says(squashed->Text("identity"), "all users become user 1234 on the server (all_squash, anonuid=1234)");
  const auto mapped = shown(65534, false, 0);
  CHECK(mapped->Verdict("identity") == "fail");
  Says(mapped->Text("identity"), "owners are shown as nobody");
  Says(shown(65534, false, 65534)->Text("identity"), "owners are shown as nobody");
  Says(shown(65534, true, 65534)->Text("identity"), "all_squash");
  const auto without_owners = shown(0, true, 0);
  CHECK(without_owners->Verdict("identity") == "warn");
  Says(without_owners->Text("identity"), "keeps no owners");
  CHECK(WithTrial(
            [](WorkerId, const v1::FileAction& action, v1::TrialResult& trial) {
              if (trial.name() == "give-away" && !action.has_as_user()) trial.set_answer("EPERM");
            },
            [](v1::FileFacts& facts) { facts.set_user(65534); })
            ->Verdict("identity") == "pass");  // root_squash
}

TEST_CASE("storage: users that may not use each other's files follow from identity, if that fails") {
  for (const bool squashed : {true, false}) {
    Validated run;
    run.findings.push_back(
        FindingOf(PreflightCheck::kStorage, "c1", "may not read what another worker has made"));
    run.findings.back().workers = {1};
    run.findings.back().of_users = true;
    run.workers.tamper = [=](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
      if (!result.has_facts()) return;
      result.mutable_facts()->set_process_user(0);
      result.mutable_facts()->set_user(squashed && action.file() == 2 ? 65534 : 0);
    };
    run.choice.only = {"storage", "identity"};
    run.Run();
    CHECK(run.Verdict("identity") == (squashed ? "fail" : "pass"));
    CHECK(run.Verdict("storage") == (squashed ? "follows" : "fail"));
    CHECK(run.Of("storage").follows_from() == (squashed ? "identity" : ""));
  }
}

TEST_CASE("identity: where directories cannot be opened to others, users are not tried, which is said") {
  Validated run;
  run.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    for (v1::TrialResult& trial : *result.mutable_trials()) {
      if (trial.name() == "open-to-all") {
        trial.set_answer("other");
        trial.set_detail("after chmod 0777 the mode is 0755");
      } else if (action.has_as_user()) {
        trial.set_answer("EACCES");
      }
    }
  };
  CHECK(run.Run("identity").Verdict("identity") == "warn");
  Says(run.Text("identity"), "keeps no modes");
  Says(run.Text("identity"), "after chmod 0777 the mode is 0755");
}

TEST_CASE("identity: workers that are not root, or may not act as others, say what was not checked") {
  const auto user = WithTrial([](WorkerId, const v1::FileAction&, v1::TrialResult&) {},
                              [](v1::FileFacts& facts) {
                                facts.set_process_user(1000);
                                facts.set_user(1000);
                              });
  CHECK(user->Verdict("identity") == "pass");
  Says(user->Text("identity"), "not checked: other users, because the workers are not root");
  Validated run;
  run.workers.tamper = [](WorkerId, const v1::FileAction& action, v1::FileActionResult& result) {
    if (result.has_facts()) {
      result.mutable_facts()->set_process_user(0);
      result.mutable_facts()->set_user(0);
    }
    if (action.what() == v1::FileAction::TRY && action.has_as_user())
      *result.mutable_problem() = ToProblem(ErrnoStatus("act as another user", EPERM));
  };
  CHECK(run.Run("identity").Verdict("identity") == "pass");
  Says(run.Text("identity"), "not checked: ordinary users: act as another user: ");
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
  const auto unknown = with([&](WorkerId, v1::GroupsTried& tried) {
    refuse(tried);
    tried.set_refused_errno(EINVAL);
  });
  CHECK(unknown->Verdict("groups") == "fail");
  Says(unknown->Text("groups"), "idmapd");
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

}  // namespace
}  // namespace iobench
