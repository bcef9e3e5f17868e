// --until steady: what its plan may hold.
#include <catch2/catch.hpp>
#include <string>

#include "coordinator/plan/plan_builder.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/rounds.h"
#include "tests/unit/plan_for.h"

namespace iobench {
namespace {

TEST_CASE("the limits of --until steady are SNIA's, unless the options say otherwise") {
  const v1::Steady steady = PlanFor("--until steady --op write")->until_steady();
  CHECK(steady.window_rounds() == 5);
  CHECK(steady.range_percent() == 20);
  CHECK(steady.slope_percent() == 10);
  CHECK(steady.max_rounds() == 25);
  const v1::Steady own = PlanFor("--until steady --op write --steady-window 4 --steady-range 15 --steady-slope 2.5 --max-rounds 9")
                             ->until_steady();
  CHECK(own.window_rounds() == 4);
  CHECK(own.range_percent() == 15);
  CHECK(own.slope_percent() == 2.5);
  CHECK(own.max_rounds() == 9);
  CHECK_FALSE(PlanFor("--op write")->has_until_steady());
}

TEST_CASE("what cannot be repeated until it is steady is refused in one line") {
  const auto why = [](const std::string& more) {
    const std::string message = ErrorOf("--until steady --op write " + more);
    CHECK(message.find('\n') == std::string::npos);
    return message;
  };
  CHECK(why("").empty());
  CHECK(why("--soak 60").find("--soak") != std::string::npos);
  CHECK(why("--repeat 3").find("--repeat") != std::string::npos);
  CHECK(why("--per-client").find("--per-client") != std::string::npos);
  CHECK(why("--steady-window 6 --max-rounds 5").find("less than the window of 6 rounds") != std::string::npos);
  CHECK(ErrorOf("--until done --op write").find("--until done: there is only `steady`") != std::string::npos);
  CHECK(ErrorOf("--steady-window 4 --op write").find("--until") != std::string::npos);
}

TEST_CASE("a plan's own limits are checked") {
  v1::Plan plan = *PlanFor("--until steady --op write");
  const auto why = [](const v1::Plan& changed) { return std::string(CheckUntilSteady(changed).message()); };
  CHECK(why(plan).empty());
  plan.mutable_until_steady()->set_window_rounds(2);
  CHECK(why(plan).find("use 3 rounds or more") != std::string::npos);
  plan.mutable_until_steady()->set_window_rounds(5);
  plan.mutable_until_steady()->set_range_percent(-1);
  CHECK(why(plan).find("--steady-range (until_steady.range_percent) -1") != std::string::npos);
  plan.mutable_until_steady()->set_range_percent(20);
  plan.mutable_until_steady()->set_max_rounds(10'001);
  CHECK(why(plan).find("is over 10000") != std::string::npos);
  plan.mutable_until_steady()->set_max_rounds(25);
  plan.set_soak_s(60);
  CHECK(why(plan).find("a soak says how long") != std::string::npos);
}

}  // namespace
}  // namespace iobench
