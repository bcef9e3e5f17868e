#include "coordinator/analysis/phase/nfs_rpcs.h"

#include <catch2/catch.hpp>
#include <cmath>

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
  ops["GETATTR"] = Requests(1000, 2000, 9999, 9999);  // moves none
  const auto report = NfsRpcsOf(host, {});
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
  CHECK(NfsRpcsOf(host, {{0, "server:/a"}, {1, "server:/a"}, {2, "server:/b"}})->rpcs() == 20);
  CHECK(NfsRpcsOf(host, {})->rpcs() == 30);
}

TEST_CASE("a client that is not on NFS says nothing, one that asked nobody has no means") {
  CHECK_FALSE(NfsRpcsOf(v1::HostDelta(), {}).has_value());
  v1::HostDelta host;
  (*host.mutable_nfs())[0].set_server_read_bytes(0);
  const auto report = NfsRpcsOf(host, {});
  REQUIRE(report.has_value());
  CHECK(report->rpcs() == 0);
  CHECK(std::isnan(report->queue_ms()));
}

TEST_CASE("the sum over clients weights means by requests") {
  v1::HostDelta busy, idle, quick;
  (*(*busy.mutable_nfs())[0].mutable_ops())["WRITE"] = Requests(300, 302, 300, 3000);
  (*(*quick.mutable_nfs())[0].mutable_ops())["WRITE"] = Requests(100, 100, 500, 200);
  (*idle.mutable_nfs())[0].set_server_read_bytes(0);
  const v1::NfsRpcReport sum = Sum(Sum(*NfsRpcsOf(busy, {}), *NfsRpcsOf(idle, {})), *NfsRpcsOf(quick, {}));
  CHECK(sum.rpcs() == 400);
  CHECK(sum.queue_ms() == Approx(2));       // 800 / 400
  CHECK(sum.round_trip_ms() == Approx(8));  // 3200 / 400
  CHECK(sum.retransmissions() == 2);
}

}  // namespace
}  // namespace iobench
