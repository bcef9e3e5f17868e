#include "coordinator/analysis/statistics/steady_state.h"

#include <cmath>
#include <vector>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

SteadyState StateOf(const std::vector<double>& rounds) {
  const auto state = SteadyStateOf(rounds);
  REQUIRE(state.has_value());
  return *state;
}

TEST_CASE("steady state needs five rounds of finite figures") {
  CHECK_FALSE(SteadyStateOf(std::vector<double>{100, 100, 100, 100}).has_value());
  CHECK_FALSE(SteadyStateOf(std::vector<double>{100, 100, NAN, 100, 100}).has_value());
  CHECK_FALSE(SteadyStateOf(std::vector<double>{0, 0, 0, 0, 0}).has_value());
}

TEST_CASE("steady figures differ by at most 20 % of their mean") {
  CHECK(StateOf({100, 90, 110, 90, 110}).range == Approx(0.2));
  CHECK(StateOf({100, 110, 90, 110, 90}).steady);  // slope -2: 8 % over the window
  CHECK_FALSE(StateOf({100, 111, 89, 100, 100}).steady);
  CHECK(StateOf({100, 111, 89, 100, 100}).slope < 0.1);
}

TEST_CASE("steady figures do not rise or fall by over 10 % of their mean") {
  CHECK(StateOf({96, 98, 100, 102, 104}).slope == Approx(0.08));
  CHECK(StateOf({96, 98, 100, 102, 104}).steady);
  CHECK(StateOf({95, 97.5, 100, 102.5, 105}).steady);  // 10 % exactly
  CHECK_FALSE(StateOf({94, 97, 100, 103, 106}).steady);
  CHECK(StateOf({94, 97, 100, 103, 106}).range == Approx(0.12));
  CHECK_FALSE(StateOf({106, 103, 100, 97, 94}).steady);
}

TEST_CASE("a falling line has a negative slope") {
  CHECK(StateOf({104, 102, 100, 98, 96}).slope == Approx(-0.08));
  CHECK(StateOf({105, 102.5, 100, 97.5, 95}).steady);
  CHECK_FALSE(StateOf({105.1, 102.5, 100, 97.5, 94.9}).steady);
}

TEST_CASE("the window and both limits may be others, each with figures on it and just over it") {
  const auto is_steady = [](const std::vector<double>& rounds, const SteadyLimits& limits) {
    const auto state = SteadyStateOf(rounds, limits);
    return state.has_value() && state->steady;
  };
  const SteadyLimits strict = {.window = 3, .max_range = 0.04, .max_slope = 0.02};
  CHECK(is_steady({50, 99, 102, 99}, {.window = 3, .max_range = 0.04, .max_slope = 0}));
  CHECK(is_steady({50, 99, 100, 101}, strict));  // a rise of 2 of 100
  CHECK_FALSE(is_steady({50, 98.9, 100, 101.1}, strict));
  CHECK(is_steady({50, 98, 102, 98, 102}, {.window = 4, .max_range = 0.04, .max_slope = 0.024}));  // slope 0.8 x 3
  CHECK_FALSE(is_steady({50, 98, 102, 98, 102}, {.window = 4, .max_range = 0.04, .max_slope = 0.0239}));
  CHECK_FALSE(is_steady({50, 98, 102, 98, 102}, {.window = 4, .max_range = 0.0399, .max_slope = 0.024}));
  CHECK_FALSE(SteadyStateOf(std::vector<double>{100, 100, 100}, {.window = 4}).has_value());
}

TEST_CASE("only the last five rounds count") {
  CHECK(StateOf({900, 500, 300, 100, 100, 100, 100, 100}).mean == 100);
  CHECK(StateOf({900, 500, 100, 100, 100, 100, 100}).steady);
  CHECK_FALSE(StateOf({900, 500, 100, 100, 100, 100}).steady);
}

}  // namespace
}  // namespace iobench
