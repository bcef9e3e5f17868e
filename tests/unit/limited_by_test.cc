#include <catch2/catch.hpp>
#include <string>

#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// A lane on each of some clients, 10 s, with half of the processors and of the network in use.
PhaseScript OnClients(uint32_t count) {
  PhaseScript script;
  for (uint32_t n = 0; n < count; ++n) {
    script.Lane(n).Moves(100_MiB).EndsAt(10_s).InOps(1000).OpsTake(0.005).UsesCpu(5_s);
    script.Worker(n).RunsOn("lab" + std::to_string(n + 1), "boot" + std::to_string(n + 1));
    script.Worker(n).targets.mutable_targets(0)->set_network(true);
    script.Worker(n).process_cpu_s = 9;
    v1::HostDelta& host = script.Worker(n).host;
    host.set_seconds(10);
    host.set_cpu_user_s(5);
    host.set_cpu_system_s(5);
    host.set_cpu_idle_s(10);
    host.set_cpu_steal_s(0);
    v1::NicDelta& nic = *host.add_nics();
    nic.set_name("eth0");
    nic.set_rx_bytes(500'000'000);
    nic.set_link_bytes_per_s(100'000'000);
    nic.set_carries_targets(true);
  }
  return script;
}

void Busy(PhaseScript& script, uint32_t client) {
  script.Worker(client).process_cpu_s = 90;
  script.Worker(client).host.set_cpu_user_s(93);
  script.Worker(client).host.set_cpu_idle_s(2);  // 98 of 100 s
}
void FillNetwork(PhaseScript& script, uint32_t client) {
  script.Worker(client).host.mutable_nics(0)->set_rx_bytes(970'000'000);
}

std::string LimitOf(const PhaseScript& script) {
  return script.Report().limited_by();
}

TEST_CASE("a phase is limited by nothing known if no mark tells") {
  CHECK(LimitOf(OnClients(2)) == "");
}

TEST_CASE("a phase is limited by what its only client had too little of") {
  PhaseScript script = OnClients(1);
  SECTION("processors") {
    Busy(script, 0);
    CHECK(LimitOf(script) == "client CPU: lab1 98 %");
    script.Worker(0).process_cpu_s = 40;
    CHECK(LimitOf(script) == "client CPU, used mostly by others: lab1 98 %");
  }
  SECTION("one processor") {
    script.Lane(0).UsesCpu(9.7_s);
    CHECK(LimitOf(script) == "one processor per lane: lab1 97 %");
  }
  SECTION("processors that others got") {
    script.Worker(0).host.set_cpu_steal_s(5);
    CHECK(LimitOf(script) == "CPU time stolen by the hypervisor: lab1 20 %");
  }
  SECTION("network") {
    FillNetwork(script, 0);
    CHECK(LimitOf(script) == "network of lab1: 97 % of eth0");
  }
}

TEST_CASE("what holds for less than half of the clients does not limit the phase") {
  PhaseScript script = OnClients(3);
  Busy(script, 1);
  CHECK(LimitOf(script) == "");
  FillNetwork(script, 0);
  FillNetwork(script, 2);
  CHECK(LimitOf(script) == "network of lab1: 97 % of eth0 (2 of 3 clients)");
}

TEST_CASE("a pace that was kept is the limit, one that was missed is not") {
  PhaseScript script = OnClients(1);
  Busy(script, 0);
  script.operation().mutable_between()->set_ops_per_s(100);  // 1000 ops in 10 s
  CHECK(LimitOf(script) == "the requested pace");
  script.operation().mutable_between()->set_ops_per_s(300);
  CHECK(LimitOf(script) == "client CPU: lab1 98 %");
  SECTION("or of which some lanes had none") {
    script.operation().mutable_between()->set_ops_per_s(100);
    v1::Assignment& other = *script.plan().add_assignments();
    other = script.plan().assignments(0);
    other.mutable_operation()->clear_between();
    CHECK(LimitOf(script) == "client CPU: lab1 98 %");
  }
}

TEST_CASE("a single op in flight limits the phase, several may not") {
  PhaseScript script = OnClients(1);
  script.Lane(0).OpsTake(0.0095);  // 1000 ops in 10 s
  CHECK(LimitOf(script) == "too few lanes: 1 op in flight, each taking 9.5 ms");
  REQUIRE(script.Report().limits_size() == 1);
  CHECK(script.Report().limits(0).name() == "lanes");
  SECTION("with a queue") {
    script.operation().set_depth(4);
    CHECK(LimitOf(script) == "");
  }
  SECTION("with a second client") {
    PhaseScript two = OnClients(2);
    two.Lane(0).OpsTake(0.0095);
    two.Lane(1).OpsTake(0.0095);
    CHECK(LimitOf(two) == "");
  }
}

TEST_CASE("the processor time and the time of the lanes are sums over those that count") {
  PhaseScript script("stride-read");
  script.operation().set_stride_records(17);
  script.Lane(0).StartsAt(1_s).EndsAt(5_s).Closes(1_s).UsesCpu(2_s);
  script.Lane(1).StartsAt(0_s).EndsAt(4_s).UsesCpu(1_s);
  script.Lane(2).UsesCpu(50_s).FailsWith(5);
  script.Lane(3).NeverStarts();
  const v1::PhaseReport report = script.Report();
  CHECK(report.lanes_cpu_system_s() == Approx(3));
  CHECK(report.lanes_cpu_user_s() == 0);
  CHECK(report.lanes_wall_s() == Approx(9));
  CHECK(report.stride_records() == 17);
  script.operation().set_name("read");
  CHECK(script.Report().stride_records() == 0);
}

}  // namespace
}  // namespace iobench
