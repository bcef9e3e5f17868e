#include "coordinator/mix/phase_of_mix.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/model/phase_check.h"
#include "coordinator/mix/mix.h"

namespace iobench {
namespace {

using Catch::Contains;

v1::Mix Shares(const std::string& text) {
  const auto mix = FindMix(text);
  REQUIRE(mix.ok());
  return *mix;
}

// Each group's parts: the rates of random reads, of stats …
v1::Mix Rates(const std::vector<std::pair<uint32_t, std::vector<double>>>& groups) {
  static constexpr const char* kOperations[] = {"random-read", "stat", "readdir"};
  v1::Mix mix;
  mix.set_name("seen");
  for (const auto& [clients, rates] : groups) {
    v1::MixGroup& group = *mix.add_groups();
    group.set_clients(clients);
    for (size_t i = 0; i < rates.size(); ++i) {
      v1::MixPart& part = *group.add_parts();
      part.set_operation(kOperations[i]);
      if (i == 0) part.set_record_bytes(4096);
      part.set_ops_per_s(rates[i]);
    }
  }
  const absl::Status complete = CompleteMix(mix);
  INFO(complete.message());
  REQUIRE(complete.ok());
  return mix;
}

v1::Phase PhaseFor(const v1::Mix& mix, const MixLoad& load) {
  const auto phase = PhaseOfMix(mix, load);
  INFO(phase.status().message());
  REQUIRE(phase.ok());
  return *phase;
}

double RateOf(const v1::Phase& phase, int assignment) {
  return phase.assignments(assignment).operation().arrivals().ops_per_s();
}

std::vector<uint32_t> WorkersOf(const v1::Phase& phase, int assignment) {
  const auto& workers = phase.assignments(assignment).who().workers();
  return {workers.begin(), workers.end()};
}

using Numbers = std::vector<uint32_t>;

TEST_CASE("shares divide the total rate, and need one") {
  const v1::Mix mix = Shares("70r:30w@8k + stat 20% + readdir 5%");
  const v1::Phase phase = PhaseFor(mix, {.ops_per_s = 1000, .end_ops_per_s = 2000});
  REQUIRE(phase.assignments_size() == 3);
  CHECK(RateOf(phase, 0) == Approx(750));
  CHECK(RateOf(phase, 1) == Approx(200));
  CHECK(RateOf(phase, 2) == Approx(50));
  CHECK(phase.assignments(1).operation().arrivals().end_ops_per_s() == Approx(400));
  CHECK(phase.assignments(0).operation().read_percent() == 70);
  CHECK(phase.stop().time_s() == 10);
  CHECK_THAT(std::string(PhaseOfMix(mix, {}).status().message()), Contains("add --rate OPS"));
}

TEST_CASE("rates are those of one client: a load of 1 is all clients of the mix, 2 is twice as much") {
  const v1::Mix mix = Rates({{3, {10, 20}}, {1, {5}}});
  CHECK(OpsPerSecondOf(mix) == Approx(3 * 30 + 5));
  const v1::Phase once = PhaseFor(mix, {});
  CHECK(RateOf(once, 0) == Approx(30));
  CHECK(RateOf(once, 1) == Approx(60));
  CHECK(RateOf(once, 2) == Approx(5));
  CHECK(RateOf(PhaseFor(mix, {.factor = 2}), 1) == Approx(120));
  CHECK(PhaseFor(mix, {.factor = 2}).name() == "seen, 2x");
  // A total keeps the proportions.
  CHECK(RateOf(PhaseFor(mix, {.ops_per_s = 190}), 1) == Approx(120));
  CHECK_THAT(std::string(PhaseOfMix(mix, {.factor = 1e-9}).status().message()),
             Contains("random-read") && Contains("not between 0.0001 and 10^9"));
}

TEST_CASE("the workers of each client are divided by the number of ops, at least one for each part") {
  v1::Phase phase = PhaseFor(Shares("100r@8k 70% + stat 25% + readdir 5%"), {.ops_per_s = 100});
  // Client 7 has workers 0 to 3, client 9 has 4 to 13. Of ten: 7, 2.5 and 0.5 are owed.
  const Numbers clients = {7, 7, 7, 7, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  REQUIRE(SpreadOverWorkers(clients, phase).ok());
  CHECK_FALSE(phase.has_spreading());
  CHECK(WorkersOf(phase, 0) == Numbers{0, 1, 4, 5, 6, 7, 8, 9, 10});
  CHECK(WorkersOf(phase, 1) == Numbers{2, 11, 12});
  CHECK(WorkersOf(phase, 2) == Numbers{3, 13});
}

TEST_CASE("where lanes are known, they divide the workers in place of the ops") {
  v1::Mix mix = Rates({{1, {10, 1000}}});
  mix.mutable_groups(0)->mutable_parts(0)->set_lanes(3);
  mix.mutable_groups(0)->mutable_parts(1)->set_lanes(1);
  v1::Phase phase = PhaseFor(mix, {});
  REQUIRE(SpreadOverWorkers(Numbers{0, 0, 0, 0}, phase).ok());
  CHECK(WorkersOf(phase, 0) == Numbers{0, 1, 2});
  CHECK(WorkersOf(phase, 1) == Numbers{3});
}

TEST_CASE("a part in bursts keeps its mean rate, and the phase lasts a period at least") {
  v1::Mix mix = Rates({{1, {10, 20}}});
  mix.mutable_groups(0)->mutable_parts(1)->set_burst_s(5);
  mix.mutable_groups(0)->mutable_parts(1)->set_burst_every_s(30);
  const v1::Phase phase = PhaseFor(mix, {.factor = 2});
  CHECK(phase.stop().time_s() == 30);
  CHECK(phase.assignments(0).operation().arrivals().burst_s() == 0);
  CHECK(RateOf(phase, 1) == 40);
  CHECK(phase.assignments(1).operation().arrivals().burst_s() == 5);
  CHECK(phase.assignments(1).operation().arrivals().burst_every_s() == 30);
  v1::StopRule short_stop;
  short_stop.set_time_s(20);
  const absl::Status status = CheckArrivals(phase.assignments(1).operation(), short_stop);
  CHECK_THAT(std::string(status.message()), Contains("set --time to 30 or a multiple"));
  mix.mutable_groups(0)->mutable_parts(1)->set_burst_s(40);
  CHECK_THAT(std::string(PhaseOfMix(mix, {}).status().message()), Contains("bursts of 40 s every 30 s"));
}

TEST_CASE("groups have clients in proportion, and several groups share a client where there are too few") {
  const v1::Mix mix = Rates({{2, {10, 20}}, {1, {5}}});
  v1::Phase phase = PhaseFor(mix, {});
  // Four clients with two workers each: groups 0, 0, 1, 0.
  REQUIRE(SpreadOverWorkers(Numbers{0, 0, 1, 1, 2, 2, 3, 3}, phase).ok());
  CHECK(WorkersOf(phase, 0) == Numbers{0, 2, 6});
  CHECK(WorkersOf(phase, 1) == Numbers{1, 3, 7});
  CHECK(WorkersOf(phase, 2) == Numbers{4, 5});
  // One client stands for all three.
  phase = PhaseFor(mix, {});
  REQUIRE(SpreadOverWorkers(Numbers{0, 0, 0}, phase).ok());
  CHECK(WorkersOf(phase, 2) == Numbers{2});
}

TEST_CASE("a client with fewer workers than parts is refused, and the message says how many it needs") {
  v1::Phase phase = PhaseFor(Shares("100r@8k + stat 25% + readdir 5%"), {.ops_per_s = 100});
  const absl::Status status = SpreadOverWorkers(Numbers{0, 0, 0, 1}, phase);
  CHECK_THAT(std::string(status.message()),
             Contains("the 3 parts of the mix need at least 3 workers per client") && Contains("has 1") &&
                 Contains("--spawn 3"));
}

}  // namespace
}  // namespace iobench
