#include "coordinator/live/live_metrics.h"

#include <cmath>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

v1::RunInfo Run() {
  v1::RunInfo run;
  run.set_id("R1");
  run.set_label("nightly \"1\"");
  run.set_command("cluster-iobench d");
  return run;
}

TEST_CASE(
    "the cluster and its clients have families of their own, and a rate that is unknown has no sample") {
  LiveSample sample;
  sample.phase = "write";
  sample.index = 3;
  sample.phase_count = 4;
  sample.elapsed_s = 2.5;
  sample.cluster = {.client = "",
                    .at_s = 0,
                    .bytes_per_s = 1500,
                    .ops_per_s = 2.5,
                    .latency = {},
                    .histogram = {},
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
                            .histogram = {},
                            .bytes = 7000,
                            .ops = 9,
                            .lanes_running = 2,
                            .lane_count = 2,
                            .workers_lost = 0});
  const std::string text = LiveMetrics(Run(), sample);
  CHECK(text.substr(0, text.find("# TYPE iobench_phase_op_duration_seconds")) == R"(# TYPE iobench_run info
# HELP iobench_run The run that the metrics belong to
iobench_run_info{run="R1",label="nightly \"1\"",started_at="",version="",transport="",coordinator="",command="cluster-iobench d"} 1
# TYPE iobench_run_phases gauge
# HELP iobench_run_phases Phases of the run
iobench_run_phases{run="R1",label="nightly \"1\""} 4
# TYPE iobench_phase_elapsed_seconds gauge
# UNIT iobench_phase_elapsed_seconds seconds
# HELP iobench_phase_elapsed_seconds Time since the phase began
iobench_phase_elapsed_seconds{run="R1",label="nightly \"1\"",phase_index="3",phase="write"} 2.5
# TYPE iobench_phase_bytes_per_second gauge
# UNIT iobench_phase_bytes_per_second bytes_per_second
# HELP iobench_phase_bytes_per_second Throughput of all clients
iobench_phase_bytes_per_second{run="R1",label="nightly \"1\"",phase_index="3",phase="write"} 1500
# TYPE iobench_client_bytes_per_second gauge
# UNIT iobench_client_bytes_per_second bytes_per_second
# HELP iobench_client_bytes_per_second Throughput of one client
# TYPE iobench_phase_ops_per_second gauge
# UNIT iobench_phase_ops_per_second ops_per_second
# HELP iobench_phase_ops_per_second Ops of all clients
iobench_phase_ops_per_second{run="R1",label="nightly \"1\"",phase_index="3",phase="write"} 2.5
# TYPE iobench_client_ops_per_second gauge
# UNIT iobench_client_ops_per_second ops_per_second
# HELP iobench_client_ops_per_second Ops of one client
# TYPE iobench_phase_bytes counter
# UNIT iobench_phase_bytes bytes
# HELP iobench_phase_bytes Bytes moved in the phase
iobench_phase_bytes_total{run="R1",label="nightly \"1\"",phase_index="3",phase="write"} 7000
# TYPE iobench_client_bytes counter
# UNIT iobench_client_bytes bytes
# HELP iobench_client_bytes Bytes that one client moved in the phase
iobench_client_bytes_total{run="R1",label="nightly \"1\"",phase_index="3",phase="write",client="a"} 7000
# TYPE iobench_phase_ops counter
# HELP iobench_phase_ops Ops done in the phase
iobench_phase_ops_total{run="R1",label="nightly \"1\"",phase_index="3",phase="write"} 9
# TYPE iobench_client_ops counter
# HELP iobench_client_ops Ops that one client did in the phase
iobench_client_ops_total{run="R1",label="nightly \"1\"",phase_index="3",phase="write",client="a"} 9
# TYPE iobench_phase_lanes_running gauge
# HELP iobench_phase_lanes_running Lanes that have not ended
iobench_phase_lanes_running{run="R1",label="nightly \"1\"",phase_index="3",phase="write"} 4
# TYPE iobench_client_lanes_running gauge
# HELP iobench_client_lanes_running Lanes of one client that have not ended
iobench_client_lanes_running{run="R1",label="nightly \"1\"",phase_index="3",phase="write",client="a"} 2
# TYPE iobench_run_workers_lost gauge
# HELP iobench_run_workers_lost Workers lost in the run
iobench_run_workers_lost{run="R1",label="nightly \"1\"",phase_index="3",phase="write"} 1
# TYPE iobench_client_workers_lost gauge
# HELP iobench_client_workers_lost Workers of one client lost in the phase
iobench_client_workers_lost{run="R1",label="nightly \"1\"",phase_index="3",phase="write",client="a"} 0
)");
}

TEST_CASE("latencies are histograms whose buckets hold all ops up to their bound") {
  LiveSample sample;
  sample.phase = "write";
  sample.phase_count = 1;
  LiveHistogram& histogram = sample.cluster.histogram;
  histogram.ops_by_octave[5] = 1;   // 32 ns
  histogram.ops_by_octave[10] = 2;  // 1.024 us or more, and less than 2.048 us
  histogram.ops_by_octave[33] = 4;  // the octave below the last bound
  histogram.ops_by_octave[34] = 8;  // above it
  histogram.sum_us = 3e6;
  sample.clients.push_back({.client = "a", .histogram = histogram});
  const std::string text = LiveMetrics({}, sample);
  const auto value = [&text](const std::string& of) {
    const size_t at = text.find(of + " ");
    INFO(of << "\n" << text);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + of.size()));
  };
  const std::string labels = R"({phase_index="0",phase="write")";
  const std::string bucket = "iobench_phase_op_duration_seconds_bucket" + labels + ",le=\"";
  CHECK(value(bucket + "0.000001024\"}") == 1);
  CHECK(value(bucket + "0.000002048\"}") == 3);
  CHECK(value(bucket + "8.589934592\"}") == 3);
  CHECK(value(bucket + "17.179869184\"}") == 7);
  CHECK(value(bucket + "+Inf\"}") == 15);
  CHECK(value("iobench_phase_op_duration_seconds_count" + labels + "}") == 15);
  CHECK(value("iobench_phase_op_duration_seconds_sum" + labels + "}") == 3);
  const std::string of_client = "iobench_client_op_duration_seconds_bucket" + labels + ",client=\"a\",le=\"";
  CHECK(value(of_client + "0.000004096\"}") == 3);
  CHECK(value(of_client + "+Inf\"}") == 15);
  CHECK(text.find(of_client + "0.000002048") == std::string::npos);
}

TEST_CASE("before the first phase there are metrics without samples, but of the run") {
  const std::string text = LiveMetrics({}, {});
  CHECK(text.find('{') == std::string::npos);
  CHECK(text.substr(text.size() - 6) == "# EOF\n");
  CHECK(LiveMetrics(Run(), {}).find("\niobench_run_info{run=\"R1\"") != std::string::npos);
}

}  // namespace
}  // namespace iobench
