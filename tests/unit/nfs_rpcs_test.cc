#include "coordinator/analysis/phase/nfs_rpcs.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "common/model/plan_targets.h"
#include "coordinator/analysis/phase/host_delta.h"

namespace iobench {
namespace {

v1::NfsOpDelta Requests(uint64_t ops, uint64_t transmissions, uint64_t queue_ms, uint64_t round_trip_ms) {
  v1::NfsOpDelta delta;
  delta.set_ops(ops);
  delta.set_transmissions(transmissions);
  delta.set_queue_ms(queue_ms);
  delta.set_rtt_ms(round_trip_ms);
  return delta;
}

TEST_CASE("requests that move data are added up, and their times are means per request") {
  v1::HostDelta host;
  auto& ops = *(*host.mutable_nfs())[0].mutable_ops();
  ops["READ"] = Requests(60, 60, 30, 600);
  ops["WRITE"] = Requests(30, 33, 70, 300);
  ops["COMMIT"] = Requests(10, 10, 100, 1100);
  ops["GETATTR"] = Requests(1000, 2000, 9999, 9999);  // moves no data
  const auto report = NfsRpcsOf(host, {}, 0);
  REQUIRE(report.has_value());
  CHECK(report->rpcs() == 100);
  CHECK(report->queue_ms() == Approx(2));        // 200 / 100
  CHECK(report->round_trip_ms() == Approx(20));  // 2000 / 100
  CHECK(report->retransmissions() == 3);
}

TEST_CASE("targets below one mount have one set of counters, which counts once") {
  v1::HostDelta host;
  for (const uint32_t target : {0, 1, 2}) {
    (*(*host.mutable_nfs())[target].mutable_ops())["READ"] = Requests(10, 10, 0, 50);
  }
  CHECK(NfsRpcsOf(host, {{0, {"server:/a"}}, {1, {"server:/a"}}, {2, {"server:/b"}}}, 0)->rpcs() == 20);
  CHECK(NfsRpcsOf(host, {}, 0)->rpcs() == 30);
}

TEST_CASE("a client that is not on NFS says nothing, one that asked nobody has no means") {
  CHECK_FALSE(NfsRpcsOf(v1::HostDelta(), {}, 0).has_value());
  v1::HostDelta host;
  (*host.mutable_nfs())[0].set_server_read_bytes(0);
  const auto report = NfsRpcsOf(host, {}, 0);
  REQUIRE(report.has_value());
  CHECK(report->rpcs() == 0);
  CHECK(std::isnan(report->queue_ms()));
}

TEST_CASE("the sum over clients weights means by requests") {
  v1::HostDelta busy, idle, quick;
  (*(*busy.mutable_nfs())[0].mutable_ops())["WRITE"] = Requests(300, 302, 300, 3000);
  (*(*quick.mutable_nfs())[0].mutable_ops())["WRITE"] = Requests(100, 100, 500, 200);
  (*idle.mutable_nfs())[0].set_server_read_bytes(0);
  const v1::NfsRpcReport sum =
      Sum(Sum(*NfsRpcsOf(busy, {}, 100), *NfsRpcsOf(idle, {}, 0)), *NfsRpcsOf(quick, {}, 100));
  CHECK(sum.rpcs() == 400);
  CHECK(sum.queue_ms() == Approx(2));       // 800 / 400
  CHECK(sum.round_trip_ms() == Approx(8));  // 3200 / 400
  CHECK(sum.retransmissions() == 2);
}

v1::NfsConnectionDelta& Connection(v1::NfsDelta& nfs, uint64_t sends) {
  v1::NfsConnectionDelta& connection = *nfs.add_connections();
  connection.set_sends(sends);
  return connection;
}

TEST_CASE("every kind of request is related to the ops of the lanes") {
  v1::HostDelta host;
  v1::NfsDelta& nfs = (*host.mutable_nfs())[0];
  (*nfs.mutable_ops())["READ"] = Requests(200, 200, 0, 100);
  (*nfs.mutable_ops())["GETATTR"] = Requests(50, 51, 100, 200);
  (*nfs.mutable_ops())["GETATTR"].set_execute_ms(350);
  const auto report = NfsRpcsOf(host, {}, 100);
  CHECK(report->rpcs() == 200);
  CHECK(report->all_rpcs() == 250);
  CHECK(report->rpcs_per_op() == Approx(2.5));
  const v1::NfsKindReport& getattr = report->kinds().at("GETATTR");
  CHECK(getattr.rpcs() == 50);
  CHECK(getattr.rpcs_per_op() == Approx(0.5));
  CHECK(getattr.queue_ms() == Approx(2));
  CHECK(getattr.round_trip_ms() == Approx(4));
  CHECK(getattr.execute_ms() == Approx(7));
  CHECK(getattr.retransmissions() == 1);
  CHECK_FALSE(getattr.has_errors());
  CHECK_FALSE(report->has_errors());
}

TEST_CASE("sizes of requests are compared with what the mount allows") {
  v1::HostDelta host;
  v1::NfsDelta& nfs = (*host.mutable_nfs())[0];
  (*nfs.mutable_ops())["READ"] = Requests(10, 10, 0, 0);
  (*nfs.mutable_ops())["WRITE"] = Requests(20, 20, 0, 0);
  (*nfs.mutable_ops())["COMMIT"] = Requests(5, 5, 0, 0);
  nfs.set_server_read_bytes(40960);
  nfs.set_server_write_bytes(20480);
  v1::RunRecord run;
  run.add_targets()->add_targets()->set_mount_options("rw,vers=4.2,rsize=65536,wsize=32768,hard");
  const auto report = NfsRpcsOf(host, NfsTargetsOf(run, std::vector<uint32_t>{0}), 30);
  CHECK(report->read_bytes_per_rpc() == Approx(4096));
  CHECK(report->write_bytes_per_rpc() == Approx(1024));
  CHECK(report->rsize_bytes() == 65536);
  CHECK(report->wsize_bytes() == 32768);
  CHECK(report->commits_per_write() == Approx(0.25));
}

TEST_CASE(
    "workers of one client that use different targets on one mount read the same counters, which count once") {
  v1::HostDelta host;
  for (const uint32_t target : {4u, 7u}) {
    (*(*host.mutable_nfs())[target].mutable_ops())["READ"] = Requests(10, 10, 0, 0);
  }
  v1::RunRecord run;
  for (const uint32_t target : {4u, 7u}) AddSeen(*run.add_targets(), target).set_filesystem_id("server:/a");
  const std::vector<uint32_t> workers = {0, 1};
  CHECK(NfsRpcsOf(host, NfsTargetsOf(run, workers), 10)->rpcs() == 10);
  AddSeen(*run.mutable_targets(1), 8).set_filesystem_id("server:/b");
  MutableSeenOf(*run.mutable_targets(1), 7)->set_filesystem_id("server:/b");
  CHECK(NfsRpcsOf(host, NfsTargetsOf(run, workers), 10)->rpcs() == 20);
}

TEST_CASE(
    "mounts of one device have one set of counters, whatever their sources are, and others have their own") {
  v1::HostDelta host;
  for (const uint32_t target : {0u, 1u}) {
    (*(*host.mutable_nfs())[target].mutable_ops())["READ"] = Requests(10, 10, 0, 0);
  }
  v1::RunRecord run;
  v1::WorkerTargets& seen = *run.add_targets();
  for (const uint32_t target : {0u, 1u}) {
    AddSeen(seen, target).set_filesystem_id("server:/export");
    MutableSeenOf(seen, target)->set_device(40);
  }
  const std::vector<uint32_t> workers = {0};
  MutableSeenOf(seen, 1)->set_filesystem_id("server:/export/below");
  CHECK(NfsRpcsOf(host, NfsTargetsOf(run, workers), 10)->rpcs() == 10);
  // The same export once more, with other options.
  MutableSeenOf(seen, 1)->set_filesystem_id("server:/export");
  MutableSeenOf(seen, 1)->set_device(41);
  CHECK(NfsRpcsOf(host, NfsTargetsOf(run, workers), 10)->rpcs() == 20);
}

// The result of a worker whose target has its own number, and whose last lane ended at `end_ns`.
v1::WorkerPhaseResult HasReadUntil(int64_t end_ns, uint32_t worker, uint64_t reads) {
  v1::WorkerPhaseResult result;
  result.set_worker(worker);
  result.add_lanes()->set_region_end_worker_ns(end_ns);
  (*(*result.mutable_host()->mutable_nfs())[worker].mutable_ops())["READ"] = Requests(reads, reads, 0, 0);
  return result;
}

TEST_CASE("the requests of a mount are those that the last of its workers to end has counted") {
  v1::RunRecord run;
  for (const uint32_t target : {0u, 1u}) {
    run.add_workers();
    AddSeen(*run.add_targets(), target).set_device(40);
  }
  const v1::WorkerPhaseResult first = HasReadUntil(6, 0, 16), last = HasReadUntil(10, 1, 20);
  const std::vector<const v1::WorkerPhaseResult*> results = {&first, &last};
  const std::vector<uint32_t> workers = {0, 1};
  CHECK(NfsRpcsOf(ClientDelta(run, results), NfsTargetsOf(run, workers), 10)->rpcs() == 20);
  MutableSeenOf(*run.mutable_targets(1), 1)->set_device(41);
  CHECK(NfsRpcsOf(ClientDelta(run, results), NfsTargetsOf(run, workers), 10)->rpcs() == 36);
}

TEST_CASE("connections: queues are means over all sends, and the balance is of a client's own") {
  v1::HostDelta host;
  v1::NfsDelta& nfs = (*host.mutable_nfs())[0];
  v1::NfsConnectionDelta& first = Connection(nfs, 300);
  first.set_in_flight_sum(1200);
  first.set_backlog_sum(100);
  first.set_max_slots(16);
  first.set_reconnects(1);
  v1::NfsConnectionDelta& second = Connection(nfs, 100);
  second.set_in_flight_sum(400);
  second.set_max_slots(9);
  second.set_reconnects(0);
  const auto report = NfsRpcsOf(host, {}, 0);
  CHECK(report->connections() == 2);
  CHECK(report->in_flight() == Approx(4));   // 1600 / 400
  CHECK(report->backlog() == Approx(0.25));  // 100 / 400
  CHECK(report->max_slots() == 16);
  CHECK(report->reconnects() == 1);
  CHECK(report->connection_cov() == Approx(0.5));  // 300 and 100: mean 200, deviation 100

  v1::HostDelta even;
  Connection((*even.mutable_nfs())[0], 1200);
  const v1::NfsRpcReport sum = Sum(*report, *NfsRpcsOf(even, {}, 0));
  CHECK(sum.connections() == 3);
  CHECK(sum.in_flight() == Approx(1));  // 1600 / 1600
  CHECK(sum.connection_cov() == Approx(0.5));
  CHECK_FALSE(sum.has_max_slots());  // the other client does not report it
  CHECK_FALSE(sum.has_reconnects());
}

TEST_CASE("clients that know different things are added up as far as both know it") {
  v1::HostDelta host;
  v1::NfsDelta& nfs = (*host.mutable_nfs())[0];
  (*nfs.mutable_ops())["READ"] = Requests(10, 10, 0, 0);
  (*nfs.mutable_ops())["READ"].set_errors(2);
  nfs.set_server_read_bytes(10000);
  nfs.set_delays(3);
  const v1::NfsRpcReport known = *NfsRpcsOf(host, {{0, {.mount = "a", .rsize_bytes = 4096}}}, 10);
  CHECK(known.errors() == 2);
  const v1::NfsRpcReport both = Sum(known, known);
  CHECK(both.errors() == 4);
  CHECK(both.delays() == 6);
  CHECK(both.rsize_bytes() == 4096);
  CHECK(both.app_ops() == 20);
  CHECK(both.rpcs_per_op() == Approx(1));
  CHECK(both.read_bytes_per_rpc() == Approx(1000));

  nfs.clear_delays();
  nfs.clear_server_read_bytes();
  (*nfs.mutable_ops())["READ"].clear_errors();
  const v1::NfsRpcReport sum = Sum(known, *NfsRpcsOf(host, {{0, {.mount = "a", .rsize_bytes = 8192}}}, 10));
  CHECK_FALSE(sum.has_errors());
  CHECK_FALSE(sum.has_delays());
  CHECK_FALSE(sum.has_rsize_bytes());
  CHECK(sum.read_bytes_per_rpc() == Approx(1000));  // of the client that knows it
}

}  // namespace
}  // namespace iobench
