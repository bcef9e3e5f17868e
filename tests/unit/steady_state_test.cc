#include "coordinator/analysis/capacity/steady_state.h"

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
  CHECK(StateOf({100, 90, 110, 90, 110}).data_excursion == Approx(0.2));
  CHECK(StateOf({100, 110, 90, 110, 90}).steady);  // slope -2: 8 % over the window
  CHECK_FALSE(StateOf({100, 111, 89, 100, 100}).steady);
  CHECK(StateOf({100, 111, 89, 100, 100}).slope_excursion < 0.1);
}

TEST_CASE("steady figures do not rise or fall by over 10 % of their mean") {
  CHECK(StateOf({96, 98, 100, 102, 104}).slope_excursion == Approx(0.08));
  CHECK(StateOf({96, 98, 100, 102, 104}).steady);
  CHECK(StateOf({95, 97.5, 100, 102.5, 105}).steady);  // 10 % exactly
  CHECK_FALSE(StateOf({94, 97, 100, 103, 106}).steady);
  CHECK(StateOf({94, 97, 100, 103, 106}).data_excursion == Approx(0.12));
  CHECK_FALSE(StateOf({106, 103, 100, 97, 94}).steady);
}

TEST_CASE("only the last five rounds count") {
  CHECK(StateOf({900, 500, 300, 100, 100, 100, 100, 100}).mean == 100);
  CHECK(StateOf({900, 500, 100, 100, 100, 100, 100}).steady);
  CHECK_FALSE(StateOf({900, 500, 100, 100, 100, 100}).steady);
}

}  // namespace
}  // namespace iobench
