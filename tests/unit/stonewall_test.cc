#include "coordinator/analysis/phase/stonewall.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

constexpr LaneEnd kByItselfAt5 = {.ops_end = {5}, .stopped = false, .has_ops = true};
constexpr LaneEnd kByItselfAt7 = {.ops_end = {7}, .stopped = false, .has_ops = true};
constexpr LaneEnd kStoppedAt3 = {.ops_end = {3}, .stopped = true, .has_ops = true};
constexpr LaneEnd kStoppedAt4 = {.ops_end = {4}, .stopped = true, .has_ops = true};
constexpr LaneEnd kNothingAt1 = {.ops_end = {1}, .stopped = false, .has_ops = false};

TEST_CASE("the stonewall is the first lane that ended by itself") {
  CHECK(IsStonewallBefore(kByItselfAt5, kByItselfAt7));
  CHECK_FALSE(IsStonewallBefore(kByItselfAt7, kByItselfAt5));
}

TEST_CASE("a lane that was stopped is not the stonewall, though its last op ended before") {
  CHECK(IsStonewallBefore(kByItselfAt7, kStoppedAt3));
  CHECK_FALSE(IsStonewallBefore(kStoppedAt3, kByItselfAt7));
}

TEST_CASE("where all were stopped, it is the first of them") {
  CHECK(IsStonewallBefore(kStoppedAt3, kStoppedAt4));
}

TEST_CASE("a lane without ops is the stonewall of nobody") {
  CHECK(IsStonewallBefore(kStoppedAt4, kNothingAt1));
  CHECK_FALSE(IsStonewallBefore(kNothingAt1, kByItselfAt7));
}

TEST_CASE("one end is not before itself") {
  for (const LaneEnd& end : {kByItselfAt5, kStoppedAt3, kNothingAt1})
    CHECK_FALSE(IsStonewallBefore(end, end));
}

}  // namespace
}  // namespace iobench
