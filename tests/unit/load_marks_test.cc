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
  // MPI waits on its processors.
  script.operation().mutable_mpi_io()->set_collective(true);
  CHECK(Codes(script).empty());
  script.operation().clear_mpi_io();
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

TEST_CASE("cpu_bound: others on the host are not blamed if the lanes got a processor when they needed one") {
  PhaseScript script = Healthy();
  script.Worker(1).host.set_cpu_user_s(95);
  script.Worker(1).host.set_cpu_idle_s(0);
  script.Lane(1).UsesCpu(1_s).WaitsForProcessor(0.9_s);
  CHECK(Codes(script).empty());
  script.Lane(1).WaitsForProcessor(1.1_s);
  CHECK(Says(Mark(script, "cpu_bound"), "the rest from other processes"));
}

TEST_CASE("cpu_bound: lanes that share too few processors, though the host is idle") {
  PhaseScript script = Healthy();
  script.Worker(0).host.set_cpu_idle_s(1000);
  script.Lane(0).UsesCpu(3_s).WaitsForProcessor(6.4_s);
  CHECK(Codes(script).empty());
  script.Lane(0).WaitsForProcessor(6.6_s);
  CHECK(Mark(script, "cpu_bound").value() == Approx(96));
  CHECK(Says(Mark(script, "cpu_bound"), "1 of 1 lane ran or waited for a processor over 95 % of the time"));
}

TEST_CASE("cpu_quota: a control group stopped the run for more than 1 % of the phase") {
  PhaseScript script = Healthy();
  v1::CgroupDelta& cgroup = *script.Worker(0).host.mutable_cgroup();
  cgroup.set_seconds(10);
  CHECK(Codes(script).empty());
  cgroup.set_cpu_processors(0.1);
  cgroup.set_throttled_s(0.1);
  CHECK(Codes(script).empty());
  cgroup.set_throttled_s(8.7);
  CHECK(Mark(script, "cpu_quota").subject() == "node1");
  CHECK(Mark(script, "cpu_quota").value() == Approx(87));
  CHECK(Says(Mark(script, "cpu_quota"), "(the time of 0.1 processors) stopped this run for 87 % of the phase"));
  SECTION("then neither the host nor others are to blame") {
    script.Worker(0).host.set_cpu_idle_s(0);
    script.Worker(0).host.set_cpu_user_s(95);
    script.Worker(0).process_cpu_s = 1;
    script.Lane(0).UsesCpu(1_s).WaitsForProcessor(8.7_s);
    CHECK(Codes(script) == Only{"cpu_quota"});
  }
  SECTION("unless the lanes hardly waited") {
    script.Worker(0).host.set_cpu_idle_s(1000);
    script.Lane(0).UsesCpu(9.7_s).WaitsForProcessor(0.2_s);
    CHECK(Codes(script) == Only{"cpu_bound", "cpu_quota"});
  }
  SECTION("several processors may be stopped at the same time") {
    cgroup.set_throttled_s(25);
    CHECK(Mark(script, "cpu_quota").value() == Approx(100));
  }
}

TEST_CASE("io_limited: a limit of a control group was reached") {
  PhaseScript script = Healthy();
  v1::CgroupDelta& cgroup = *script.Worker(1).host.mutable_cgroup();
  cgroup.set_seconds(10);
  for (const bool writes : {false, true}) {
    v1::IoLimitDelta& limit = *cgroup.add_io_limits();
    limit.set_device("sda");
    limit.set_writes(writes);
    limit.set_limit_per_s(10 * 1048576);
    limit.set_amount(89 * 1048576);
  }
  CHECK(Codes(script).empty());
  cgroup.mutable_io_limits(1)->set_amount(91 * 1048576);
  CHECK(Mark(script, "io_limited").subject() == "node2");
  CHECK(Mark(script, "io_limited").value() == Approx(91));
  CHECK(Says(Mark(script, "io_limited"), "its control group allows 10 MiB/s of writes to sda"));
  SECTION("others on the host are not to blame then") {
    script.Worker(1).host.set_cpu_user_s(95);
    script.Worker(1).host.set_cpu_idle_s(0);
    CHECK(Codes(script) == Only{"io_limited"});
  }
  SECTION("of workers in different groups, the most limited one counts") {
    script.Lane(2).Moves(100_MiB).EndsAt(10_s).InOps(1000);
    script.Worker(2).targets = script.Worker(1).targets;
    script.Worker(2).host = script.Worker(1).host;
    script.Worker(2).host.mutable_cgroup()->mutable_io_limits(1)->set_amount(1);
    script.Worker(2).RunsOn("node2", "boot2");
    CHECK(Mark(script, "io_limited").value() == Approx(91));
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
