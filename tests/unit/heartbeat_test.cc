#include "coordinator/cluster/heartbeat.h"

#include <catch2/catch.hpp>

#include "common/time.h"

namespace iobench {
namespace {

TEST_CASE("beats that come as they should say nothing, and a late one says for how long nothing ran") {
  StandstillWatch watch;
  CHECK_FALSE(watch.Beat(100 * kNanosPerSecond, 500 * kNanosPerSecond).has_value());  // the clocks differ from the start
  CHECK_FALSE(watch.Beat(101 * kNanosPerSecond, 501 * kNanosPerSecond).has_value());
  const auto stopped = watch.Beat(113 * kNanosPerSecond, 513 * kNanosPerSecond);
  REQUIRE(stopped.has_value());
  CHECK(stopped->begin_coord_ns() == 101 * kNanosPerSecond);
  CHECK(stopped->seconds() == 12);
  CHECK(stopped->suspended_s() == 0);
  CHECK_FALSE(watch.Beat(114 * kNanosPerSecond, 514 * kNanosPerSecond).has_value());
}

TEST_CASE("a host that was suspended is known by the clock that stood still with it") {
  StandstillWatch watch;
  watch.Beat(100 * kNanosPerSecond, 100 * kNanosPerSecond);
  const auto suspended = watch.Beat(101 * kNanosPerSecond, 701 * kNanosPerSecond);
  REQUIRE(suspended.has_value());
  CHECK(suspended->seconds() == 601);
  CHECK(suspended->suspended_s() == 600);
}

}  // namespace
}  // namespace iobench
