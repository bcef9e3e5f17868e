// Phases for which a rule once named what was not the limit.
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "coordinator/analysis/explain/limit_rules.h"
#include "tests/unit/explained_phase.h"

namespace iobench {
namespace {

bool Fires(const char* name, const Explained& made) {
  return FindByRule(name, made.report, made.facts).has_value();
}

// A slow client's rates, slice by slice, in bytes/s per lane; the other's are 50 MB/s.
Explained WithRates(const std::vector<double>& rates) {
  Explained made = NothingFull();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  made.client(1).set_bytes_per_s(2 * sum / static_cast<double>(rates.size()));
  made.facts.over_time.lane_rates[1] = rates;
  return made;
}

TEST_CASE("more lanes do not help a server that is frozen for 2 s of 5 s") {
  Explained made = NothingFull();
  HasFullLanes(made);
  AddServer(made);
  made.facts.over_time.stalled_s = 2;
  made.facts.over_time.stalled_share = 0.4;
  CHECK(LimitNames(made) == std::vector<std::string>{"stalls"});
}

TEST_CASE("more lanes do not help where a storage target is slow") {
  Explained made = NothingFull();
  HasFullLanes(made);
  AddServer(made);
  REQUIRE(LimitNames(made) == std::vector<std::string>{"lanes"});
  HasSlowTarget(made, 0.2);
  CHECK(LimitNames(made) == std::vector<std::string>{"slow-target"});
}

TEST_CASE("a queue on the network is explained by a slow storage target") {
  Explained made = NothingFull();
  HasQueueOnNetwork(made);
  REQUIRE(LimitNames(made) == std::vector<std::string>{"network"});
  HasSlowTarget(made, 0.2);
  CHECK(LimitNames(made) == std::vector<std::string>{"slow-target"});
}

TEST_CASE("more lanes do not help where some of them stalled") {
  Explained made = NothingFull();
  HasFullLanes(made);
  AddServer(made);
  made.report.add_marks()->set_code("stalled");
  CHECK(LimitNames(made).empty());
}

TEST_CASE("more lanes do not help a link that was full before the warm-up ended") {
  Explained made = NothingFull();
  HasQueueOnNetwork(made);
  made.report.mutable_latency_us()->set_min(9000);  // of the ops after it, none was fast
  CHECK(LimitNames(made).empty());
  made.facts.over_time.first_op_us = 1000;  // but the very first one was
  CHECK(LimitNames(made) == std::vector<std::string>{"network"});
}

TEST_CASE("one lane that fills a link of unknown speed is not alone with its answer time") {
  Explained made = NothingFull();
  HasFullLanes(made);
  made.facts.in_flight = 1;
  made.report.set_lane_count(1);
  made.report.mutable_latency_us()->set_count(1000);
  made.report.set_lanes_wall_s(10);
  made.report.set_record_bytes(16 << 10);
  CHECK(LimitNames(made).empty());
  made.report.set_metadata(true);  // names take no time on a link
  CHECK(LimitNames(made) == std::vector<std::string>{"lanes"});
}

TEST_CASE("think time that keeps processors busy is not a lack of processors") {
  Explained made = NothingFull();
  for (int i : {0, 1}) {
    made.client(i).set_cpu_percent(98);
    made.client(i).set_own_cpu_percent(98);
    AddClientMark(made, i, "cpu_bound", 98);
  }
  CHECK(LimitNames(made) == std::vector<std::string>{"client-cpu"});
  made.facts.paused_lanes_s = 30;
  CHECK(LimitNames(made) == std::vector<std::string>{"think-time"});
}

TEST_CASE("a client is slow if it is so all the time") {
  CHECK(Fires("slow-client", WithRates(std::vector<double>(40, 15e6))));
  std::vector<double> uneven(40, 10e6);
  for (size_t i = 0; i < uneven.size(); i += 2) uneven[i] = 20e6;
  CHECK(Fires("slow-client", WithRates(uneven)));
}

TEST_CASE("short pauses of the others do not hide a slow client") {
  Explained made = WithRates(std::vector<double>(40, 1e6));
  for (const size_t slice : {7, 19, 31}) made.facts.over_time.lane_rates[0][slice] = 1e4;  // a hundred times slower
  CHECK(Fires("slow-client", made));
}

TEST_CASE("a client that did nothing for 60 % of the time, and then as much as the other, is not slow") {
  std::vector<double> rates(40, 0);
  for (size_t i = 24; i < rates.size(); ++i) rates[i] = 50e6;  // 40 % of the other's
  CHECK_FALSE(Fires("slow-client", WithRates(rates)));
}

TEST_CASE("a client at 49 % on the average is not slow if it might be by chance") {
  std::vector<double> rates(40, 24e6);
  for (size_t i = 0; i < 4; ++i) rates[i] = 30e6;  // 24.6: below 25 in 90 % of the slices
  CHECK_FALSE(Fires("slow-client", WithRates(rates)));
}

TEST_CASE("no client is slow in a phase that is too short, in memory, not whole, or of different work") {
  const Explained slow = WithRates(std::vector<double>(40, 10e6));
  REQUIRE(Fires("slow-client", slow));
  Explained made = slow;
  made.facts.over_time.seconds = 0.9;
  CHECK_FALSE(Fires("slow-client", made));
  made = slow;
  made.facts.over_time.lane_rates.clear();
  CHECK_FALSE(Fires("slow-client", made));
  made = slow;
  made.report.add_marks()->set_code("unflushed");
  CHECK_FALSE(Fires("slow-client", made));
  made = slow;
  made.report.set_not_whole("1 lane failed");
  CHECK_FALSE(Fires("slow-client", made));
  made = slow;
  made.facts.same_work = false;
  CHECK_FALSE(Fires("slow-client", made));
}

TEST_CASE("a client at 2 % of the others that lost packets or stalled is explained by that") {
  const Explained slow = WithRates(std::vector<double>(40, 1e6));
  REQUIRE(Fires("slow-client", slow));
  Explained made = slow;
  made.client(1).mutable_transport()->set_sent_segments(100);
  made.client(1).mutable_transport()->set_retransmitted_share(0.02);
  CHECK_FALSE(Fires("slow-client", made));
  made = slow;
  made.client(1).mutable_pauses()->set_stalled_s(1.1);  // of 10 s
  CHECK_FALSE(Fires("slow-client", made));
}

}  // namespace
}  // namespace iobench
