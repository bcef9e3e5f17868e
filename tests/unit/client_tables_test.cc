#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "coordinator/analysis/summarize.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

TEST_CASE("clients' and workers' rates of the headline's window add up to the headline") {
  PhaseScript script("read", 2);
  script.Lane(0).Moves(5_GiB).EndsAt(5_s);
  script.Lane(1).Moves(10_GiB).EndsAt(10_s);
  script.Lane(2).Moves(30_GiB).EndsAt(10_s);
  script.Lane(3).Moves(10_GiB).EndsAt(10_s);
  script.Worker(1).RunsOn("node2", "boot2");
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.clients_size() == 2);
  CHECK(report.clients(0).bytes_per_s() == Approx(2 * kGiB));
  CHECK(report.clients(1).bytes_per_s() == Approx(4 * kGiB));
  CHECK(report.clients(0).share_of_mean() == Approx(2.0 / 3));
  CHECK(report.clients(1).measured_bytes() == 20_GiB);
  CHECK(report.clients(1).workers(0).bytes_per_s() == Approx(4 * kGiB));
  CHECK(report.clients(1).workers(0).lanes_size() == 2);
  CHECK(report.headline().bytes_per_s() == Approx(6 * kGiB));
}

TEST_CASE("p95 lies where its rank is, between p90 and p99") {
  PhaseScript script;
  script.Lane(0).InOps(9400).OpsTake(100e-9);
  script.Lane(1).InOps(600).OpsTake(1e-3);
  const v1::Latency latency = script.Report().latency_us();
  CHECK(latency.p90() == Approx(0.1));                    // rank 9,000
  CHECK(latency.p95() == Approx(1000).epsilon(0.008));    // rank 9,500
}

TEST_CASE("latency percentiles come from all lanes' ops together") {
  PhaseScript script;
  script.Lane(0).InOps(9900).OpsTake(100e-9);  // exact in the histogram below 128 ns
  script.Lane(1).InOps(100).OpsTake(1e-3);
  const v1::PhaseReport report = script.Report();
  const v1::Latency& latency = report.latency_us();
  CHECK(latency.count() == 10'000);
  CHECK(latency.p50() == Approx(0.1));
  CHECK(latency.p99() == Approx(0.1));  // rank 9900
  CHECK(latency.p99_9() == Approx(1000).epsilon(0.008));
  CHECK(latency.max() == Approx(1000));
  CHECK(latency.min() == Approx(0.1));
  CHECK(latency.mean() == Approx((9900 * 0.1 + 100 * 1000) / 10'000));
  CHECK(std::vector<std::string>(latency.unsure().begin(), latency.unsure().end()) ==
        std::vector<std::string>{"p99_9", "p99_99"});  // 10,000 * 0.001 < 100
  CHECK(report.clients(0).workers(1).lanes(0).p50_us() == Approx(1000).epsilon(0.008));
  CHECK(report.clients(0).latency_us().count() == 10'000);
}

TEST_CASE("reads and writes of a mixed phase have figures of their own") {
  PhaseScript script("random-mix");
  script.Lane(0).Moves(1000_MiB).EndsAt(10_s).InOps(1000).Writes(0.25);
  script.Lane(1).Moves(1000_MiB).EndsAt(10_s).InOps(1000).Writes(0.75);
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.by_kind().size() == 2);
  const v1::KindReport& reads = report.by_kind().at("read");
  CHECK(reads.bytes() == 1000_MiB);
  CHECK(reads.ops() == 1000);
  CHECK(reads.bytes_per_s() == Approx(100 * kMiB));
  CHECK(reads.ops_per_s() == Approx(100));
  CHECK(reads.latency_us().count() == 1000);
  CHECK(report.by_kind().at("write").bytes_per_s() == Approx(100 * kMiB));
}

TEST_CASE("flush calls have latencies of their own, per client too, and are in no figure of ops") {
  PhaseScript script("write", 1);
  script.Lane(0).Writes().Moves(1000_MiB).EndsAt(10_s).InOps(1000).OpsTake(1e-3).FlushCalls(v1::OP_FSYNC, 100, 30);
  script.Lane(1).Writes().Moves(1000_MiB).EndsAt(10_s).InOps(1000).OpsTake(1e-3).FlushCalls(v1::OP_FSYNC, 50, 10);
  script.Worker(1).RunsOn("node2", "boot2");
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.by_kind().size() == 2);
  const v1::KindReport& fsync = report.by_kind().at("fsync");
  CHECK(fsync.ops() == 40);
  CHECK(fsync.bytes() == 0);
  CHECK(std::isnan(fsync.ops_per_s()));
  CHECK(fsync.latency_us().count() == 40);
  CHECK(fsync.latency_us().p50() == Approx(0.1));
  CHECK(fsync.latency_us().mean() == Approx((30 * 0.1 + 10 * 0.05) / 40));
  REQUIRE(report.clients_size() == 2);
  CHECK(report.clients(0).call_latency_us().at("fsync").count() == 30);
  CHECK(report.clients(1).call_latency_us().at("fsync").max() == Approx(0.05));
  CHECK(report.latency_us().count() == 2000);
  CHECK(report.ops() == 2000);
  CHECK(report.by_kind().at("write").ops() == 2000);
}

TEST_CASE("the tool's share is its seconds of the lanes' ops time") {
  PhaseScript script = TwoLanes();
  script.Lane(0).ToolTakes(0.03_s);
  script.Lane(1).ToolTakes(0.12_s);
  for (const uint32_t worker : {0u, 1u}) script.Worker(worker).facts.set_clock_read_ns(10);
  const v1::ToolReport tool = script.Report().tool();
  CHECK(tool.share_percent() == Approx(1));  // 0.15 of 15 s
  CHECK(tool.ns_per_op() == Approx(0.15e9 / 3000));
  CHECK(tool.clock() == "tsc");
  CHECK(tool.clock_read_ns() == Approx(10));
}

TEST_CASE("large buffers and what of them is in huge pages add up, and are unknown if one worker does not know") {
  PhaseScript script = TwoLanes();
  CHECK_FALSE(script.Report().has_buffers());
  script.Worker(0).buffers.set_bytes(4_MiB);
  script.Worker(0).buffers.set_huge_page_bytes(4_MiB);
  CHECK(script.Report().buffers().huge_page_bytes() == 4_MiB);  // the other one has none
  script.Worker(1).buffers.set_bytes(2_MiB);
  CHECK(script.Report().buffers().bytes() == 6_MiB);
  CHECK_FALSE(script.Report().buffers().has_huge_page_bytes());
  script.Worker(1).buffers.set_huge_page_bytes(0);
  CHECK(script.Report().buffers().huge_page_bytes() == 4_MiB);
  // Where they are counts as soon as a client has several nodes; those of the others are on their only one.
  CHECK_FALSE(script.Report().buffers().has_local_bytes());
  script.Worker(0).buffers.set_local_bytes(3_MiB);
  CHECK(script.Report().buffers().local_bytes() == 5_MiB);
}

TEST_CASE("the workers whose calls moved all bytes of a collective phase are its aggregators") {
  PhaseScript script = TwoLanes();
  CHECK_FALSE(script.Report().has_mpi_io());
  const uint64_t bytes = script.Report().bytes();
  const auto report_with = [&](std::optional<uint64_t> first, std::optional<uint64_t> second, bool collective = true) {
    const std::optional<uint64_t> called[] = {first, second};
    for (const uint32_t worker : {0u, 1u}) {
      v1::MpiIoFacts& facts = script.Worker(worker).mpi_io.emplace();
      facts.set_collective(collective);
      facts.set_ranks(2);
      if (called[worker]) facts.set_called_bytes(*called[worker]);
    }
    return script.Report().mpi_io();
  };
  const auto workers = [](const v1::MpiIoFacts& facts) {
    return std::vector<uint32_t>(facts.aggregator_workers().begin(), facts.aggregator_workers().end());
  };
  CHECK(report_with(0, bytes).called_bytes() == bytes);
  CHECK(workers(report_with(0, bytes)) == std::vector<uint32_t>{1});
  CHECK(workers(report_with(bytes / 2, bytes / 2)) == std::vector<uint32_t>{0, 1});
  CHECK(workers(report_with(bytes / 2000, bytes)) == std::vector<uint32_t>{1});  // log lines and the like
  CHECK(workers(report_with(bytes, bytes)).empty());          // each has sent its data to the other, or read what it had to fill in
  CHECK(workers(report_with(bytes / 2, bytes / 3)).empty());  // somebody else has moved some
  CHECK(workers(report_with(0, bytes, /*collective=*/false)).empty());
  CHECK_FALSE(report_with(std::nullopt, bytes).has_called_bytes());
  CHECK(workers(report_with(std::nullopt, bytes)).empty());
}

TEST_CASE("rotated lanes that still work on their own client's files are counted") {
  PhaseScript script("read", 2);
  script.operation().set_rotate_clients(true);
  script.Worker(0).RunsOn("node1", "boot1");
  script.Worker(1).RunsOn("node1", "boot1");
  script.Worker(2).RunsOn("node2", "boot2");
  script.Lane(0).WorksOnFilesOf(4);  // worker 2, node2
  script.Lane(1).WorksOnFilesOf(5);
  script.Lane(2).WorksOnFilesOf(0);  // worker 0, the same client as worker 1
  script.Lane(3).WorksOnFilesOf(1);
  script.Lane(4).WorksOnFilesOf(2);
  script.Lane(5).WorksOnFilesOf(3);
  const v1::PhaseReport report = script.Report();
  CHECK(report.rotated());
  CHECK(report.lanes_on_own_client() == 2);
  script.operation().set_rotate_clients(false);
  CHECK_FALSE(script.Report().rotated());
  CHECK(script.Report().lanes_on_own_client() == 0);
}

TEST_CASE("steps are put together: slowest worker, all bytes, every outcome") {
  PhaseScript script = TwoLanes();
  for (const uint32_t worker : {0u, 1u}) {
    v1::StepResult step;
    step.set_name("drop-caches");
    step.set_seconds(worker == 0 ? 1 : 3);
    step.set_bytes(10);
    step.set_outcome(worker == 0 ? "posix_fadvise and drop_caches" : "posix_fadvise");
    script.Worker(worker).steps.push_back(step);
  }
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.steps_size() == 1);
  CHECK(report.steps(0).seconds() == 3);
  CHECK(report.steps(0).bytes() == 20);
  CHECK(report.steps(0).outcome() == "posix_fadvise and drop_caches (1 worker); posix_fadvise (1 worker)");
}

TEST_CASE("a client's counters are taken once, its processes' own are added") {
  PhaseScript script = TwoLanes();
  for (const uint32_t worker : {0u, 1u}) {
    v1::HostDelta& host = script.Worker(worker).host;
    host.set_seconds(10);
    host.set_cpu_user_s(6);
    host.set_cpu_system_s(2);
    host.set_cpu_idle_s(12);
    host.set_nic_rx_bytes(1000);
    host.set_disk_read_bytes(100);
    (*host.mutable_nfs())[0].set_server_read_bytes(77);
  }
  const v1::ClientPhaseReport client = script.Report().clients(0);
  CHECK(client.cpu_percent() == Approx(40));
  CHECK(client.host_delta().nic_rx_bytes() == 1000);
  CHECK(client.host_delta().disk_read_bytes() == 200);
  CHECK(client.host_delta().nfs().at(0).server_read_bytes() == 77);
  for (const uint32_t worker : {0u, 1u})
    script.Worker(worker).facts.set_pid(4711);  // two workers of one process
  CHECK(script.Report().clients(0).host_delta().disk_read_bytes() == 100);
  script.Worker(1).facts.set_pid_namespace(2);  // of a container that has the host's name
  CHECK(script.Report().clients(0).host_delta().disk_read_bytes() == 200);
  script.Worker(1).host.clear_disk_read_bytes();
  CHECK_FALSE(script.Report().clients(0).host_delta().has_disk_read_bytes());
  for (const uint32_t worker : {0u, 1u}) script.Worker(worker).host.clear_cpu_idle_s();
  CHECK(std::isnan(script.Report().clients(0).cpu_percent()));
}

TEST_CASE("a run's clients are boot ids, told apart where their hosts have one name") {
  PhaseScript script;
  script.Worker(0).RunsOn("node1", "a").HasClock(2, 1e-3);
  script.Worker(1).RunsOn("node1", "b");
  script.Worker(2).RunsOn("node1", "a").HasClock(2, 1e-3);
  script.Worker(3).RunsOn("pod7", "b");
  script.run.set_id("run7");
  script.run.mutable_problems()->Add()->set_message("disk full");
  const v1::PhaseRecord record = script.Record();
  const v1::RunReport report = SummarizeRun(script.Run(), &record);
  CHECK(report.schema() == "cluster-iobench result 1");
  CHECK(report.run().id() == "run7");
  CHECK(report.run().worker_count() == 4);
  CHECK(report.run().problems(0).message() == "disk full");
  CHECK(report.run().problems(0).worker() == -1);
  REQUIRE(report.clients_size() == 2);
  CHECK(report.clients(0).host() == "node1");
  CHECK(report.clients(0).boot_id() == "a");
  CHECK(report.clients(0).worker_count() == 2);
  CHECK(report.clients(0).clock_offset_ns() == Approx(2e9));
  CHECK(report.clients(0).clock_error_ns() == Approx(1e6).epsilon(0.01));
  CHECK_FALSE(report.clients(0).same_clock());
  CHECK(report.clients(0).targets(0).path() == "/mnt/test");
  CHECK(report.clients(0).targets(0).filesystem() == "ext4");
  CHECK(report.clients(1).host() == "node1 (2)");
  CHECK(report.clients(1).same_clock());
  CHECK(report.clients(1).clock_error_ns() == 0);
  REQUIRE(report.notes_size() == 1);
  CHECK(report.notes(0).find("pod7") != std::string::npos);
  CHECK(std::isnan(SummarizeRun(script.Run(), nullptr).clients(0).clock_offset_ns()));
}

}  // namespace
}  // namespace iobench
