#include "coordinator/cluster/ping_log.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace iobench {
namespace {

v1::PingBurst PingAt(int64_t ns) {
  v1::PingBurst burst;
  v1::PingSample& sample = *burst.add_samples();
  sample.set_sent_coord_ns(ns - 10);
  sample.set_returned_coord_ns(ns);
  return burst;
}

TEST_CASE("a ping log stays spread, and never drops its first, its last and what is around an instant") {
  PingLog log;
  log.Add(PingAt(0));
  log.KeepAround({4321});
  for (int64_t second = 1; second <= 10'000; ++second) log.Add(PingAt(second * 10));
  std::vector<int64_t> at;
  for (const v1::PingBurst& burst : log.bursts()) at.push_back(burst.samples(0).returned_coord_ns());
  REQUIRE(at.size() == PingLog::kMaxBursts);
  CHECK(at.front() == 0);
  CHECK(at.back() == 100'000);
  CHECK(std::find(at.begin(), at.end(), 4320) != at.end());
  CHECK(std::find(at.begin(), at.end(), 4330) != at.end());
  for (size_t i = 1; i < at.size(); ++i) CHECK(at[i] - at[i - 1] <= 3 * 100'000 / 64);
  log.StartPhase();
  REQUIRE(log.bursts().size() == 1);
  CHECK(log.bursts()[0].samples(0).returned_coord_ns() == 100'000);
}

}  // namespace
}  // namespace iobench
