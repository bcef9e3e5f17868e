#include "tests/web/sample_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/histogram.h"
#include "coordinator/analysis/across/surfaces.h"
#include "coordinator/analysis/across/until_steady.h"
#include "coordinator/analysis/client_differences.h"

namespace iobench {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr double kSlowShare = 0.55;
constexpr int kSlowClient = 6, kStalledClient = 2;

struct Shape {
  std::string name, operation, title;
  double bytes_per_s = 1e9;  // of the whole cluster
  uint64_t record_bytes = kMiB;
  uint64_t bytes_per_lane = 1024 * kMiB;
  int clients = 12, lanes = 8, slices = 120;
  double duration_s = 60, p50_us = 900;
  bool metadata = false;
  int slow_every = 0;  // so that one of this many clients is slow, as kSlowClient is; 0: only that one
};

bool IsSlow(const Shape& shape, int client) {
  return client == kSlowClient || (shape.slow_every > 0 && client % shape.slow_every == kSlowClient);
}

class Noise {
 public:
  double Around(double mean, double share) {
    return mean * std::max(0.0, 1 + share * std::normal_distribution<double>()(engine_));
  }

 private:
  std::mt19937 engine_{42};  // NOLINT: the same report each time
};

std::string HostName(int client) {
  if (client == 3) return "<script>alert(1)</script>";
  if (client == 4) return "node,\"five\" </script><b>&amp;";
  if (client == 5) return "n\xc3\xb6rd-6";
  return absl::StrCat("node", client < 9 ? "0" : "", client + 1);
}

void FillLatency(double p50_us, uint64_t count, v1::Latency& latency) {
  latency.set_min(p50_us * 0.3);
  latency.set_mean(p50_us * 1.2);
  latency.set_stddev(p50_us * 0.8);
  latency.set_p50(p50_us);
  latency.set_p90(p50_us * 1.9);
  latency.set_p95(p50_us * 2.2);
  latency.set_p99(p50_us * 4.1);
  latency.set_p99_9(p50_us * 11);
  latency.set_p99_99(p50_us * 40);
  latency.set_max(p50_us * 95);
  latency.set_count(count);
}

void FillLatencyCharts(const Shape& shape, Noise& noise, v1::PhaseCharts& charts) {
  v1::LatencyMap& map = *charts.mutable_latency();
  const int bins = 24, slices = std::min(shape.slices, 120);
  map.set_slice_s(shape.duration_s / slices);
  map.set_slice_count(slices);
  map.set_lowest_us(shape.p50_us / 8);
  std::vector<double> sums(bins);
  for (int bin = 0; bin < bins; ++bin) map.add_bin_upper_us(shape.p50_us / 8 * std::exp2((bin + 1) / 2.0));
  for (int slice = 0; slice < slices; ++slice) {
    const double middle = slice > slices / 3 && slice < slices / 3 + 6 ? 13 : 6;
    for (int bin = 0; bin < bins; ++bin) {
      const double bell = std::exp(-std::pow((bin - middle) / 2.2, 2));
      const double ops = std::floor(noise.Around(2000 * bell, 0.1) + (bin == 17 && slice % 11 == 0 ? 3 : 0));
      map.add_ops(static_cast<uint64_t>(ops));
      sums[bin] += ops;
    }
  }
  if (shape.operation == "write") {
    v1::KindLatencies& fsync = *charts.add_calls();
    fsync.set_name("fsync");
    *fsync.mutable_latency() = map;
    for (double& upper_us : *fsync.mutable_latency()->mutable_bin_upper_us()) upper_us *= 64;
    fsync.mutable_latency()->set_lowest_us(64 * map.lowest_us());
    for (uint64_t& calls : *fsync.mutable_latency()->mutable_ops()) calls /= 16;
  }
  double lower = map.lowest_us();
  for (int bin = 0; bin < bins; ++bin) {
    if (sums[bin] > 0) {
      v1::LatencyBin& entry = *charts.add_distribution();
      entry.set_lower_us(lower);
      entry.set_upper_us(map.bin_upper_us(bin));
      entry.set_ops(static_cast<uint64_t>(sums[bin]));
    }
    lower = map.bin_upper_us(bin);
  }
  const double percents[] = {1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999};
  const double factors[] = {0.4, 0.6, 0.8, 1, 1.4, 1.9, 2.6, 4.1, 11, 40, 95};
  for (size_t i = 0; i < std::size(percents); ++i) {
    v1::PercentilePoint& point = *charts.add_percentiles();
    point.set_percent(percents[i]);
    point.set_us(shape.p50_us * factors[i]);
    point.set_unsure(percents[i] > 99.99);
  }
  for (v1::KindLatencies& call : *charts.mutable_calls()) {
    const auto latencies = std::make_unique<Histogram>();
    for (const uint64_t ms : {1, 2, 3, 4}) latencies->Add(ms << 20);  // lower edges of buckets
    *call.mutable_histogram() = latencies->ToProto();
  }
}

// A slow client, and one that stands still for a while.
double ShareAt(const Shape& shape, int client, int slice) {
  const int slices = shape.slices;
  if (IsSlow(shape, client)) return kSlowShare;
  if (client == kStalledClient && slice > slices / 3 && slice < slices / 3 + slices / 12) return 0;
  return 1;
}

void FillCharts(const Shape& shape, double scale, Noise& noise, v1::PhaseCharts& charts) {
  charts.set_slice_s(shape.duration_s / shape.slices);
  std::vector<double> sums(shape.slices);
  for (int client = 0; client < shape.clients; ++client) {
    v1::ClientSeries& series = *charts.add_clients();
    for (int slice = 0; slice < shape.slices; ++slice) {
      const double rate = noise.Around(scale / shape.clients, 0.06) * ShareAt(shape, client, slice);
      series.add_per_s(static_cast<float>(rate));
      sums[slice] += rate;
    }
  }
  for (const double sum : sums) {
    charts.add_bytes_per_s(shape.metadata ? 0 : sum);
    charts.add_ops_per_s(shape.metadata ? sum : sum / static_cast<double>(shape.record_bytes));
  }
  FillLatencyCharts(shape, noise, charts);
}

void FillClient(const Shape& shape, int client, double scale, Noise& noise, v1::ClientPhaseReport& report) {
  report.set_host(HostName(client));
  const double per_op = shape.metadata ? 0 : static_cast<double>(shape.record_bytes);
  const double rate = scale / shape.clients * (IsSlow(shape, client) ? kSlowShare : 1.02);
  report.set_bytes_per_s(shape.metadata ? 0 : rate);
  report.set_ops_per_s(shape.metadata ? rate : rate / per_op);
  report.set_share_of_mean(rate / (scale / shape.clients));
  FillLatency(shape.p50_us * (IsSlow(shape, client) ? 1.8 : 1), 10'000, *report.mutable_latency_us());
  report.set_cpu_percent(noise.Around(45, 0.2));
  v1::WorkerPhaseReport& worker = *report.add_workers();
  worker.set_worker(client);
  for (int i = 0; i < shape.lanes; ++i) {
    v1::LanePhaseReport& lane = *worker.add_lanes();
    lane.set_lane(client * shape.lanes + i);
    const double own = noise.Around(rate / shape.lanes, 0.04);
    lane.set_bytes_per_s(shape.metadata ? 0 : own);
    lane.set_ops_per_s(shape.metadata ? own : own / per_op);
    lane.set_start_us(noise.Around(60 + 4 * client, 0.3));
    lane.set_end_s(noise.Around(shape.duration_s, 0.004));
    lane.set_p99_us(noise.Around(shape.p50_us * 4, 0.1));
    lane.set_stopped(true);
  }
}

void FillFigures(const Shape& shape, v1::PhaseReport& phase) {
  const double rate = shape.bytes_per_s;
  const double ops = shape.metadata ? rate : rate / static_cast<double>(shape.record_bytes);
  phase.set_name(shape.name);
  phase.set_operation(shape.operation);
  phase.set_title(shape.title);
  phase.set_engine("posix");
  phase.set_record_bytes(shape.metadata ? 0 : shape.record_bytes);
  phase.set_started_at("2026-03-01T10:15:00Z");
  phase.set_metadata(shape.metadata);
  phase.set_headline_in_ops(shape.metadata);
  phase.set_bytes_per_lane(shape.bytes_per_lane);
  phase.set_lane_count(shape.clients * shape.lanes);
  phase.set_duration_s(shape.duration_s);
  phase.set_headline_s(shape.duration_s);
  phase.set_bytes(shape.metadata ? 0 : static_cast<uint64_t>(rate * shape.duration_s));
  phase.set_ops(static_cast<uint64_t>(ops * shape.duration_s));
  phase.set_measured_bytes(phase.bytes());
  phase.set_measured_ops(phase.ops());
  v1::Headline& headline = *phase.mutable_headline();
  headline.set_name("stonewalled");
  headline.set_region(shape.operation == "write" ? "ops+fsync+close" : "ops");
  headline.set_bytes_per_s(shape.metadata ? 0 : rate);
  headline.set_ops_per_s(ops);
  for (auto* list : {phase.mutable_throughput_bytes_per_s(), phase.mutable_throughput_ops_per_s()}) {
    const double base = list == phase.mutable_throughput_ops_per_s() ? ops : headline.bytes_per_s();
    list->set_full(base * 0.93);
    list->set_stonewalled(base);
    list->set_all_active(base * 1.02);
    list->set_children(base * 1.04);
    list->set_parent(base * 0.9);
    list->set_deadline(std::nan(""));
  }
  phase.mutable_stonewall()->set_kind("retroactive");
  phase.mutable_stonewall()->set_at_s(shape.duration_s * 0.9);
  phase.mutable_stonewall()->set_first_lane("node01 worker 0 lane 3");
  phase.set_straggler_cost(0.07);
  v1::StartReport& start = *phase.mutable_start();
  start.set_skew_us(85);
  start.set_skew_low_us(60);
  start.set_skew_high_us(130);
  start.set_attempts(1);
  v1::RegionSeconds& mean = *phase.mutable_regions_s();
  mean.set_open(0.02);
  mean.set_ops(shape.duration_s * 0.9);
  mean.set_fsync(shape.operation == "write" ? shape.duration_s * 0.08 : 0);
  mean.set_close(0.05);
  *phase.mutable_regions_max_s() = mean;
  phase.mutable_regions_max_s()->set_fsync(mean.fsync() * 1.4);
  FillLatency(shape.p50_us, phase.ops(), *phase.mutable_latency_us());
  phase.mutable_lanes_bytes_per_s()->set_jain(0.981);
  phase.mutable_lanes_bytes_per_s()->set_cov(0.139);
  *phase.mutable_lanes_ops_per_s() = phase.lanes_bytes_per_s();
}

v1::PhaseReport& AddPhase(const Shape& shape, Noise& noise, v1::RunReport& report) {
  v1::PhaseReport& phase = *report.add_phases();
  phase.set_index(report.phases_size() - 1);
  FillFigures(shape, phase);
  for (int client = 0; client < shape.clients; ++client) {
    FillClient(shape, client, shape.bytes_per_s, noise, *phase.add_clients());
  }
  if (shape.slices > 0) FillCharts(shape, shape.bytes_per_s, noise, *phase.mutable_charts());
  return phase;
}

void AddLimit(const char* name, const char* evidence, const char* advice, double strength,
              v1::PhaseReport& phase) {
  v1::Limit& limit = *phase.add_limits();
  limit.set_name(name);
  limit.set_evidence(evidence);
  limit.set_advice(advice);
  limit.set_source("docs/marks.md#network_bound");
  limit.set_strength(strength);
}

void AddMark(const char* code, const char* subject, const char* text, v1::PhaseReport& phase) {
  v1::Mark& mark = *phase.add_marks();
  mark.set_code(code);
  mark.set_subject(subject);
  mark.set_text(text);
}

void AddCriterion(const char* text, const char* phase, double measured, const char* unit, bool met,
                  v1::RunReport& report, const char* problem = "") {
  v1::CriterionReport& criterion = *report.add_criteria();
  criterion.set_problem(problem);
  criterion.set_criterion(text);
  criterion.set_phase(phase);
  criterion.set_measured(measured);
  criterion.set_unit(unit);
  criterion.set_met(met);
}

void FillRun(int clients, int lanes, v1::RunReport& report) {
  report.set_schema("cluster-iobench result 1");
  v1::RunInfo& run = *report.mutable_run();
  run.set_id("20260301-101500-7f3a");
  run.set_label("Acceptance of filer-7 <b>bold</b>");
  run.set_command(
      "cluster-iobench -+m clients -a -i 0 -i 1 -n 64m -g 4g -y 16k -q 4m -e -c --path '/mnt/filer 7'");
  run.set_started_at("2026-03-01T10:15:00Z");
  run.set_program_version("0.1.0+6284b68080df");
  run.set_transport("grpc");
  run.set_worker_count(clients);
  run.set_lane_count(clients * lanes);
  run.set_finished(true);
  run.set_coordinator_host("head");
  run.mutable_plan()->add_targets()->set_path("/mnt/filer 7");
  run.mutable_plan()->set_lanes_per_worker(lanes);
  for (int i = 0; i < clients; ++i) {
    v1::ClientReport& client = *report.add_clients();
    client.set_host(HostName(i));
    client.set_worker_count(1);
    client.set_processors(i == 7 ? 16 : 32);
    client.set_memory_bytes(uint64_t{8192} * kMiB);
    client.set_l2_cache_bytes(kMiB);
    client.set_l3_cache_bytes(1024 * kMiB);
    client.set_kernel(i == kSlowClient ? "6.1.0-18-amd64" : "6.1.0-21-amd64");
    client.set_clock("tsc");
    client.set_clock_offset_ns(1000.0 * i);
    client.set_clock_error_ns(i == kStalledClient ? std::nan("") : 4000);
    v1::TargetReport& target = *client.add_targets();
    target.set_path("/mnt/filer 7");
    target.set_filesystem("nfs4");
    target.set_mount_source("filer-7:/export");
    target.set_mount_options(
        absl::StrCat("rw,relatime,vers=4.2,rsize=1048576,wsize=", i == kSlowClient ? "65536" : "1048576",
                     ",hard,proto=tcp,nconnect=4,clientaddr=10.0.0.", i + 10));
    (*target.mutable_settings())["read_ahead_kb"] = i == kSlowClient ? "128" : "15360";
    (*client.mutable_settings())["cpu_governor"] = "performance";
  }
  FillDifferences(report);
}

void FillNfs(v1::PhaseReport& phase) {
  v1::NfsRpcReport& rpc = *phase.mutable_nfs_rpc();
  rpc.set_rpcs(1200);
  rpc.set_round_trip_ms(2.5);
  rpc.set_rpcs_per_op(1.5);
  rpc.set_read_bytes_per_rpc(524288);
  rpc.set_rsize_bytes(kMiB);
  rpc.set_connections(48);
  rpc.set_in_flight(6);
  rpc.set_connection_cov(0.21);
  rpc.set_delays(3);
  for (const char* const name : {"READ", "GETATTR"}) {
    v1::NfsKindReport& kind = (*rpc.mutable_kinds())[name];
    kind.set_rpcs(name[0] == 'R' ? 1200 : 24);
    kind.set_rpcs_per_op(name[0] == 'R' ? 1 : 0.02);
    kind.set_queue_ms(0.25);
    kind.set_round_trip_ms(2.5);
    kind.set_execute_ms(3);
  }
  v1::ReadSources& sources = *phase.mutable_read_sources();
  sources.set_asked_bytes(1000 * kMiB);
  sources.set_server_bytes(880 * kMiB);
  sources.set_cache_bytes(120 * kMiB);
  sources.set_files_to_memory(0.75);
}

// Two parts of a mix; the second one moves nothing.
void FillParts(v1::PhaseReport& phase) {
  for (const char* const name : {"random-read <8 KiB>", "stat"}) {
    v1::PartReport& part = *phase.add_parts();
    const bool reads = name[0] == 'r';
    part.set_name(name);
    part.set_worker_count(reads ? 9 : 3);
    part.set_ops_per_s(reads ? 812.5 : 98);
    part.set_bytes(reads ? 1000 * kMiB : 0);
    part.set_bytes_per_s(reads ? 6.5 * kMiB : 0);
    part.mutable_open_loop()->set_asked_ops_per_s(reads ? 800 : 100);
    v1::Latency& response = *part.mutable_latency_us();
    response.set_count(1000);
    response.set_p50(250);
    response.set_p99(9000);
    response.add_unsure("p99");
  }
}

// Groups of the run that have a table and no chart.
void FillTables(v1::RunReport& report) {
  v1::LayersReport& layers = *report.add_layers();
  layers.set_phase("random read <8k>");
  layers.set_narrowest_text("the network: 97 % of its link");
  for (const auto& [layer, rate] : {std::pair{"disk", 2e9}, {"network", 1.2e9}, {"clients", 1.1e9}}) {
    v1::LayerRow& row = *layers.add_rows();
    row.set_layer(layer);
    row.set_rate(rate);
    row.set_reached(1.1e9 / rate);
    row.set_of_below(std::nan(""));
    row.set_disk_bytes_per_s(std::nan(""));
  }
  report.mutable_score()->set_value(12.34);
  report.mutable_score()->add_problems("find did not run");
}

// Twelve clients alone and together, one of which is slow.
void FillPerClient(v1::RunReport& report) {
  v1::PerClientReport& phase = *report.add_per_client();
  phase.set_phase("write");
  double sum = 0;
  for (int client = 0; client < 12; ++client) {
    v1::PerClientRow& row = *phase.add_clients();
    row.set_client(HostName(client));
    row.set_alone((client == kSlowClient ? 40 : 100) * static_cast<double>(kMiB));
    row.set_of_others(client == kSlowClient ? 0.4 : 1);
    row.set_outlier(client == kSlowClient);
    row.set_together(50 * static_cast<double>(kMiB));
    sum += row.alone();
  }
  phase.set_sum_alone(sum);
  phase.set_together(600 * static_cast<double>(kMiB));
  phase.set_scaling(phase.together() / sum);
  phase.set_fairness(1);
}

// A server whose disk is the limit.
void FillServer(v1::PhaseReport& phase) {
  const double duration_s = phase.duration_s(), bytes_per_s = phase.headline().bytes_per_s();
  v1::ServerReport& server = *phase.add_servers();
  server.set_host("filer-7 <i>&</i>");
  server.set_sampled_s(duration_s);
  server.set_cpu_busy(0.34);
  v1::ServerDisk& disk = *server.add_disks();
  disk.set_name("sda");
  disk.set_busy(0.97);
  disk.set_busy_max(1);
  disk.set_read_bytes_per_s(bytes_per_s);
  v1::ServerNic& nic = *server.add_nics();
  nic.set_name("eth0");
  nic.set_send_bytes_per_s(bytes_per_s * 1.03);
  nic.set_link_bytes_per_s(1'250'000'000);
  server.mutable_nfsd()->set_threads(8);
  server.mutable_nfsd()->set_busy_threads(7.5);
  server.mutable_nfsd()->set_rpcs_per_s(1200);
  v1::ServerSeries& series = *phase.mutable_charts()->add_servers();
  series.set_begin_s(-0.1);
  constexpr int kIntervals = 40;
  for (int i = 0; i < kIntervals; ++i) {
    series.add_end_s(duration_s * (i + 1) / kIntervals);
    series.add_cpu_busy(0.34F);
    series.add_disk_busy(0.97F);
    series.add_disk_read_bytes_per_s(static_cast<float>(bytes_per_s));
    series.add_disk_write_bytes_per_s(0);
    series.add_receive_bytes_per_s(1e6F);
    series.add_send_bytes_per_s(static_cast<float>(bytes_per_s * 1.03));
    series.add_nfsd_rpcs_per_s(1200);
    series.add_nfsd_busy_threads(6);
  }
}

void AddSweep(Noise& noise, v1::RunReport& report) {
  int cell = 0;
  for (uint64_t bytes = 64 * kMiB; bytes <= 4096 * kMiB; bytes *= 2) {
    for (uint64_t record = 16 * 1024; record <= 4 * kMiB; record *= 2) {
      for (const char* operation : {"write", "read"}) {
        if (++cell == 37) continue;  // a hole
        const bool cached = operation[0] == 'r' && bytes <= 256 * kMiB;
        const double ridge = std::exp(-std::pow(std::log2(static_cast<double>(record) / 262144) / 3, 2));
        v1::PhaseReport& phase =
            AddPhase({.name = absl::StrCat(operation, " sweep"),
                      .operation = operation,
                      .title = operation[0] == 'r' ? "read" : "initial write",
                      .bytes_per_s = noise.Around(cached ? 6e9 : 4e8 + 9e8 * ridge, 0.03),
                      .record_bytes = record,
                      .bytes_per_lane = bytes,
                      .clients = 2,
                      .lanes = 4,
                      .slices = 12,
                      .duration_s = 2},
                     noise, report);
        if (cached) AddMark("cached", "phase", "read from the client's memory: use a larger -s", phase);
        if (cell == 114) phase.clear_headline();  // a cell in which nothing was measured
      }
    }
  }
}

void AddSeries(Noise& noise, v1::RunReport& report) {
  for (uint32_t stride = 1; stride <= 64; stride *= 2) {
    AddPhase({.name = "stride-read",
              .operation = "stride-read",
              .title = "stride read",
              .bytes_per_s = 1.1e9 / (1 + stride / 24.0),
              .record_bytes = 65536,
              .slices = 12},
             noise, report)
        .set_stride_records(stride);
  }
  for (int lanes = 1; lanes <= 32; lanes *= 2) {
    AddPhase({.name = absl::StrCat("random read, ", lanes, " lanes"),
              .operation = "random-read",
              .title = "random read",
              .bytes_per_s = 5e8 * lanes / (lanes + 6.0),
              .record_bytes = 4096,
              .lanes = lanes,
              .slices = 12,
              .p50_us = 120 + lanes * lanes * 1.7},
             noise, report);
  }
  for (const char* target : {"/mnt/a", "/mnt/b"}) {
    for (const char* operation : {"write", "read"}) {
      AddPhase({.name = absl::StrCat(operation, " on ", target),
                .operation = operation,
                .title = operation,
                .bytes_per_s = noise.Around(target[5] == 'a' ? 8e8 : 6e8, 0.1),
                .record_bytes = 65536,
                .slices = 12},
               noise, report)
          .set_target(target);
    }
  }
}

}  // namespace

v1::RunReport RichReport() {
  Noise noise;
  v1::RunReport report;
  FillRun(12, 8, report);
  v1::PhaseReport& write =
      AddPhase({.name = "write", .operation = "write", .title = "initial write", .bytes_per_s = 1.18e9},
               noise, report);
  write.add_stragglers("node07 worker 6 lane 50: 6.2 MiB/s, 46 % under the median");
  write.set_limited_by("network of node01: 97 % of eth0");
  AddLimit("client-network", "network of node01: 97 % of eth0", "more clients or faster links", 0.97, write);
  AddLimit("slow-client", "one client: node07 at 45 % of the others' rate per lane", "compare its mount",
           0.33, write);
  AddMark("straggler", "node07",
          "node07 is 45 % slower than the median: compare its mount options and kernel", write);
  AddMark("stall", "node03", "no op of node03 ended for 5 s: look at the server's log at 10:15:20", write);
  AddPhase({.name = "read", .operation = "read", .title = "read", .bytes_per_s = 1.43e9}, noise, report)
      .mutable_lanes_bytes_per_s()
      ->set_cov(std::nan(""));
  v1::PhaseReport& random = AddPhase({.name = "random read",
                                      .operation = "random-read",
                                      .title = "random read",
                                      .bytes_per_s = 2.1e8,
                                      .record_bytes = 4096,
                                      .p50_us = 210},
                                     noise, report);
  AddMark("cached", "phase", "12 % of the data came from the clients' memory: use a larger -s", random);
  FillNfs(random);
  FillParts(random);
  FillServer(random);
  AddMark("partial", "node02", "2 lanes failed: totals are without them",
          AddPhase({.name = "create",
                    .operation = "create",
                    .title = "create files",
                    .bytes_per_s = 48'200,
                    .p50_us = 1500,
                    .metadata = true},
                   noise, report));
  AddSweep(noise, report);
  AddSeries(noise, report);
  v1::PhaseReport& unmeasured = *report.add_phases();
  unmeasured.set_index(report.phases_size() - 1);
  unmeasured.set_name("interrupted");
  unmeasured.set_operation("read");
  unmeasured.set_interrupted(true);
  FillTables(report);
  FillPerClient(report);
  UpdateSurfaces(report);
  v1::RepetitionReport& repeated = *report.add_repetitions();
  repeated.set_name("write");
  repeated.set_count(5);
  repeated.set_median(1.18e9);
  repeated.set_low(1.12e9);
  repeated.set_high(1.22e9);
  repeated.set_level_percent(93.75);
  repeated.set_min(1.12e9);
  repeated.set_max(1.22e9);
  repeated.set_mean(1.176e9);
  repeated.set_stddev(3.1e7);
  AddCriterion("write>=900MiB/s", "write", 1.18e9, "B/s", true, report);
  AddCriterion("read:p99<=2ms", "read", 3690, "us", false, report);
  AddCriterion("create>=5kops/s", "create", 48'200, "ops/s", true, report);
  AddCriterion("read:jain>=0.9", "read", 0.981, "", true, report);
  AddCriterion("*:marks=none", "write", 2, "marks", false, report);
  AddCriterion("read:p99.9<=9ms", "read", 4100, "us", false, report, "it is marked cached");
  return report;
}

v1::RunReport EmptyReport() {
  v1::RunReport report;
  FillRun(1, 1, report);
  report.mutable_run()->set_finished(false);
  report.mutable_run()->add_problems()->set_message("no worker joined within 30 s");
  return report;
}

v1::RunReport SoakReport(int round_count) {
  Noise noise;
  v1::RunReport report;
  FillRun(4, 2, report);
  report.mutable_run()->mutable_plan()->set_soak_s(3600);
  v1::SoakReport& soak = *report.mutable_soak();
  soak.set_asked_s(3600);
  soak.set_elapsed_s(3600);
  soak.set_complete_rounds(static_cast<uint32_t>(round_count));
  soak.mutable_loss()->set_verified_sectors(1'000'000);
  soak.mutable_loss()->set_stale(12);
  for (int i = 0; i < round_count; ++i) {
    v1::SoakRound& round = *soak.add_rounds();
    round.set_round(static_cast<uint32_t>(i + 1));
    round.set_begin_s(3600.0 * i / round_count);
    round.set_end_s(3600.0 * (i + 1) / round_count);
    round.set_longest_pause_s(i == 20 ? 42 : 0.3);
    round.set_longest_pause_client("node03");
    round.set_wrong_sectors(i == 20 ? 12 : 0);
    for (const char* const operation : {"write", "read"}) {
      const double rate = noise.Around(operation[0] == 'w' ? 8e8 - 4e6 * i : 1.2e9, 0.01);
      AddPhase({.name = operation, .operation = operation, .title = operation, .bytes_per_s = rate, .clients = 4, .lanes = 2, .slices = 0},
               noise, report)
          .set_repetition(static_cast<uint32_t>(i));
      round.add_rates(rate);
    }
  }
  for (const char* const operation : {"write", "read"}) {
    v1::SoakTrend& trend = *soak.add_trends();
    const bool falls = operation[0] == 'w';
    trend.set_phase(operation);
    trend.set_rounds(static_cast<uint32_t>(round_count));
    trend.set_median(falls ? 8e8 - 2e6 * round_count : 1.2e9);
    trend.set_verdict(falls ? "falls" : "steady");
    trend.set_percent(falls ? -14 : 0.1);
    trend.set_low_percent(falls ? -16 : -0.4);
    trend.set_high_percent(falls ? -12 : 0.6);
    trend.set_margin_percent(5);
  }
  v1::SoakClient& client = *soak.add_clients();
  client.set_host("node03");
  client.set_stalls(1);
  client.set_stalled_s(42);
  client.mutable_longest()->set_seconds(42);
  client.set_wrong_sectors(12);
  return report;
}

v1::RunReport SteadySample() {
  Noise noise;
  v1::RunReport report;
  FillRun(4, 2, report);
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  plan.clear_phases();
  for (const char* const operation : {"write", "read"}) {
    v1::Phase& phase = *plan.add_phases();
    phase.set_name(operation);
    phase.add_assignments()->mutable_operation()->set_name(operation);
  }
  v1::Steady& asked = *plan.mutable_until_steady();
  asked.set_window_rounds(5);
  asked.set_range_percent(20);
  asked.set_slope_percent(10);
  asked.set_max_rounds(25);
  for (uint32_t round = 0; round < 7; ++round) {
    for (const char* const operation : {"write", "read"}) {
      const bool writes = operation[0] == 'w';
      v1::PhaseReport& phase =
          AddPhase({.name = operation, .operation = operation, .title = operation,
                    .bytes_per_s = writes && round < 2 ? 9e8 - 2e8 * round : noise.Around(5e8, 0.02), .clients = 4, .lanes = 2},
                   noise, report);
      phase.set_repetition(round);
      if (!writes || round > 0) continue;
      v1::RateChange& change = *phase.add_changes();
      change.set_at_s(20);
      change.set_low_s(19.5);
      change.set_high_s(20.5);
      change.set_before_per_s(1.7e9);
      change.set_after_per_s(5e8);
      change.set_bytes_until(34'000'000'000);
      change.set_ops_until(34'000);
      change.set_cause("burst credits used up");
    }
  }
  UpdateSteady(report);
  return report;
}

v1::RunReport LargeReport(int client_count, int lanes_per_client, int phase_count, int slice_count, int slow_every) {
  Noise noise;
  v1::RunReport report;
  FillRun(client_count, lanes_per_client, report);
  for (int i = 0; i < phase_count; ++i) {
    AddPhase({.name = absl::StrCat("phase ", i),
              .operation = i % 2 == 0 ? "write" : "read",
              .title = "read",
              .bytes_per_s = 4e10,
              .clients = client_count,
              .lanes = lanes_per_client,
              .slices = slice_count,
              .duration_s = 600,
              .slow_every = slow_every},
             noise, report);
  }
  return report;
}

}  // namespace iobench
