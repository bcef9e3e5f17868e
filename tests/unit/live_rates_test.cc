#include "coordinator/live/live_rates.h"

#include <cmath>

#include "catch2/catch.hpp"
#include "tests/unit/live_progress.h"

namespace iobench {
namespace {

TEST_CASE("a rate is what was moved between two answers, by the time between them") {
  LiveRates rates;
  LivePhase phase({"a", "b"});
  CHECK(rates.PhasePrepares(phase.At(0)).clients.empty());
  phase.Answer(0, 1.0, 1000, 10);
  phase.Answer(1, 2.0, 4000, 8);
  const LiveSample first = rates.PhaseMoves(phase.At(2.0));
  CHECK(first.clients[0].client == "a");
  CHECK(first.clients[0].bytes_per_s == 1000);
  CHECK(first.clients[1].bytes_per_s == 2000);
  CHECK(first.cluster.bytes_per_s == 3000);
  CHECK(first.cluster.ops_per_s == 14);
  phase.Answer(0, 3.0, 7000, 30);
  phase.Answer(1, 2.5, 4500, 9);
  const LiveSample second = rates.PhaseMoves(phase.At(3.0));
  CHECK(second.clients[0].bytes_per_s == 3000);
  CHECK(second.clients[1].bytes_per_s == 1000);
  CHECK(second.cluster.bytes_per_s == 4000);
  CHECK(second.cluster.bytes == 11500);
}

TEST_CASE("a client that has not answered has no rate, and then the mean since its last answer") {
  LiveRates rates;
  LivePhase phase({"a", "b"});
  phase.Answer(0, 1, 100, 1);
  phase.Answer(1, 1, 100, 1);
  rates.PhaseMoves(phase.At(1));
  phase.Answer(0, 2, 300, 3);
  const LiveSample without = rates.PhaseMoves(phase.At(2));
  CHECK(std::isnan(without.clients[1].bytes_per_s));
  CHECK(without.cluster.bytes_per_s == 200);
  phase.Answer(1, 3, 700, 7);
  const LiveSample with = rates.PhaseMoves(phase.At(3));
  CHECK(std::isnan(with.clients[0].bytes_per_s));
  CHECK(with.clients[1].bytes_per_s == 300);
}

TEST_CASE("before the first answer, no rate is known") {
  LiveRates rates;
  LivePhase phase({"a"});
  const LiveSample sample = rates.PhaseMoves(phase.At(1));
  CHECK(std::isnan(sample.cluster.bytes_per_s));
  CHECK(sample.clients[0].client == "a");
}

TEST_CASE("rates by their times, with that of the phase's end, add up to what the phase did") {
  LiveRates rates;
  LivePhase phase({"a", "b"});
  rates.PhasePrepares(phase.At(0));
  double sum = 0, before_s = 0;
  const auto add = [&](const LiveRow& row) {
    sum += row.bytes_per_s * (row.at_s - before_s);
    before_s = row.at_s;
  };
  phase.Answer(0, 1.25, 1000, 10);
  add(rates.PhaseMoves(phase.At(1.5)).clients[0]);
  phase.Answer(0, 2.25, 1800, 18);
  add(rates.PhaseMoves(phase.At(2.5)).clients[0]);
  v1::PhaseReport report;
  report.set_duration_s(3.25);
  // The other client sat out: reports list only those that took part.
  v1::ClientPhaseReport& client = *report.add_clients();
  client.set_host("a");
  client.set_bytes(2500);
  report.set_bytes(2500);
  const LiveSample last = rates.PhaseEnds(report);
  add(last.clients[0]);
  CHECK(sum == Approx(2500));
  CHECK(last.clients[0].bytes_per_s == 700);
  CHECK(last.cluster.bytes == 2500);
  CHECK(last.cluster.lanes_running == 0);
}

TEST_CASE("a phase of servers has their rows alone and all its rates add up to what the servers did") {
  LiveRates rates;
  LivePhase phase({"vm", "c02", "vm (2)"});  // the last one is a server, on the host of the first client
  for (const size_t idle : {0u, 1u}) phase.clients[idle].lane_count = phase.clients[idle].lanes_running = 0;
  rates.PhasePrepares(phase.At(0));
  double server_sum = 0, cluster_sum = 0, before_s = 0;
  const auto add = [&](const LiveSample& sample) {
    REQUIRE(sample.clients.size() == 1);
    const LiveRow& row = sample.clients[0];
    CHECK(row.client == "vm (2)");
    server_sum += row.bytes_per_s * (row.at_s - before_s);
    cluster_sum += sample.cluster.bytes_per_s * (row.at_s - before_s);
    before_s = row.at_s;
  };
  phase.Answer(2, 1, 1000, 10);
  add(rates.PhaseMoves(phase.At(1)));
  phase.Answer(2, 2, 1800, 18);
  add(rates.PhaseMoves(phase.At(2)));
  v1::PhaseReport report;
  report.set_duration_s(3);
  report.set_bytes(2500);
  v1::ClientPhaseReport& server = *report.add_clients();
  server.set_host("vm (2)");
  server.set_bytes(2500);
  add(rates.PhaseEnds(report));
  CHECK(server_sum == Approx(2500));
  CHECK(cluster_sum == Approx(2500));
}

TEST_CASE(
    "latencies are those of the ops since the last answer, and the cluster's those of all clients' ops") {
  LiveRates rates;
  LivePhase phase({"a", "b"});
  rates.PhasePrepares(phase.At(0));
  phase.Answer(0, 1, 1000, 10);
  phase.Answer(1, 1, 1000, 10);
  phase.Took(0, 1'000'000, 10);
  phase.Took(1, 9'000'000, 10);
  const LiveSample first = rates.PhaseMoves(phase.At(1));
  CHECK(first.clients[0].latency.p50_us == Approx(1'000).epsilon(0.032));
  CHECK(first.clients[1].latency.max_us == Approx(9'000).epsilon(0.032));
  CHECK(first.cluster.latency.mean_us == Approx(5'000).epsilon(0.032));
  CHECK(first.cluster.latency.p99_us == Approx(9'000).epsilon(0.032));
  phase.Answer(0, 2, 2000, 20);
  phase.Took(0, 20'000, 10);
  const LiveSample second = rates.PhaseMoves(phase.At(2));  // the other has not answered
  CHECK(second.clients[0].latency.max_us == Approx(20).epsilon(0.032));
  CHECK(std::isnan(second.clients[1].latency.p50_us));
  CHECK(second.cluster.latency.max_us == Approx(20).epsilon(0.032));
}

TEST_CASE("at the end of a phase, latencies are the report's, of the whole phase") {
  LiveRates rates;
  LivePhase phase({"a"});
  rates.PhasePrepares(phase.At(0));
  v1::PhaseReport report;
  v1::ClientPhaseReport& client = *report.add_clients();
  client.set_host("a");
  client.mutable_latency_us()->set_count(3);
  client.mutable_latency_us()->set_p99(77);
  const LiveSample last = rates.PhaseEnds(report);
  CHECK(last.clients[0].latency.p99_us == 77);
  CHECK(std::isnan(last.cluster.latency.p99_us));
}

TEST_CASE("a phase begins from nothing") {
  LiveRates rates;
  LivePhase phase({"a"});
  phase.Answer(0, 5, 5000, 50);
  rates.PhaseMoves(phase.At(5));
  phase.Answer(0, 1, 300, 3);
  rates.PhasePrepares(phase.At(0));
  CHECK(rates.PhaseMoves(phase.At(1)).clients[0].bytes_per_s == 300);
}

TEST_CASE("histograms count all ops of the phase so far by octave, and the cluster's is the sum of its clients'") {
  LiveRates rates;
  LivePhase phase({"a", "b"});
  rates.PhasePrepares(phase.At(0));
  Histogram fast, slow;
  for (int i = 0; i < 3; ++i) fast.Add(1500);  // from 2^10 to 2^11 ns
  slow.Add(1 << 20);
  phase.clients[0].latency.AddFrom(fast);
  phase.clients[1].latency.AddFrom(slow);
  phase.Answer(0, 1, 300, 3);
  phase.Answer(1, 1, 100, 1);
  rates.PhaseMoves(phase.At(1));
  phase.clients[0].latency.AddFrom(fast);
  phase.Answer(0, 2, 600, 6);
  phase.Answer(1, 2, 100, 1);
  const LiveSample sample = rates.PhaseMoves(phase.At(2));
  CHECK(sample.clients[0].histogram.ops_by_octave[10] == 6);
  CHECK(sample.clients[1].histogram.ops_by_octave[20] == 1);
  CHECK(sample.cluster.histogram.ops_by_octave[10] == 6);
  CHECK(sample.cluster.histogram.ops_by_octave[20] == 1);
  CHECK(sample.clients[0].histogram.sum_us == Approx(9).epsilon(0.032));
  v1::PhaseReport report;
  report.set_duration_s(3);
  for (const char* name : {"a", "b"}) report.add_clients()->set_host(name);
  CHECK(rates.PhaseEnds(report).cluster.histogram.ops_by_octave[10] == 6);
}

}  // namespace
}  // namespace iobench
