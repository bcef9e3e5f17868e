// What control groups withheld between two readings.
#include <catch2/catch.hpp>

#include "worker/client/host_counters.h"

namespace iobench {
namespace {

std::string NameOfSda(const std::string& device) {
  return device == "8:0" ? "sda" : device;
}

CgroupCounters At(int64_t second) {
  CgroupCounters counters;
  counters.any = true;
  counters.at_monotonic_ns = second * 1'000'000'000;
  return counters;
}

TEST_CASE("of nested groups, the smallest quota and the longest throttling count") {
  CgroupCounters before = At(10), after = At(20);
  before.cpu = {{"/a", {4, 100, 0, 0}}, {"/a/b", {0.5, 100, 10, 5}}};
  after.cpu = {{"/a", {4, 200, 1, 0.25}}, {"/a/b", {0.5, 200, 100, 11}}};
  const auto delta = CgroupDeltaBetween(before, after, NameOfSda);
  REQUIRE(delta.has_value());
  CHECK(delta->cpu_processors() == 0.5);
  CHECK(delta->throttled_s() == 6);
  CHECK(delta->periods() == 100);
  CHECK(delta->throttled_periods() == 90);
  CHECK(delta->seconds() == 10);
  CHECK_FALSE(delta->has_memory_max_bytes());
  CHECK_FALSE(delta->has_oom_kills());
}

TEST_CASE("what was used of each limit, and how often memory ran out") {
  CgroupCounters before = At(0), after = At(4);
  const IoLimitKey writes{"/a", "8:0", true, false};
  before.io[writes] = {10e6, 1'000'000};
  after.io[writes] = {10e6, 41'000'000};
  before.oom_kills = 1;
  after.oom_kills = 3;
  after.memory_max_bytes = 1 << 30;
  before.memory_max_hits = {{"/a", 3}, {"/a/b", 3}};
  after.memory_max_hits = {{"/a", 10}, {"/a/b", 4}};
  const auto delta = CgroupDeltaBetween(before, after, NameOfSda);
  REQUIRE(delta.has_value());
  REQUIRE(delta->io_limits_size() == 1);
  CHECK(delta->io_limits(0).device() == "sda");
  CHECK(delta->io_limits(0).writes());
  CHECK(delta->io_limits(0).amount() == 40'000'000);
  CHECK(delta->oom_kills() == 2);
  CHECK(delta->memory_max_hits() == 7);
}

TEST_CASE("counters that are not available are absent, and so is everything without groups") {
  const auto delta = CgroupDeltaBetween(At(0), At(1), NameOfSda);
  REQUIRE(delta.has_value());
  CHECK_FALSE(delta->has_cpu_processors());
  CHECK_FALSE(delta->has_throttled_s());
  CHECK_FALSE(CgroupDeltaBetween(CgroupCounters(), CgroupCounters(), NameOfSda).has_value());
  CgroupCounters new_quota = At(1);
  new_quota.cpu = {{"/a", {1, 5, 5, 5}}};
  CHECK_FALSE(CgroupDeltaBetween(At(0), new_quota, NameOfSda)->has_throttled_s());
}

}  // namespace
}  // namespace iobench
