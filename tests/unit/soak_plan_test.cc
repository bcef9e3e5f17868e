// --soak: the plan of a run that repeats its phases in rounds.
#include <catch2/catch.hpp>
#include <string>

#include "coordinator/plan/plan_builder.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/rounds.h"

namespace iobench {
namespace {

struct SoakOption {
  OptionName name;
  std::string text;
};

absl::StatusOr<v1::Plan> PlanOf(const std::vector<SoakOption>& options) {
  GivenOptions given;
  for (const auto& [name, text] : options) {
    if (const absl::Status added = given.Add(name, text); !added.ok()) return added;
  }
  absl::StatusOr<v1::Plan> plan = BuildPlan(given, {.default_lanes = 1, .worker_count = 1});
  if (plan.ok()) {
    if (const absl::Status good = CheckPlan(*plan); !good.ok()) return good;
  }
  return plan;
}

bool DropsCaches(const v1::Phase& phase) {
  for (const v1::Step& step : phase.before()) {
    if (step.has_drop_caches()) return true;
  }
  return false;
}

TEST_CASE("a round reads what the one before has left, writes it anew, and reads that, from the storage") {
  const auto plan = PlanOf({{"soak", "1h"}});
  REQUIRE(plan.ok());
  REQUIRE(plan->phases_size() == 3);
  CHECK(plan->phases(0).name() == "read");
  CHECK(plan->phases(1).name() == "write");
  CHECK(plan->phases(2).name() == "reread");
  for (const v1::Phase& phase : plan->phases()) {
    CHECK(phase.stop().time_s() == 4);
    CHECK(phase.stop().whole_passes());
    CHECK(DropsCaches(phase) == (phase.name() != "write"));
  }
  // Otherwise written data might never reach the server.
  CHECK(plan->phases(1).region().fsync());
  CHECK(plan->phases(1).region().flush_passes());
  const auto timed = PlanOf({{"soak", "1h"}, {"time", "2"}});
  REQUIRE(timed.ok());
  CHECK(timed->phases(1).stop().time_s() == 2);
  CHECK(timed->phases(1).region().flush_passes());
  const auto by_user = PlanOf({{"soak", "1h"}, {"time", "2"}, {"close-in-timing", ""}});
  REQUIRE(by_user.ok());
  CHECK_FALSE(by_user->phases(1).region().fsync());
}

TEST_CASE("direct reads have no cache to drop, and metadata operations no data to verify") {
  const auto direct = PlanOf({{"soak", "1h"}, {"direct", ""}});
  REQUIRE(direct.ok());
  CHECK_FALSE(DropsCaches(direct->phases(0)));
  const auto metadata = PlanOf({{"soak", "1h"}, {"op", "create"}, {"op", "stat"}, {"op", "unlink"}});
  REQUIRE(metadata.ok());
  CHECK_FALSE(metadata->data().verify());
  CHECK_FALSE(DropsCaches(metadata->phases(1)));
  CHECK(metadata->phases(0).stop().time_s() == 0);  // --items determines the amount
}

TEST_CASE("a time that is none is refused") {
  for (const char* const text : {"0", "-5", "0.5s", "1e9", "12 hours", "nan", ""}) {
    INFO(text);
    const auto plan = PlanOf({{"soak", text}});
    REQUIRE_FALSE(plan.ok());
    CHECK(std::string(plan.status().message()).find("--soak") != std::string::npos);
  }
  v1::Plan plan = *PlanOf({{"soak", "1h"}});
  for (const double soak_s : {-1.0, 1e8, std::nan("")}) {
    plan.set_soak_s(soak_s);
    CHECK_FALSE(CheckSoak(plan).ok());
  }
}

TEST_CASE("the phases of a plan that compares clients, or repeats them itself, are no soak") {
  v1::Plan plan = *PlanOf({{"soak", "1h"}});
  CHECK(CheckPlan(plan).ok());
  plan.set_repetitions(2);
  CHECK_FALSE(CheckPlan(plan).ok());
  plan.set_repetitions(1);
  plan.mutable_phases(0)->mutable_interference();
  CHECK_FALSE(CheckSoak(plan).ok());
  plan.mutable_phases(0)->clear_interference();
  plan.mutable_phases(0)->mutable_stop()->set_time_s(0);  // whole passes need a time
  CHECK_FALSE(CheckPlan(plan).ok());
}

}  // namespace
}  // namespace iobench
