#include "worker/rights/worker_rights.h"

#include <catch2/catch.hpp>

#include "tests/support/rights_guard.h"

namespace iobench {
namespace {

using Catch::Contains;

constexpr WorkerAction kAllActions[] = {WorkerAction::kRemount, WorkerAction::kLogFiles,
                                        WorkerAction::kDropCaches, WorkerAction::kStripe};

TEST_CASE("a worker whose plan is its own user's may do everything") {
  for (const WorkerAction action : kAllActions) CHECK(CheckAllowed(action).ok());
  CHECK(RightsOfThisWorker().paths.are_all());
}

TEST_CASE("a worker on the network does only what its command line allows, and says what to type") {
  WorkerRights rights;
  rights.actions = {WorkerAction::kRemount};
  const RightsGuard guard(rights);
  CHECK(CheckAllowed(WorkerAction::kRemount).ok());
  const absl::Status refused = CheckAllowed(WorkerAction::kLogFiles);
  CHECK(absl::IsPermissionDenied(refused));
  CHECK_THAT(std::string(refused.message()), Contains("--allow log-files"));
}

TEST_CASE("the words of --allow are the names of the actions") {
  for (const WorkerAction action : kAllActions) {
    const auto actions = WorkerActionsFrom(NameOf(action));
    REQUIRE(actions.ok());
    CHECK(*actions == std::set<WorkerAction>{action});
  }
  const auto two = WorkerActionsFrom("remount,stripe");
  REQUIRE(two.ok());
  CHECK(*two == std::set<WorkerAction>{WorkerAction::kRemount, WorkerAction::kStripe});
  CHECK_THAT(std::string(WorkerActionsFrom("remount,shell").status().message()), Contains("--allow shell"));
}

}  // namespace
}  // namespace iobench
