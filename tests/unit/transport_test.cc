// What a client's transport says, and the mark that follows from it.
#include <catch2/catch.hpp>
#include <cmath>

#include "common/text/mark_codes.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/host_delta.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

v1::HostDelta WithConnections(std::initializer_list<std::pair<uint64_t, uint64_t>> connections) {
  v1::HostDelta host;
  host.set_tcp_sent_segments(50'000);
  host.set_tcp_retransmitted_segments(2'000);
  v1::NicDelta& nic = *host.add_nics();
  nic.set_name("eth0");
  nic.set_carries_targets(true);
  nic.set_drops(3);
  nic.set_errors(4);
  uint32_t mtu = 9000;
  for (const auto& [sent, again] : connections) {
    v1::TcpConnectionDelta& connection = *host.add_server_connections();
    connection.set_sent_segments(sent);
    connection.set_retransmitted_segments(again);
    connection.set_path_mtu(mtu);
    connection.set_round_trip_ms(mtu / 9000.0);
    mtu /= 6;
  }
  return host;
}

TEST_CASE("transport: the connections to the servers count, not those of others") {
  const auto transport = TransportOf(WithConnections({{900, 2}, {100, 1}}));
  REQUIRE(transport.has_value());
  CHECK(transport->of_servers());
  CHECK(transport->sent_segments() == 1000);
  CHECK(transport->retransmitted_segments() == 3);
  CHECK(transport->retransmitted_share() == 0.003);
  CHECK(transport->interface_errors() == 4);
  CHECK(transport->interface_drops() == 3);
  CHECK(transport->smallest_path_mtu() == 1500);
  CHECK(transport->round_trip_ms() == Approx(7.0 / 12));
}

TEST_CASE(
    "transport: without known connections it is that of the host, with those sent again among the sent") {
  const auto transport = TransportOf(WithConnections({}));
  REQUIRE(transport.has_value());
  CHECK_FALSE(transport->of_servers());
  CHECK(transport->sent_segments() == 52'000);
  CHECK(transport->retransmitted_segments() == 2'000);
  CHECK_FALSE(transport->has_smallest_path_mtu());
}

TEST_CASE("transport: targets without a server have none, and neither has a kernel without counters") {
  v1::HostDelta local = WithConnections({});
  local.mutable_nics(0)->set_carries_targets(false);
  CHECK_FALSE(TransportOf(local).has_value());
  v1::HostDelta silent = WithConnections({});
  silent.clear_tcp_sent_segments();
  CHECK_FALSE(TransportOf(silent).has_value());
  CHECK(std::isnan(TransportOf(WithConnections({{0, 0}}))->retransmitted_share()));
}

TEST_CASE("retransmissions: 0.1 % of at least 1,000 segments, and at least 5") {
  for (const auto& [sent, again, is_marked] : {std::tuple{uint64_t{10'000}, uint64_t{10}, true},
                                               {10'000, 9, false},
                                               {999, 500, false},
                                               {1'000, 5, true},
                                               {1'000, 4, false}}) {
    PhaseScript script;
    for (const uint32_t n : {0U, 1U}) {
      script.Lane(n).Moves(100_MiB).EndsAt(10_s).InOps(1000);
      script.Worker(n).host = WithConnections({{100'000, 0}});
    }
    script.Worker(1).host = WithConnections({{sent, again}});
    script.Worker(1).RunsOn("node2", "boot2");
    const v1::PhaseReport report = script.Report();
    INFO(sent << ", " << again);
    CHECK(HasMark(report, mark_code::kRetransmissions) == is_marked);
    CHECK(report.clients(1).transport().retransmitted_segments() == again);
    for (const v1::Mark& mark : report.marks()) {
      if (mark.code() != mark_code::kRetransmissions) continue;
      CHECK(mark.subject() == "node2");
      CHECK(mark.value() == Approx(100.0 * static_cast<double>(again) / static_cast<double>(sent)));
      CHECK(mark.threshold() == Approx(0.1));
    }
  }
}

}  // namespace
}  // namespace iobench
