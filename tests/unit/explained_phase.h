// Reports of phases, made for the rules of Explain.
#ifndef TESTS_UNIT_EXPLAINED_PHASE_H_
#define TESTS_UNIT_EXPLAINED_PHASE_H_

#include <cmath>
#include <string>
#include <vector>

#include "coordinator/analysis/explain/explain.h"

namespace iobench {

// A phase of two clients with two lanes each, 10 s long, in which nothing is full, and its facts.
struct Explained {
  v1::PhaseReport report;
  ExplainFacts facts;

  v1::ClientPhaseReport& client(int index) { return *report.mutable_clients(index); }
  v1::ServerReport& server() { return *report.mutable_servers(0); }
  v1::NfsRpcReport& rpc() { return *report.mutable_nfs_rpc(); }
  v1::NfsKindReport& kind(const std::string& name) { return (*rpc().mutable_kinds())[name]; }
};

inline Explained NothingFull() {
  Explained made;
  made.facts.in_flight = 4;
  v1::PhaseReport& report = made.report;
  report.set_engine("posix");
  report.set_operation("random-read");
  report.set_record_bytes(1 << 20);
  report.set_lane_count(4);
  report.set_lanes_wall_s(40);
  report.set_measured_ops(4000);
  report.mutable_headline()->set_name("stonewalled");
  report.mutable_regions_s()->set_ops(10);
  for (const char* host : {"lab1", "lab2"}) {
    v1::ClientPhaseReport& client = *report.add_clients();
    client.set_host(host);
    client.set_cpu_percent(30);
    client.set_own_cpu_percent(25);
    client.set_bytes_per_s(100e6);
    client.set_ops_per_s(100);
    client.mutable_host_delta()->set_seconds(10);
    for (int lane = 0; lane < 2; ++lane)
      (client.workers_size() > 0 ? client.mutable_workers(0) : client.add_workers())->add_lanes();
    client.mutable_nfs_rpc()->set_connections(1);
  }
  made.facts.over_time.seconds = 10;
  made.facts.over_time.lane_rates = {std::vector<double>(40, 50e6), std::vector<double>(40, 50e6)};
  // 4,000 ops of 5 ms in 40 s of the lanes: they wait for half of their time.
  report.mutable_latency_us()->set_mean(5000);
  report.mutable_latency_us()->set_count(4000);
  v1::NfsRpcReport& rpc = made.rpc();
  rpc.set_rpcs(4000);
  rpc.set_all_rpcs(4000);
  rpc.set_connections(2);
  rpc.set_in_flight(8);
  rpc.set_max_slots(64);
  rpc.set_rsize_bytes(1 << 20);
  rpc.set_wsize_bytes(1 << 20);
  rpc.set_read_bytes_per_rpc(1 << 20);
  rpc.set_write_bytes_per_rpc(std::nan(""));
  rpc.set_commits_per_write(std::nan(""));
  made.kind("READ").set_rpcs(4000);
  made.kind("READ").set_queue_ms(0.1);
  made.kind("READ").set_round_trip_ms(4.8);
  made.kind("READ").set_execute_ms(5);
  return made;
}

// A server with spare capacity.
inline v1::ServerReport& AddServer(Explained& made) {
  v1::ServerReport& server = *made.report.add_servers();
  server.set_host("filer1");
  server.set_interval_count(10);
  server.set_cpu_busy(0.2);
  server.set_busiest_processor(0.4);
  v1::ServerDisk& disk = *server.add_disks();
  disk.set_name("sdb");
  disk.set_busy(0.3);
  disk.set_queue(0.4);
  v1::ServerNic& nic = *server.add_nics();
  nic.set_name("eth0");
  nic.set_send_bytes_per_s(30e6);
  nic.set_receive_bytes_per_s(1e6);
  nic.set_link_bytes_per_s(100'000'000);
  server.mutable_nfsd()->set_threads(8);
  server.mutable_nfsd()->set_busy_threads(2);
  server.mutable_nfsd()->set_rpcs_per_s(400);  // all that the clients send
  return server;
}

inline void AddClientMark(Explained& made, int index, const std::string& code, double value) {
  v1::Mark& mark = *made.client(index).add_marks();
  mark.set_code(code);
  mark.set_value(value);
  *made.report.add_marks() = mark;
}

inline void AddWrites(Explained& made, uint64_t writes, double execute_ms) {
  made.kind("WRITE").set_rpcs(writes);
  made.kind("WRITE").set_execute_ms(execute_ms);
  made.rpc().set_write_bytes_per_rpc(1 << 20);
}

// Clients with known links that have spare capacity.
inline void HasKnownLinks(Explained& made) {
  for (int i : {0, 1}) {
    v1::NicDelta& nic = *made.client(i).mutable_host_delta()->add_nics();
    nic.set_name("eth1");
    nic.set_rx_bytes(300'000'000);
    nic.set_link_bytes_per_s(100'000'000);
  }
}

// At this rate all the time, with 100 MB/s of the other client.
inline void HasSlowClient(Explained& made, double bytes_per_s) {
  made.client(1).set_bytes_per_s(bytes_per_s);
  made.facts.over_time.lane_rates[1].assign(40, bytes_per_s / 2);  // it has two lanes
}

// Reads past the clients' memory at 350 MB/s, after 12 s and 4.2 GB at 100 MB/s, varying by 1 %.
inline void RateFell(Explained& made) {
  v1::RateChange& change = *made.report.add_changes();
  change.set_at_s(12);
  change.set_before_per_s(350e6);
  change.set_after_per_s(100e6);
  change.set_bytes_until(4'200'000'000);
  made.facts.levels = {{.scatter = 0.02}, {.scatter = 0.01}};
  made.facts.only_reads = made.facts.local_storage = true;
}
// REQUIRES: RateFell.
inline void RateChangesAgain(Explained& made, double to) {
  const double before = made.report.changes().rbegin()->after_per_s();
  v1::RateChange& change = *made.report.add_changes();
  change.set_before_per_s(before);
  change.set_after_per_s(to);
  made.facts.levels.push_back({.scatter = 0.01});
}

// Judged slow, with this share of the median over the targets.
inline void HasSlowTarget(Explained& made, double share) {
  made.report.clear_storage_targets();
  for (const double of_median : {share, 1.0, 1.0}) {
    v1::StorageTargetReport& target = *made.report.add_storage_targets();
    target.set_name(of_median < 1 ? "OST0003" : "OST0001");
    target.set_share_of_median(of_median);
    target.set_slow(of_median < 1);
  }
}

inline void HasFullLanes(Explained& made) {
  made.report.mutable_latency_us()->set_mean(9800);  // 98 % of the lanes' time
  made.report.mutable_latency_us()->set_min(9000);
}

inline void HasStolenCpu(Explained& made) {
  for (int i : {0, 1}) {
    v1::HostDelta& host = *made.client(i).mutable_host_delta();
    host.set_cpu_user_s(1);
    host.set_cpu_system_s(1);
    host.set_cpu_idle_s(6);
    host.set_cpu_steal_s(2);
    AddClientMark(made, i, "cpu_bound", 20);
  }
}

// The way to the server and back, as TCP saw it without a queue.
inline void HasRoundTrips(Explained& made, double ms) {
  for (int i : {0, 1}) {
    v1::HostDelta& host = *made.client(i).mutable_host_delta();
    host.clear_server_connections();
    host.add_server_connections()->set_smallest_round_trip_ms(ms);
  }
}

// 4,000 READs of 9.7 ms in 10 s, for which the server's threads do little.
inline void HasQueueOnNetwork(Explained& made) {
  AddServer(made).mutable_nfsd()->set_busy_threads(0.2);
  HasFullLanes(made);
  made.report.mutable_latency_us()->set_min(1000);
  made.report.mutable_latency_us()->set_p50(9700);
  made.kind("READ").set_round_trip_ms(9.6);
  made.kind("READ").set_execute_ms(9.7);
}

inline std::vector<std::string> LimitNames(const Explained& made) {
  std::vector<std::string> names;
  for (const v1::Limit& limit : Explain(made.report, made.facts)) names.push_back(limit.name());
  return names;
}

}  // namespace iobench

#endif  // TESTS_UNIT_EXPLAINED_PHASE_H_
