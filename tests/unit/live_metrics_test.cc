#include "coordinator/live/live_metrics.h"

#include <cmath>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

TEST_CASE(
    "the cluster and its clients have families of their own, and a rate that is unknown has no sample") {
  LiveSample sample;
  sample.phase = "write";
  sample.index = 3;
  sample.phase_count = 4;
  sample.cluster = {.client = "",
                    .at_s = 0,
                    .bytes_per_s = 1500,
                    .ops_per_s = 2.5,
                    .latency = {.mean_us = 300, .p50_us = 250, .p99_us = 1000, .max_us = 2000},
                    .bytes = 7000,
                    .ops = 9,
                    .lanes_running = 4,
                    .lane_count = 4,
                    .workers_lost = 1};
  sample.clients.push_back({.client = "a",
                            .at_s = 0,
                            .bytes_per_s = NAN,
                            .ops_per_s = NAN,
                            .latency = {},
                            .bytes = 7000,
                            .ops = 9,
                            .lanes_running = 2,
                            .lane_count = 2,
                            .workers_lost = 0});
  CHECK(LiveMetrics(sample) == R"(# TYPE iobench_phase_bytes_per_second gauge
# UNIT iobench_phase_bytes_per_second bytes_per_second
# HELP iobench_phase_bytes_per_second Throughput of all clients
iobench_phase_bytes_per_second{phase_index="3",phase="write"} 1500
# TYPE iobench_client_bytes_per_second gauge
# UNIT iobench_client_bytes_per_second bytes_per_second
# HELP iobench_client_bytes_per_second Throughput of one client
# TYPE iobench_phase_ops_per_second gauge
# UNIT iobench_phase_ops_per_second ops_per_second
# HELP iobench_phase_ops_per_second Ops of all clients
iobench_phase_ops_per_second{phase_index="3",phase="write"} 2.5
# TYPE iobench_client_ops_per_second gauge
# UNIT iobench_client_ops_per_second ops_per_second
# HELP iobench_client_ops_per_second Ops of one client
# TYPE iobench_phase_bytes counter
# UNIT iobench_phase_bytes bytes
# HELP iobench_phase_bytes Bytes moved in the phase
iobench_phase_bytes_total{phase_index="3",phase="write"} 7000
# TYPE iobench_client_bytes counter
# UNIT iobench_client_bytes bytes
# HELP iobench_client_bytes Bytes that one client moved in the phase
iobench_client_bytes_total{phase_index="3",phase="write",client="a"} 7000
# TYPE iobench_phase_ops counter
# HELP iobench_phase_ops Ops done in the phase
iobench_phase_ops_total{phase_index="3",phase="write"} 9
# TYPE iobench_client_ops counter
# HELP iobench_client_ops Ops that one client did in the phase
iobench_client_ops_total{phase_index="3",phase="write",client="a"} 9
# TYPE iobench_phase_lanes_running gauge
# HELP iobench_phase_lanes_running Lanes that have not ended
iobench_phase_lanes_running{phase_index="3",phase="write"} 4
# TYPE iobench_client_lanes_running gauge
# HELP iobench_client_lanes_running Lanes of one client that have not ended
iobench_client_lanes_running{phase_index="3",phase="write",client="a"} 2
# TYPE iobench_run_workers_lost gauge
# HELP iobench_run_workers_lost Workers lost in the run
iobench_run_workers_lost{phase_index="3",phase="write"} 1
# TYPE iobench_client_workers_lost gauge
# HELP iobench_client_workers_lost Workers of one client lost in the phase
iobench_client_workers_lost{phase_index="3",phase="write",client="a"} 0
# TYPE iobench_phase_latency_seconds summary
# UNIT iobench_phase_latency_seconds seconds
# HELP iobench_phase_latency_seconds Latency of the ops of all lanes
iobench_phase_latency_seconds{phase_index="3",phase="write",quantile="0.5"} 0.00025
iobench_phase_latency_seconds{phase_index="3",phase="write",quantile="0.99"} 0.001
iobench_phase_latency_seconds{phase_index="3",phase="write",quantile="1"} 0.002
# TYPE iobench_client_latency_seconds summary
# UNIT iobench_client_latency_seconds seconds
# HELP iobench_client_latency_seconds Latency of the ops of one client
# EOF
)");
}

TEST_CASE("before the first phase there are metrics without samples") {
  const std::string text = LiveMetrics({});
  CHECK(text.find('{') == std::string::npos);
  CHECK(text.substr(text.size() - 6) == "# EOF\n");
}

}  // namespace
}  // namespace iobench
