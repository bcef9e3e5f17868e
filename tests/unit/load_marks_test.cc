#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "coordinator/analysis/marks/marks.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// Two clients with a lane each, 10 s on NFS: half busy with our own work, a gigabit link to the server and one
// elsewhere.
PhaseScript Healthy() {
  PhaseScript script;
  for (const uint32_t n : {0u, 1u}) {
    script.Lane(n).Moves(100_MiB).EndsAt(10_s).InOps(1000).UsesCpu(5_s);
    v1::TargetFacts& target = *script.Worker(n).targets.mutable_targets(0);
    target.set_filesystem("nfs4");
    target.set_network(true);
    target.set_filesystem_id("server:/export");
    script.Worker(n).process_cpu_s = 9;
    v1::HostDelta& host = script.Worker(n).host;
    host.set_seconds(10);
    host.set_cpu_user_s(5);
    host.set_cpu_system_s(5);
    host.set_cpu_idle_s(10);
    host.set_cpu_steal_s(0);
    for (const char* name : {"eth0", "eth1"}) {
      v1::NicDelta& nic = *host.add_nics();
      nic.set_name(name);
      nic.set_rx_bytes(100'000'000);
      nic.set_link_bytes_per_s(125'000'000);
    }
    host.mutable_nics(0)->set_carries_targets(true);
  }
  script.Worker(1).RunsOn("node2", "boot2");
  return script;
}

using Only = std::set<std::string>;

std::set<std::string> Codes(const PhaseScript& script) {
  std::set<std::string> codes;
  const v1::PhaseReport report = script.Report();
  for (const v1::Mark& mark : report.marks()) codes.insert(mark.code());
  return codes;
}

v1::Mark Mark(const PhaseScript& script, const std::string& code) {
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.marks_size() == 1);
  REQUIRE(report.marks(0).code() == code);
  return report.marks(0);
}

bool Says(const v1::Mark& mark, const std::string& text) {
  return mark.text().find(text) != std::string::npos;
}

TEST_CASE("cpu_bound: busy or stolen processors") {
  PhaseScript script = Healthy();
  CHECK(Codes(script).empty());
  v1::HostDelta& host = script.Worker(1).host;
  script.Worker(1).process_cpu_s = 90;
  host.set_cpu_user_s(90);
  host.set_cpu_idle_s(5);  // 95 %
  CHECK(Codes(script).empty());
  host.set_cpu_idle_s(4);
  CHECK(Mark(script, "cpu_bound").subject() == "node2");
  CHECK(Mark(script, "cpu_bound").value() == Approx(100 * 95 / 99.0));
  CHECK(Mark(script, "cpu_bound").threshold() == 95);
  CHECK(Says(Mark(script, "cpu_bound"), "about 90 % of that from this run, so the client may be"));
  host.set_cpu_user_s(50);
  host.set_cpu_idle_s(39);
  host.set_cpu_steal_s(6);  // 6 %
  CHECK(Mark(script, "cpu_bound").value() == Approx(6));
  CHECK(Mark(script, "cpu_bound").threshold() == 5);
  host.clear_cpu_steal_s();
  CHECK(Codes(script).empty());
}

TEST_CASE("cpu_bound: processors that others keep busy are told from our own") {
  PhaseScript script = Healthy();
  v1::HostDelta& host = script.Worker(1).host;
  host.set_cpu_user_s(95);
  host.set_cpu_idle_s(0);
  script.Worker(1).process_cpu_s = 10;
  CHECK(script.Report().clients(1).cpu_percent() == Approx(100));
  CHECK(script.Report().clients(1).own_cpu_percent() == Approx(10));
  CHECK(Says(Mark(script, "cpu_bound"), "over 95 % busy, about 10 % of that from this run, the rest"));
  // Busy waiting of lanes is our own load; the load of others is in the way of such lanes, too.
  script.Lane(1).Pauses(9_s);
  CHECK(Codes(script) == Only{"cpu_bound"});

  SECTION("workers of one process are counted once, of several processes each") {
    script.Lane(2).Moves(100_MiB).EndsAt(10_s).InOps(1000);
    script.Worker(2).targets = script.Worker(1).targets;
    script.Worker(2).host = host;
    script.Worker(2).process_cpu_s = 10;
    script.Worker(2).RunsOn("node2", "boot2");
    script.Worker(1).facts.set_pid(7);
    script.Worker(2).facts.set_pid(7);
    CHECK(script.Report().clients(1).own_cpu_percent() == Approx(10));
    script.Worker(2).facts.set_pid(8);
    CHECK(script.Report().clients(1).own_cpu_percent() == Approx(20));
  }
}

TEST_CASE(
    "cpu_bound: says nothing of a phase under 100 ms, nor of lanes that mostly wait as they were told") {
  PhaseScript script = Healthy();
  script.Worker(1).host.set_cpu_idle_s(0);
  for (const uint32_t n : {0u, 1u}) script.Lane(n).EndsAt(0.099_s).UsesCpu(0.05_s);
  CHECK(Codes(script) == Only{"too_short"});
  for (const uint32_t n : {0u, 1u}) script.Lane(n).EndsAt(0.101_s);
  CHECK(Codes(script) == Only{"too_short", "cpu_bound"});
  for (const uint32_t n : {0u, 1u}) script.Lane(n).EndsAt(10_s);
  script.Lane(1).Pauses(4.9_s);
  CHECK(Codes(script) == Only{"cpu_bound"});
  script.Lane(1).Pauses(5.1_s);
  CHECK(Codes(script).empty());
}

TEST_CASE("cpu_bound: a lane that keeps one processor busy, though the host is idle") {
  PhaseScript script = Healthy();
  script.Worker(0).host.set_cpu_idle_s(1000);
  script.Lane(0).UsesCpu(9.4_s);
  CHECK(Codes(script).empty());
  script.Lane(0).UsesCpu(9.7_s);
  CHECK(Mark(script, "cpu_bound").subject() == "node1");
  CHECK(Mark(script, "cpu_bound").value() == Approx(97));
  CHECK(Says(Mark(script, "cpu_bound"), "1 of 1 lane kept one processor over 95 % busy"));
  SECTION("its fsync and close are time in which it does not compute") {
    script.Lane(0).Fsyncs(0.2_s);
    CHECK(Codes(script) == Only{"cpu_bound"});
    script.Lane(0).Fsyncs(0.4_s);
    CHECK(Codes(script).empty());
  }
  SECTION("think time is busy, and asked for") {
    script.Lane(0).Pauses(6_s);
    CHECK(Codes(script).empty());
  }
  SECTION("a busy host says it already") {
    script.Worker(0).host.set_cpu_idle_s(0);
    CHECK(script.Report().marks_size() == 1);
  }
  SECTION("the null engine has no storage to be compared with") {
    script.operation().set_engine("null");
    CHECK(Codes(script).empty());
  }
}

TEST_CASE("network_bound: a direction of the link that leads to the server is full") {
  PhaseScript script = Healthy();
  v1::HostDelta& host = script.Worker(0).host;
  host.mutable_nics(0)->set_tx_bytes(1'180'000'000);  // of 1,250,000,000 in 10 s: 94.4 %
  CHECK(Codes(script).empty());
  host.mutable_nics(0)->set_tx_bytes(1'190'000'000);
  CHECK(Mark(script, "network_bound").value() == Approx(95.2));
  CHECK(Says(Mark(script, "network_bound"), "link eth0 is saturated"));
  SECTION("however idle the other links are, and whatever they could carry") {
    host.mutable_nics(1)->set_link_bytes_per_s(12'500'000'000);
    CHECK(Codes(script) == Only{"network_bound"});
  }
  SECTION("another link's traffic is not the targets'") {
    host.mutable_nics(0)->set_tx_bytes(0);
    host.mutable_nics(1)->set_tx_bytes(1'250'000'000);
    CHECK(Codes(script).empty());
    host.mutable_nics(0)->set_carries_targets(false);  // unknown: it may be any of them
    CHECK(Codes(script) == Only{"network_bound"});
    for (const uint32_t n : {0u, 1u}) script.Worker(n).targets.mutable_targets(0)->set_network(false);
    CHECK(Codes(script).empty());
  }
  SECTION("no speed, no mark") {
    host.mutable_nics(0)->clear_link_bytes_per_s();
    CHECK(Codes(script).empty());
  }
}

TEST_CASE("a client's counters are those of the worker whose lanes ended last") {
  PhaseScript script = Healthy();
  script.Lane(2).Moves(100_MiB).EndsAt(12_s).InOps(1000);
  script.Worker(2).targets = script.Worker(1).targets;
  script.Worker(2).RunsOn("node2", "boot2");
  script.Worker(2).host = script.Worker(1).host;
  script.Worker(2).host.set_seconds(12);
  script.Worker(1).host.set_seconds(14);  // it began to count earlier
  script.Worker(2).host.set_cpu_idle_s(30);
  CHECK(script.Report().clients(1).host_delta().seconds() == 12);
  CHECK(script.Report().clients(1).cpu_percent() == Approx(25));
}

}  // namespace
}  // namespace iobench
