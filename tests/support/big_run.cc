// Writes the raw data of a large run, as a real one would (tests/cluster/test_big_run.py), without running it: big_run DIRECTORY [CLIENTS [LANES [PHASES]]]. The sizes of
// timelines and histograms are those that a lane of a phase of 12 s sends; clocks differ from client to client. Equal
// arguments give equal files. `cluster-iobench report DIRECTORY` reads it like any other run.
//
// The first client has a name that no report format may interpret as anything but text.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/histogram.h"
#include "common/latency_slices.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/report/raw_files.h"

namespace iobench {
namespace {

constexpr uint64_t kRunNumber = 4711;
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr double kPhaseSeconds = 12;
constexpr int kTimelinePoints = 300;
constexpr uint64_t kLaneBytes = uint64_t{1} << 30;
constexpr char kVersion[] = "0.1.0";
constexpr char kHostileHost[] = "=cmd|'/C calc'!A0,\"<script>alert(1)</script>\" n\xc3\xb6rd\n\x1b[31m";

struct Size {
  uint32_t clients = 1000, lanes = 8, phases = 20;
};
struct Kind {
  const char* operation;
  v1::OpKind kind;
  double op_us;  // mean latency
};
constexpr Kind kKinds[] = {{"write", v1::OP_WRITE, 900},
                           {"read", v1::OP_READ, 350},
                           {"random-read", v1::OP_READ, 1800},
                           {"random-write", v1::OP_WRITE, 2500}};

std::string HostOf(uint32_t client) {
  return client == 0 ? kHostileHost : absl::StrFormat("client-%04d", client);
}
// A client's CLOCK_MONOTONIC minus the coordinator's: the time since it booted.
int64_t OffsetNs(uint32_t client) {
  return static_cast<int64_t>(client % 97 + 1) * 3600 * kSecondNs + client;
}
const Kind& KindOf(uint32_t phase) {
  return kKinds[phase % std::size(kKinds)];
}
uint64_t RecordBytes(uint32_t phase) {
  return uint64_t{64 * 1024} << (phase / std::size(kKinds) % 5);
}

v1::Plan PlanOf(const Size& size) {
  v1::Plan plan;
  plan.add_targets()->set_path("/mnt/nfs");
  plan.mutable_files()->set_bytes_per_lane(kLaneBytes);
  plan.set_lanes_per_worker(size.lanes);
  plan.set_seed(1);
  for (uint32_t i = 0; i < size.phases; ++i) {
    v1::Phase& phase = *plan.add_phases();
    phase.set_name(absl::StrCat(KindOf(i).operation, " ", RecordBytes(i) / 1024, "k"));
    v1::Operation& operation = *phase.add_assignments()->mutable_operation();
    operation.set_name(KindOf(i).operation);
    operation.set_engine("posix");
    operation.set_record_bytes(RecordBytes(i));
    operation.set_direct(true);
    phase.mutable_stop()->set_time_s(kPhaseSeconds);
  }
  CompletePlan(plan);
  return plan;
}

void FillWorker(const std::string& host, const std::string& boot_id, v1::WorkerFacts& facts) {
  facts.set_host(host);
  facts.set_boot_id(boot_id);
  facts.set_program_version(kVersion);
  facts.set_pid(1234);
  facts.set_pid_namespace(4'026'531'836);
  facts.set_processors(64);
  facts.set_host_processors(64);
  facts.set_processor_mask("ffffffff,ffffffff");
  facts.set_memory_bytes(uint64_t{256} << 30);
  facts.set_host_memory_bytes(uint64_t{256} << 30);
  facts.set_l2_cache_bytes(1 << 20);
  facts.set_l3_cache_bytes(32 << 20);
  facts.set_kernel("6.1.0-28-amd64");
  facts.set_clock("tsc");
  (*facts.mutable_settings())["cpu governor"] = "performance";
}

void FillSpace(v1::Space& space) {
  space.set_total_bytes(uint64_t{1} << 50);
  space.set_free_bytes(uint64_t{1} << 49);
  space.set_available_bytes(uint64_t{1} << 49);
  space.set_total_items(uint64_t{1} << 32);
  space.set_available_items(uint64_t{1} << 31);
}

v1::RunRecord RunOf(const Size& size) {
  v1::RunRecord run;
  run.set_id("20261101T120000Z-4711");
  run.set_run_number(kRunNumber);
  run.set_command("cluster-iobench --client-list clients -t 1000 --path /mnt/nfs");
  run.set_program_version(kVersion);
  run.set_program_sha256(std::string(64, 'a'));
  run.set_phase_count(size.phases);
  run.set_exit_code(0);
  run.set_transport("grpc");
  run.set_started_at("2026-11-01T12:00:00.000Z");
  run.set_finished(true);
  *run.mutable_plan() = PlanOf(size);
  FillWorker("head", "head", *run.mutable_coordinator());
  for (uint32_t client = 0; client < size.clients; ++client) {
    v1::WorkerFacts& facts = *run.add_workers();
    FillWorker(HostOf(client), absl::StrCat("boot-", client), facts);
    facts.set_address(absl::StrFormat("10.0.%d.%d", client / 256, client % 256));
    facts.set_clock_read_ns(9.5);
    facts.set_loop_ns(21);
    v1::TargetFacts& target = *run.add_targets()->add_targets();
    target.set_filesystem("nfs4");
    target.set_mount_source("server:/export");
    target.set_mount_options("rw,relatime,vers=4.2,rsize=1048576,wsize=1048576,hard,proto=tcp,nconnect=8");
    target.set_filesystem_id("server:/export");
    target.set_network(true);
    target.set_mount_point("/mnt/nfs");
    target.set_device(46);
    target.set_logical_block_bytes(512);
    target.set_directory_number(2);
    target.set_directory_changed_ns(1'793'527'200 * kSecondNs);
    (*target.mutable_settings())["read_ahead_kb"] = "128";
    FillSpace(*target.mutable_space());
    target.set_free_bytes(target.space().available_bytes());
  }
  return run;
}

// Two bursts of five exchanges, before and after the phase; a round trip of about 100 us.
void AddBursts(uint32_t client, int64_t start_ns, std::mt19937_64& random, v1::WorkerPhaseResult& worker) {
  for (const int64_t at_ns : {start_ns - kSecondNs / 10, start_ns + 13 * kSecondNs}) {
    v1::PingBurst& burst = *worker.add_bursts();
    for (int i = 0; i < 5; ++i) {
      const int64_t sent_ns = at_ns + i * 1'000'000,
                    there_ns = 40'000 + static_cast<int64_t>(random() % 20'000);
      v1::PingSample& sample = *burst.add_samples();
      sample.set_sent_coord_ns(sent_ns);
      sample.set_received_worker_ns(sent_ns + there_ns + OffsetNs(client));
      sample.set_replied_worker_ns(sent_ns + there_ns + 5'000 + OffsetNs(client));
      sample.set_returned_coord_ns(sent_ns + 2 * there_ns + 5'000);
    }
  }
}

void AddHost(const v1::WorkerPhaseResult& worker, const Kind& kind, uint64_t ops, uint64_t bytes,
             v1::HostDelta& host) {
  host.set_cpu_user_s(20 + worker.worker() % 7);
  host.set_cpu_system_s(60);
  host.set_cpu_idle_s(64 * kPhaseSeconds - 80);
  host.set_cpu_steal_s(0);
  host.set_context_switches(2 * ops);
  host.mutable_cgroup()->set_seconds(kPhaseSeconds);
  FillSpace((*host.mutable_spaces())[0]);
  host.set_nic_rx_bytes(bytes);
  host.set_nic_tx_bytes(bytes / 50);
  host.set_nic_drops(0);
  v1::NicDelta& nic = *host.add_nics();
  nic.set_name("eth0");
  nic.set_rx_bytes(bytes);
  nic.set_tx_bytes(bytes / 50);
  nic.set_drops(0);
  nic.set_errors(0);
  host.set_tcp_sent_segments(bytes / 1448);
  host.set_tcp_retransmitted_segments(0);
  host.set_seconds(kPhaseSeconds);
  const bool writes = kind.kind == v1::OP_WRITE;
  v1::NfsDelta& nfs = (*host.mutable_nfs())[0];
  nfs.set_app_read_bytes(writes ? 0 : bytes);
  nfs.set_app_write_bytes(writes ? bytes : 0);
  nfs.set_server_read_bytes(writes ? 0 : bytes);
  nfs.set_server_write_bytes(writes ? bytes : 0);
  v1::NfsOpDelta& rpcs = (*nfs.mutable_ops())[writes ? "WRITE" : "READ"];
  rpcs.set_ops(ops);
  rpcs.set_transmissions(ops);
  rpcs.set_queue_ms(ops / 10);
  rpcs.set_rtt_ms(ops);
  rpcs.set_execute_ms(ops + ops / 10);
}

// Latencies with a long tail, in as many buckets as a real lane fills.
v1::Histogram LatenciesOf(double mean_us, uint64_t ops, std::mt19937_64& random) {
  Histogram histogram;
  std::lognormal_distribution<double> draw(std::log(mean_us * 1e3) - 0.125, 0.5);
  constexpr uint64_t kDrawn = 3000;
  for (uint64_t i = 0; i < kDrawn; ++i) histogram.Add(static_cast<uint64_t>(draw(random)));
  v1::Histogram message = histogram.ToProto();
  uint64_t total = 0;
  for (uint64_t& count : *message.mutable_counts()) total += count = count * ops / kDrawn + 1;
  message.set_count(total);
  const double factor = static_cast<double>(total) / kDrawn;
  message.set_sum_ns(message.sum_ns() * factor);
  message.set_sum_squares_ns2(message.sum_squares_ns2() * factor);
  return message;
}

// Four bins around the mean in each slice of 100 ms.
void AddSlices(const Kind& kind, v1::LaneResult& lane) {
  constexpr uint32_t kBins = 72, kSlices = 120;
  v1::LatencySlices& slices = *lane.mutable_latency_slices();
  slices.set_begin_worker_ns(lane.first_op_worker_ns());
  slices.set_slice_ns(kSecondNs / 10);
  const auto middle = static_cast<uint32_t>(2 * std::log2(kind.op_us * 1e3 / 128)) + 2;
  uint32_t last = 0;
  for (uint32_t slice = 0; slice < kSlices; ++slice) {
    for (uint32_t bin = middle - 2; bin < middle + 2; ++bin) {
      slices.add_cell_gaps(slice * kBins + bin - last);
      slices.add_counts(static_cast<uint32_t>(lane.ops() / kSlices / 4) + 1);
      last = slice * kBins + bin;
    }
  }
}

// One fsync at the end, as with -e.
void AddFsync(v1::LaneResult& lane) {
  constexpr uint64_t kFsyncNs = 3'000'000;
  v1::KindResult& call = *lane.add_calls();
  call.set_kind(v1::OP_FSYNC);
  call.set_ops(1);
  Histogram histogram;
  const uint32_t bin = histogram.Add(kFsyncNs) / LatencySlices::kBucketsPerBin;
  *call.mutable_latency() = histogram.ToProto();
  v1::LatencySlices& slices = *call.mutable_slices();
  slices.set_begin_worker_ns(lane.first_op_worker_ns());
  slices.set_slice_ns(kSecondNs / 4);
  slices.add_cell_gaps(47 * LatencySlices::kBinCount + bin);
  slices.add_counts(1);
}

void AddLane(uint32_t number, uint32_t client, uint32_t phase, int64_t start_ns, std::mt19937_64& random,
             v1::WorkerPhaseResult& worker) {
  const Kind& kind = KindOf(phase);
  v1::LaneResult& lane = *worker.add_lanes();
  const uint64_t record_bytes = RecordBytes(phase);
  const double slow = client % 50 == 7 ? 0.6 : 1;  // stragglers
  const int64_t begin_ns = start_ns + OffsetNs(client) + static_cast<int64_t>(random() % 50'000);
  const int64_t end_ns =
      begin_ns + static_cast<int64_t>(kPhaseSeconds * 1e9) - static_cast<int64_t>(random() % 2'000'000);
  v1::KindResult& result = *lane.add_kinds();
  result.set_kind(kind.kind);
  *result.mutable_latency() =
      LatenciesOf(kind.op_us / slow, static_cast<uint64_t>(kPhaseSeconds * 1e6 / kind.op_us * slow), random);
  const uint64_t ops = result.latency().count();
  result.set_ops(ops);
  result.set_bytes(ops * record_bytes);
  lane.set_lane(number);
  lane.set_file_owner(number);
  lane.set_first_op_worker_ns(begin_ns);
  lane.set_ops_end_worker_ns(end_ns);
  lane.set_last_op_worker_ns(end_ns);
  lane.set_region_end_worker_ns(end_ns);
  // A lane that loops for a time ends within a pass over its records.
  const uint64_t pass_ops = kLaneBytes / record_bytes;
  lane.set_passes(ops / pass_ops);
  lane.set_pass_ops(ops % pass_ops);
  lane.set_bytes_per_pass(kLaneBytes);
  if (ops > pass_ops) {
    lane.set_first_pass_end_worker_ns(begin_ns + static_cast<int64_t>(static_cast<double>(end_ns - begin_ns) *
                                                                      static_cast<double>(pass_ops) / static_cast<double>(ops)));
  }
  lane.set_between_s(kind.kind == v1::OP_WRITE ? 0.1 : 0);
  lane.set_data_s(lane.between_s());
  lane.set_settle_s(0.0005);
  lane.set_run_delay_s(0.01);
  for (const auto set : {&v1::LaneResult::set_ops, &v1::LaneResult::set_region_ops}) (lane.*set)(ops);
  for (const auto set : {&v1::LaneResult::set_bytes, &v1::LaneResult::set_region_bytes})
    (lane.*set)(ops * record_bytes);
  lane.set_open_s(0.0001);
  lane.set_close_s(0.00002);
  lane.set_cpu_user_s(0.2);
  lane.set_cpu_system_s(0.9);
  lane.set_tool_s(static_cast<double>(ops) * 21e-9);
  lane.set_operation(kind.operation);
  lane.set_file(absl::StrFormat("/mnt/nfs/cluster-iobench.data/lane-%06d.0", number));
  lane.set_stall_begin_worker_ns(begin_ns + kSecondNs);
  lane.set_stall_end_worker_ns(begin_ns + kSecondNs + 20'000'000);
  v1::Timeline& timeline = *lane.mutable_timeline();
  int64_t last_ns = 0;
  uint64_t last_ops = 0;
  for (int i = 0; i <= kTimelinePoints; ++i) {
    const uint64_t done = ops * static_cast<uint64_t>(i) / kTimelinePoints;
    const int64_t wobble_ns = i == 0 || i == kTimelinePoints ? 0 : static_cast<int64_t>(random() % 1'000'000);
    const int64_t at_ns = begin_ns + (end_ns - begin_ns) / kTimelinePoints * i + wobble_ns;
    timeline.add_at_worker_ns(at_ns - last_ns);
    timeline.add_bytes((done - last_ops) * record_bytes);
    timeline.add_ops(done - last_ops);
    last_ns = at_ns;
    last_ops = done;
  }
  AddSlices(kind, lane);
  if (kind.kind == v1::OP_WRITE) AddFsync(lane);
}

v1::PhaseRecord PhaseOf(const Size& size, const v1::Plan& plan, uint32_t index) {
  std::mt19937_64 random(index + 1);
  v1::PhaseRecord record;
  record.set_index(index);
  *record.mutable_phase() = plan.phases(static_cast<int>(index));
  record.set_started_at(absl::StrFormat("2026-11-01T12:%02d:%02d.000Z", index / 4 % 60, index % 4 * 15));
  const int64_t start_ns = 1000 * kSecondNs + index * 15 * kSecondNs;
  record.set_start_coord_ns(start_ns);
  record.set_start_attempts(1);
  record.set_prepare_s(0.2);
  record.set_fixed_cost_s(0.3);
  for (uint32_t client = 0; client < size.clients; ++client) {
    v1::WorkerPhaseResult& worker = *record.add_workers();
    worker.set_worker(client);
    worker.set_done_coord_ns(start_ns + 12 * kSecondNs + 500'000);
    AddBursts(client, start_ns, random, worker);
    uint64_t ops = 0, bytes = 0;
    for (uint32_t lane = 0; lane < size.lanes; ++lane) {
      AddLane(client * size.lanes + lane, client, index, start_ns, random, worker);
      ops += worker.lanes(static_cast<int>(lane)).ops();
      bytes += worker.lanes(static_cast<int>(lane)).bytes();
    }
    v1::StepResult& step = *worker.add_steps();
    step.set_name("open");
    step.set_seconds(0.001);
    worker.mutable_buffers()->set_bytes(uint64_t{size.lanes} << 21);
    worker.mutable_buffers()->set_huge_page_bytes(uint64_t{size.lanes} << 21);
    worker.mutable_buffers()->set_local_bytes(uint64_t{size.lanes} << 21);
    worker.set_process_cpu_user_s(0.2 * size.lanes);
    worker.set_process_cpu_system_s(0.9 * size.lanes);
    AddHost(worker, KindOf(index), ops, bytes, *worker.mutable_host());
  }
  return record;
}

int Write(const std::string& directory, const Size& size) {
  std::filesystem::create_directories(RawDirectory(directory));
  const v1::RunRecord run = RunOf(size);
  absl::Status status = SaveRawRun(directory, run).status();
  for (uint32_t index = 0; index < size.phases && status.ok(); ++index)
    status =
        SaveRawPhase(RawPhasePath(directory, index), kRunNumber, PhaseOf(size, run.plan(), index)).status();
  if (status.ok()) return EXIT_SUCCESS;
  std::fprintf(stderr, "big_run: %s\n", std::string(status.message()).c_str());
  return EXIT_FAILURE;
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: big_run DIRECTORY [CLIENTS [LANES [PHASES]]]\n");
    return EXIT_FAILURE;
  }
  iobench::Size size;
  uint32_t* const given[] = {&size.clients, &size.lanes, &size.phases};
  for (int i = 2; i < argc && i < 5; ++i)
    *given[i - 2] = static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10));
  return iobench::Write(argv[1], size);
}
