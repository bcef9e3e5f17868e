// Each rule fires on a report made for it, and no longer once one of its conditions is gone.
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "coordinator/analysis/explain/limit_rules.h"
#include "tests/unit/explained_phase.h"

namespace iobench {
namespace {

using Change = std::function<void(Explained&)>;

struct Case {
  const char* name;            // of the rule
  const char* evidence;        // that it gives
  Change makes;                // what makes it fire
  std::vector<Change> spoils;  // each of which, after `makes`, keeps it from firing
};

// The processors of lanes with such a mark are all that their clients have.
void AreWholeHosts(Explained& made) {
  made.client(0).set_cpu_percent(97);
  made.client(1).set_cpu_percent(96);
}

void HaveAllTheirCpu(Explained& made) {
  for (int i : {0, 1}) made.client(i).mutable_host_delta()->set_cpu_steal_s(0);
}

const std::vector<Case>& AllCases() {
  static const auto* const kCases = new std::vector<Case>{
      {"pace",
       "the requested pace",
       [](Explained& made) {
         made.facts.all_paced = true;
         made.report.set_paced_ops_per_s(100);
       },
       {[](Explained& made) { made.facts.all_paced = false; },
        [](Explained& made) { made.report.set_paced_ops_per_s(0); },
        [](Explained& made) { made.report.add_marks()->set_code("pace_missed"); }}},
      {"think-time",
       "think time: the plan's pauses took 40 % of the lanes' time",
       [](Explained& made) { made.facts.paused_lanes_s = 16; },  // of 40 s
       {[](Explained& made) { made.facts.paused_lanes_s = 11.9; }}},
      {"stalls",
       "stalls: no op of any lane ended for 2 s, 40 % of the phase",
       [](Explained& made) {
         made.facts.over_time.stalled_s = 2;
         made.facts.over_time.stalled_share = 0.4;
       },
       {[](Explained& made) { made.facts.over_time.stalled_share = 0.09; }}},
      {"burst-credits",
       "burst credits: used up after 12 s and 3.91 GiB, then 95.4 MiB/s instead of 334 MiB/s",
       RateFell,
       {[](Explained& made) { made.facts.levels[1].scatter = 0.031; },
        [](Explained& made) { made.facts.levels[1].scatter = std::nan(""); },  // too short to tell
        [](Explained& made) { made.facts.levels[0].scatter = 0.11; },
        [](Explained& made) { made.facts.unflushed_writes = true; },
        [](Explained& made) { made.report.mutable_changes(0)->set_cause("the first pass over the data ended"); },
        [](Explained& made) { made.report.mutable_changes(0)->set_after_per_s(600e6); },
        [](Explained& made) { RateChangesAgain(made, 50e6); },
        [](Explained& made) { made.facts.over_time.stalled_share = 0.2; },
        [](Explained& made) { made.facts.paused_lanes_s = 16; },
        [](Explained& made) { made.report.add_marks()->set_code("cached"); },
        [](Explained& made) { made.report.add_marks()->set_code("server_cached"); },
        [](Explained& made) { made.report.add_marks()->set_code("stalled"); }}},
      {"burst-credits",
       "burst credits: used up after 12 s and 3.91 GiB, then 95.4 MiB/s instead of 334 MiB/s",
       [](Explained& made) {  // writes, and a first level too short to tell how much it varied
         RateFell(made);
         made.facts.only_reads = false;
         made.facts.only_writes = true;
         made.facts.levels[0].scatter = std::nan("");
       },
       {}},
      {"write-cache",
       "write cache: full after 12 s and 3.91 GiB, then 95.4 MiB/s instead of 334 MiB/s",
       [](Explained& made) {
         RateFell(made);
         made.facts.only_reads = false;
         made.facts.only_writes = true;
         made.facts.levels[1].scatter = 0.12;
       },
       {[](Explained& made) { made.facts.only_writes = false; },
        [](Explained& made) { made.facts.levels[1].scatter = 0.09; },  // neither this nor even: unknown
        [](Explained& made) { made.report.mutable_changes(0)->set_after_per_s(600e6); },
        [](Explained& made) { made.report.mutable_changes(0)->set_cause("the first pass over the data ended"); },
        [](Explained& made) { made.facts.over_time.stalled_share = 0.2; }}},
      {"write-cache",
       "write cache: full after 12 s and 3.91 GiB, then 95.4 MiB/s instead of 334 MiB/s",
       [](Explained& made) {  // the clients' memory
         RateFell(made);
         made.facts.only_reads = false;
         made.facts.only_writes = made.facts.unflushed_writes = true;
       },
       {}},
      {"heat",
       "heat: slower in steps after 12 s and 3.91 GiB, then 95.4 MiB/s instead of 334 MiB/s",
       [](Explained& made) {
         RateFell(made);
         RateChangesAgain(made, 70e6);
       },
       {[](Explained& made) { made.report.mutable_changes()->RemoveLast(); },
        [](Explained& made) { made.facts.local_storage = false; },
        [](Explained& made) { made.facts.only_reads = false; },
        [](Explained& made) { RateChangesAgain(made, 100e6); }}},
      {"other-load",
       "load of others: 60 % of the requests that the sampled servers served were not the run's",
       [](Explained& made) {
         HasFullLanes(made);
         AddServer(made).mutable_nfsd()->set_rpcs_per_s(1000);
       },
       {[](Explained& made) { made.server().mutable_nfsd()->set_rpcs_per_s(790); },
        [](Explained& made) { made.report.set_duration_s(7.9); },  // 506 a second of the run's own
        [](Explained& made) { made.report.mutable_latency_us()->set_mean(4900); },
        [](Explained& made) { made.server().set_problem("lost"); },
        [](Explained& made) {  // housekeeping
          made.rpc().set_all_rpcs(10);
          made.server().mutable_nfsd()->set_rpcs_per_s(9);
        }}},
      {"other-load",
       "load of others: 75 % of the bytes that the sampled servers served were not the run's",
       [](Explained& made) {  // 4,000 READs of 1 MiB in 10 s, of four times as much
         HasFullLanes(made);
         AddServer(made).mutable_nfsd()->set_read_bytes_per_s(4.0 * 400 * (1 << 20));
       },
       {[](Explained& made) { made.server().mutable_nfsd()->set_read_bytes_per_s(1.9 * 400 * (1 << 20)); }}},
      {"read-ahead",
       "read-ahead of 16 KiB: each READ moves only 16 KiB of an rsize of 1 MiB",
       [](Explained& made) {
         HasFullLanes(made);
         made.facts.sequential_reads = true;
         made.facts.read_ahead_bytes = 16 << 10;
         made.report.set_record_bytes(4096);
         made.rpc().set_read_bytes_per_rpc(16 << 10);
       },
       {[](Explained& made) { made.facts.sequential_reads = false; },
        [](Explained& made) { made.facts.read_ahead_bytes = std::nan(""); },
        [](Explained& made) { made.facts.read_ahead_bytes = 1 << 20; },
        [](Explained& made) { made.rpc().set_read_bytes_per_rpc(18 << 10); },
        [](Explained& made) { made.rpc().set_rsize_bytes(16 << 10); },
        [](Explained& made) {
          made.kind("READ").set_round_trip_ms(30);
        },  // 12 of them in flight, 3 of each lane
        [](Explained& made) { made.client(0).set_cpu_percent(80); },
        [](Explained& made) { made.report.mutable_latency_us()->set_mean(4900); }}},
      {"dirty-limit",
       "dirty limit: the kernel held writers back for 78 % of their time, until less was unwritten",
       [](Explained& made) {  // 98 % in write(), 20 % on a processor
         HasFullLanes(made);
         made.facts.buffered_writes = true;
         made.rpc().mutable_kinds()->clear();
         AddWrites(made, 4000, 5);
         made.report.set_lanes_cpu_system_s(8);
       },
       {[](Explained& made) { made.facts.buffered_writes = false; },
        [](Explained& made) { made.kind("READ").set_rpcs(10); },
        [](Explained& made) { made.report.clear_nfs_rpc(); },
        [](Explained& made) { made.report.set_lanes_cpu_system_s(20); },
        [](Explained& made) { made.client(0).set_lanes_run_delay_s(12); },
        [](Explained& made) { made.report.mutable_latency_us()->set_mean(6900); }}},
      {"server-delay",
       "server delay: for 94 % of the time of a request, 4.8 ms, a server thread was waiting, while nothing there was full",
       [](Explained& made) {  // 1.92 requests in flight, 2 busy threads, 0.2 of them on a processor
         made.facts.server_processors = {1};
         AddServer(made).mutable_nfsd()->set_threads(2);
         made.report.mutable_latency_us()->set_mean(8000);  // less than lanes need, and no fast op
       },
       {[](Explained& made) { made.facts.server_processors = {}; },
        [](Explained& made) { made.server().mutable_nfsd()->set_busy_threads(1); },
        [](Explained& made) { made.server().set_cpu_busy(0.8); },
        [](Explained& made) { made.server().mutable_disks(0)->set_busy(0.8); },
        [](Explained& made) { made.facts.over_time.stalled_share = 0.2; },
        [](Explained& made) { made.report.mutable_latency_us()->set_mean(6900); },
        [](Explained& made) { made.kind("READ").set_round_trip_ms(0.9); }}},
      {"network-delay",
       "network delay: the way to the servers and back takes 4 ms of the 4.8 ms of a request, without a queue",
       [](Explained& made) {
         HasRoundTrips(made, 4);
         made.report.mutable_latency_us()->set_mean(8000);
       },
       {[](Explained& made) { HasRoundTrips(made, 2.3); },
        [](Explained& made) { made.client(1).mutable_host_delta()->clear_server_connections(); },
        [](Explained& made) { made.facts.over_time.stalled_share = 0.2; },
        [](Explained& made) { made.client(0).set_cpu_percent(80); },
        [](Explained& made) { made.report.mutable_latency_us()->set_mean(6900); }}},
      {"packet-loss",
       "lost packets: 3.0 % of TCP's segments were retransmitted",
       [](Explained& made) {
         made.client(0).mutable_transport()->set_sent_segments(500);
         made.client(0).mutable_transport()->set_retransmitted_segments(30);
         made.client(1).mutable_transport()->set_sent_segments(500);
       },
       {[](Explained& made) { made.client(0).mutable_transport()->set_retransmitted_segments(9); },
        [](Explained& made) {
          made.client(0).clear_transport();
          made.client(1).mutable_transport()->set_sent_segments(99);
          made.client(1).mutable_transport()->set_retransmitted_segments(30);
        },
        [](Explained& made) {
          made.client(1).mutable_transport()->set_sent_segments(0);
          made.client(0).mutable_transport()->set_sent_segments(200);
          made.client(0).mutable_transport()->set_retransmitted_segments(4);
        }}},
      {"server-disk",
       "server disk: filer1 sdb 98 % busy, 3.5 requests waiting",
       [](Explained& made) {
         AddServer(made).mutable_disks(0)->set_busy(0.98);
         made.server().mutable_disks(0)->set_queue(3.5);
       },
       {[](Explained& made) { made.server().mutable_disks(0)->set_busy(0.89); },
        [](Explained& made) { made.server().mutable_disks(0)->set_queue(1.0); }}},
      {"server-network",
       "network of server filer1: 96 % of eth0",
       [](Explained& made) { AddServer(made).mutable_nics(0)->set_send_bytes_per_s(96e6); },
       {[](Explained& made) { made.server().mutable_nics(0)->set_send_bytes_per_s(92e6); },
        [](Explained& made) { made.server().mutable_nics(0)->clear_link_bytes_per_s(); }}},
      {"server-cpu",
       "server CPU: filer1 97 %",
       [](Explained& made) { AddServer(made).set_cpu_busy(0.97); },
       {[](Explained& made) { made.server().set_cpu_busy(0.89); },
        [](Explained& made) { made.server().clear_cpu_busy(); }}},
      {"nfsd-threads",
       "nfsd threads: filer1 with 7.5 of 8 busy",
       [](Explained& made) {
         AddServer(made).mutable_nfsd()->set_busy_threads(7.5);
         made.kind("READ").set_round_trip_ms(25);  // 4,000 in 10 s: 10 in flight
       },
       {[](Explained& made) { made.server().mutable_nfsd()->set_busy_threads(6); },
        [](Explained& made) { made.kind("READ").set_round_trip_ms(20); },  // as many as there are threads
        [](Explained& made) { made.server().mutable_nfsd()->clear_busy_threads(); },
        [](Explained& made) { made.server().clear_nfsd(); },
        [](Explained& made) { made.server().mutable_disks(0)->set_busy(0.6); },
        [](Explained& made) { made.server().set_cpu_busy(0.6); }}},
      {"cpu-quota",
       "CPU quota of its control group: lab1, 0.5 processors, throttled for 80 % of the phase (1 of 2 clients)",
       [](Explained& made) {
         made.client(0).mutable_host_delta()->mutable_cgroup()->set_cpu_processors(0.5);
         made.client(0).set_lanes_wall_s(20);
         made.client(0).set_lanes_run_delay_s(16);
         AddClientMark(made, 0, "cpu_quota", 80);
       },
       {[](Explained& made) { made.client(0).clear_marks(); },
        [](Explained& made) { made.client(0).set_lanes_run_delay_s(1.9); }}},
      {"io-limit",
       "I/O limit of its control group: lab2, 10 MiB/s of writes to sda (1 of 2 clients)",
       [](Explained& made) {
         v1::CgroupDelta& cgroup = *made.client(1).mutable_host_delta()->mutable_cgroup();
         cgroup.set_seconds(10);
         v1::IoLimitDelta& limit = *cgroup.add_io_limits();
         limit.set_device("sda");
         limit.set_writes(true);
         limit.set_limit_per_s(10 << 20);
         limit.set_amount(100 << 20);
         AddClientMark(made, 1, "io_limited", 100);
       },
       {[](Explained& made) { made.client(1).clear_marks(); }}},
      {"memory-copy",
       "memory copy: for 95 % of the lanes' time a processor moved records from or to memory",
       [](Explained& made) {  // on tmpfs: 98 % of the time in ops, 97 % on a processor
         made.report.add_marks()->set_code("memory_fs");
         made.report.set_lanes_cpu_system_s(38.8);
         HasFullLanes(made);
       },
       {[](Explained& made) { made.report.clear_marks(); },
        [](Explained& made) { made.report.set_record_bytes(32 << 10); },
        [](Explained& made) { made.report.set_metadata(true); },
        [](Explained& made) { made.report.mutable_mpi_io()->set_collective(true); },
        [](Explained& made) { made.report.mutable_latency_us()->set_mean(7000); },
        [](Explained& made) { made.report.set_lanes_cpu_system_s(28); }}},
      {"client-cpu",
       "client CPU: lab2 98 % (1 of 2 clients)",
       [](Explained& made) {
         made.client(1).set_cpu_percent(98);
         made.client(1).set_own_cpu_percent(90);
         AddClientMark(made, 1, "cpu_bound", 98);
       },
       {[](Explained& made) { made.client(1).clear_marks(); },
        [](Explained& made) {
          v1::ClientPhaseReport third = made.client(0);
          *made.report.add_clients() = third;
        }}},
      {"one-processor",
       "one processor per lane: lab1 97 % (2 of 2 clients)",
       [](Explained& made) {
         AddClientMark(made, 0, "cpu_bound", 97);
         AddClientMark(made, 1, "cpu_bound", 96);
       },
       {AreWholeHosts}},
      {"stolen-cpu",
       "CPU time stolen by the hypervisor: lab1 20 % (2 of 2 clients)",
       HasStolenCpu,
       {HaveAllTheirCpu}},
      {"client-network",
       "network of lab1: 97 % of eth1 (1 of 2 clients)",
       [](Explained& made) {
         v1::NicDelta& nic = *made.client(0).mutable_host_delta()->add_nics();
         nic.set_name("eth1");
         nic.set_rx_bytes(970'000'000);
         nic.set_link_bytes_per_s(100'000'000);
         AddClientMark(made, 0, "network_bound", 97);
       },
       {[](Explained& made) { made.client(0).clear_marks(); }}},
      {"packet-loss",
       "lost or late requests: 2.0 % of READ, WRITE and COMMIT were retransmitted",
       [](Explained& made) { made.rpc().set_retransmissions(80); },
       {[](Explained& made) { made.rpc().set_retransmissions(39); },
        [](Explained& made) { made.rpc().set_rpcs(99); }}},
      {"slots",
       "RPC slots: 1.2 requests waited for one of 2, 60 % of their time",
       [](Explained& made) {
         made.rpc().set_backlog(3);
         made.rpc().set_in_flight(1.9);
         made.rpc().set_max_slots(2);
         made.kind("READ").set_queue_ms(3);
       },
       {[](Explained& made) { made.kind("READ").set_queue_ms(1); },
        [](Explained& made) { made.rpc().set_max_slots(64); },
        [](Explained& made) {
          made.rpc().clear_max_slots();
          made.kind("READ").set_round_trip_ms(90);  // 36 in flight, 18 for each connection
        },
        [](Explained& made) { made.rpc().set_connections(0); },
        [](Explained& made) { made.rpc().set_all_rpcs(10); }}},
      {"slots",
       "RPC slots: 1.2 requests waited for one of 2, 60 % of their time",
       [](Explained& made) {  // of a session: no backlog, but 0.96 in flight for each connection
         made.rpc().set_max_slots(2);
         made.kind("READ").set_queue_ms(3);
       },
       {[](Explained& made) { made.rpc().set_max_slots(3); },
        [](Explained& made) { made.rpc().clear_max_slots(); },
        [](Explained& made) { made.kind("READ").set_round_trip_ms(3.9); }}},
      {"network",
       "network: of 3.84 unanswered requests, server threads were working on 0.2",
       HasQueueOnNetwork,
       {[](Explained& made) { made.server().mutable_nfsd()->set_busy_threads(1); },
        [](Explained& made) { made.server().mutable_nfsd()->clear_busy_threads(); },
        [](Explained& made) { made.report.clear_servers(); },
        [](Explained& made) { made.server().mutable_nfsd()->set_rpcs_per_s(300); },
        [](Explained& made) { made.report.mutable_latency_us()->set_p50(3000); },
        [](Explained& made) { made.report.mutable_latency_us()->set_min(5000); },
        [](Explained& made) { made.report.mutable_latency_us()->set_mean(8000); },
        [](Explained& made) { made.facts.in_flight = 3; },
        [](Explained& made) { made.client(0).set_cpu_percent(80); },
        [](Explained& made) { HasSlowClient(made, 20e6); },
        [](Explained& made) { made.server().set_cpu_busy(0.8); },
        [](Explained& made) { made.kind("READ").set_execute_ms(2); },
        [](Explained& made) {
          for (int i : {0, 1}) made.client(i).mutable_host_delta()->set_seconds(0.9);
        },
        [](Explained& made) {  // one connection each would explain it as well
          HasKnownLinks(made);
          made.kind("READ").set_queue_ms(30);
          made.kind("READ").set_execute_ms(50);
        }}},
      {"network",
       "network: of 3.84 unanswered requests, server threads were working on 0.2",
       [](Explained& made) {  // buffered: 9.9 of 10 s in fsync, while requests wait to be sent
         HasQueueOnNetwork(made);
         made.report.mutable_latency_us()->set_mean(100);
         made.report.mutable_regions_s()->set_ops(0.1);
         made.report.mutable_regions_s()->set_fsync(9.9);
         made.kind("READ").set_queue_ms(30);
         made.kind("READ").set_execute_ms(50);
       },
       {[](Explained& made) { made.kind("READ").set_execute_ms(110); },
        [](Explained& made) { made.kind("READ").set_queue_ms(19); },
        [](Explained& made) { made.report.mutable_regions_s()->set_fsync(8); }}},
      {"one-connection",
       "one connection per client: requests waited to be sent for 60 % of their time",
       [](Explained& made) {
         AddServer(made);
         HasKnownLinks(made);
         made.kind("READ").set_queue_ms(30);
         made.kind("READ").set_execute_ms(50);
       },
       {[](Explained& made) { made.report.clear_servers(); },
        [](Explained& made) { made.client(1).mutable_host_delta()->clear_nics(); },
        [](Explained& made) { made.server().clear_nics(); },
        [](Explained& made) {
          for (int i : {0, 1}) made.client(i).mutable_host_delta()->set_seconds(0.5);
        },
        [](Explained& made) { made.client(0).mutable_nfs_rpc()->set_connections(4); },
        [](Explained& made) { made.rpc().set_in_flight(60); },
        [](Explained& made) { made.rpc().clear_max_slots(); },
        [](Explained& made) { made.rpc().set_backlog(2); },
        [](Explained& made) { made.kind("READ").set_queue_ms(19); },
        [](Explained& made) { made.kind("READ").set_execute_ms(110); },
        [](Explained& made) { made.server().set_problem("lost"); },
        [](Explained& made) { made.server().mutable_nics(0)->set_send_bytes_per_s(80e6); },
        [](Explained& made) { made.client(0).set_cpu_percent(80); }}},
      {"transfer-size",
       "wsize: each WRITE moves only 4 KiB, records have 1 MiB",
       [](Explained& made) {
         made.rpc().mutable_kinds()->clear();
         AddWrites(made, 4000, 2);
         made.rpc().set_wsize_bytes(4096);
         made.rpc().set_write_bytes_per_rpc(4096);
       },
       {[](Explained& made) { made.rpc().set_write_bytes_per_rpc(2048); },
        [](Explained& made) { made.rpc().clear_wsize_bytes(); },
        [](Explained& made) { made.report.set_record_bytes(4096); },
        [](Explained& made) { made.kind("WRITE").set_round_trip_ms(10); },
        [](Explained& made) {
          made.rpc().set_wsize_bytes(128 << 10);
          made.rpc().set_write_bytes_per_rpc(128 << 10);
        },
        [](Explained& made) {
          made.kind("GETATTR").set_rpcs(10'000);
          made.kind("GETATTR").set_execute_ms(2);
        }}},
      {"commit",
       "COMMIT: 1 per WRITE, 75 % of all request time",
       [](Explained& made) {
         made.rpc().mutable_kinds()->clear();
         AddWrites(made, 2000, 1);
         made.kind("COMMIT").set_rpcs(2000);
         made.kind("COMMIT").set_execute_ms(3);
         made.rpc().set_commits_per_write(1);
       },
       {[](Explained& made) { made.rpc().set_commits_per_write(0.05); },
        [](Explained& made) { made.kind("COMMIT").set_execute_ms(0.4); }}},
      {"sync-writes",
       "synchronous writes: for 94 % of the requests in flight, a server thread was waiting for a disk; each WRITE took 5 ms",
       [](Explained& made) {  // 1.92 requests in flight, 2 busy threads, 0.2 of them on a processor
         made.facts.sync_writes = true;
         made.facts.server_processors = {1};
         AddServer(made).mutable_nfsd()->set_threads(2);
         made.rpc().mutable_kinds()->clear();
         AddWrites(made, 4000, 5);
         made.kind("WRITE").set_round_trip_ms(4.8);
         HasFullLanes(made);
       },
       {[](Explained& made) { made.facts.sync_writes = false; },
        [](Explained& made) { made.facts.server_processors = {6}; },
        [](Explained& made) { made.facts.server_processors = {}; },
        [](Explained& made) {  // 1.9 ms: one of the 2 threads may have been on the processor
          made.kind("WRITE").set_rpcs(12'000);
          made.kind("WRITE").set_round_trip_ms(1.9);
        },
        [](Explained& made) { made.server().mutable_nfsd()->set_busy_threads(1); },
        [](Explained& made) { made.server().set_cpu_busy(0.8); },
        [](Explained& made) { made.report.mutable_latency_us()->set_mean(8000); },
        [](Explained& made) { made.kind("LOCK") = made.kind("WRITE"); },
        [](Explained& made) {
          made.kind("COMMIT") = made.kind("WRITE");
          made.rpc().set_commits_per_write(1);
        }}},
      {"flush",
       "flushing: 60 % of the lanes' time in flush calls and close",
       [](Explained& made) {
         made.report.clear_nfs_rpc();
         made.report.mutable_regions_s()->set_fsync(14);
         made.report.mutable_regions_s()->set_close(1);
       },
       {[](Explained& made) { made.report.mutable_regions_s()->set_fsync(8); },
        [](Explained& made) { made.rpc().set_rpcs(10); },
        [](Explained& made) { made.report.set_metadata(true); }}},
      {"locks",
       "locks: 50 % of all request time",
       [](Explained& made) {
         made.kind("LOCK").set_rpcs(4000);
         made.kind("LOCK").set_execute_ms(3);
         made.kind("LOCKU").set_rpcs(4000);
         made.kind("LOCKU").set_execute_ms(2);
       },
       {[](Explained& made) { made.kind("LOCK").set_execute_ms(0.1); },
        [](Explained& made) { made.rpc().set_all_rpcs(15); }}},
      {"one-directory",
       "one directory: 4 lanes change names in it, each waiting 98 % of its time",
       [](Explained& made) {
         AddServer(made).mutable_nfsd()->set_busy_threads(8);  // they wait for the directory's lock
         made.report.set_metadata(true);
         made.report.set_operation("create");
         made.report.mutable_tree()->set_shared_directory(true);
         HasFullLanes(made);
       },
       {[](Explained& made) { made.report.mutable_tree()->set_shared_directory(false); },
        [](Explained& made) { made.report.set_operation("stat"); },
        [](Explained& made) { made.report.clear_servers(); },
        [](Explained& made) { made.server().set_cpu_busy(0.8); },
        [](Explained& made) { made.report.mutable_latency_us()->set_mean(6000); },
        [](Explained& made) { made.report.clear_nfs_rpc(); },
        [](Explained& made) {  // 3.84 requests in flight, of which the server has 2: a slow network
          made.kind("READ").set_round_trip_ms(9.6);
          made.server().mutable_nfsd()->set_busy_threads(2);
        },
        [](Explained& made) { made.report.set_lane_count(1); }}},
      {"cache",
       "the clients' memory: 99 % of the bytes read came from it",
       [](Explained& made) {
         made.report.mutable_read_sources()->set_asked_bytes(1000);
         made.report.mutable_read_sources()->set_cache_bytes(990);
       },
       {[](Explained& made) { made.report.mutable_read_sources()->set_cache_bytes(940); },
        [](Explained& made) { made.report.clear_read_sources(); },
        [](Explained& made) { made.facts.written_bytes = 99'000; }}},  // 1 % of a mix
      {"cache",
       "the clients' memory: 80 % of the bytes written did not leave it",
       [](Explained& made) {
         made.report.set_written_bytes(1000);
         made.report.set_reached_bytes(200);
       },
       {[](Explained& made) { made.report.set_reached_bytes(600); },
        [](Explained& made) { made.report.clear_reached_bytes(); },
        [](Explained& made) {  // 1 % of a mix that reads from the storage
          made.report.mutable_read_sources()->set_asked_bytes(99'000);
        }}},
      {"cache",
       "the clients' memory: 85 % of the bytes read and written came from it or did not leave it",
       [](Explained& made) {  // 3:1, so 0.95 x 3000 + 0.5 x 1000 = 3350 of 4000 are needed
         made.report.mutable_read_sources()->set_asked_bytes(3000);
         made.report.mutable_read_sources()->set_cache_bytes(3000);
         made.report.set_written_bytes(1000);
         made.report.set_reached_bytes(600);
       },
       {[](Explained& made) { made.report.set_reached_bytes(700); },
        [](Explained& made) { made.report.mutable_read_sources()->set_cache_bytes(2900); },
        [](Explained& made) { made.report.clear_reached_bytes(); },
        [](Explained& made) { made.facts.written_bytes = 1200; }}},  // 200 of them direct
      {"data-work",
       "generating and checking data: 40 % of the lanes' time",
       [](Explained& made) { made.report.set_data_s(4); },
       {[](Explained& made) { made.report.set_data_s(2.9); },
        [](Explained& made) { made.report.mutable_regions_s()->set_fsync(5); },
        [](Explained& made) { made.report.mutable_regions_s()->set_ops(0); }}},
      {"slow-client",
       "one client: lab2 at 20 % of the others' rate per lane",
       [](Explained& made) { HasSlowClient(made, 20e6); },
       {[](Explained& made) { HasSlowClient(made, 51e6); },
        [](Explained& made) { made.report.set_measured_ops(79); },
        [](Explained& made) { made.report.mutable_start()->set_skew_percent(20); },
        [](Explained& made) { made.report.set_headline_in_ops(true); },
        [](Explained& made) {  // it has half of the lanes
          HasSlowClient(made, 40e6);
          made.client(1).mutable_workers(0)->mutable_lanes()->RemoveLast();
        },
        [](Explained& made) { made.report.mutable_clients()->DeleteSubrange(0, 1); }}},
      {"slow-target",
       "one storage target: OST0003 at 20 % of the median rate per lane",
       [](Explained& made) { HasSlowTarget(made, 0.2); },
       {[](Explained& made) {
          HasSlowTarget(made, 0.2);
          made.report.mutable_storage_targets(0)->set_slow(false);
        },
        [](Explained& made) {
          HasSlowTarget(made, 0.2);
          made.report.add_marks()->set_code("unflushed");
        }}},
      {"lanes",
       "too few lanes: 4 ops in flight, each taking 9.8 ms, 100 % of a request's time at the server",
       [](Explained& made) {
         HasFullLanes(made);
         AddServer(made);
       },
       {[](Explained& made) { made.report.mutable_latency_us()->set_mean(8000); },
        [](Explained& made) { made.report.mutable_latency_us()->set_mean(12'000); },
        [](Explained& made) { made.report.clear_servers(); },
        [](Explained& made) { made.facts.in_flight = std::nan(""); },
        [](Explained& made) { made.facts.in_flight = 8; },
        [](Explained& made) { made.report.set_engine("null"); },
        [](Explained& made) { made.report.add_marks()->set_code("cached"); },
        [](Explained& made) { made.report.add_marks()->set_code("unflushed"); },
        [](Explained& made) { made.client(0).set_cpu_percent(std::nan("")); },
        [](Explained& made) { made.server().mutable_nfsd()->set_busy_threads(6); },
        [](Explained& made) {
          made.server().mutable_nfsd()->set_busy_threads(0.2);
        },  // a queue on the network
        [](Explained& made) { HasSlowClient(made, 20e6); },
        [](Explained& made) { made.facts.over_time.stalled_share = 0.05; },
        [](Explained& made) {
          made.facts.over_time.first_op_us = 2400;
        },  // found no queue, before the warm-up ended
        [](Explained& made) { made.report.mutable_latency_us()->set_min(2400); },
        [](Explained& made) { made.server().mutable_nfsd()->set_rpcs_per_s(900); },  // 500 of others
        [](Explained& made) { made.server().mutable_nfsd()->clear_busy_threads(); },
        [](Explained& made) { made.server().mutable_nfsd()->set_busy_threads(0.9); },  // 53 % of 1.92 outside
        [](Explained& made) { made.server().set_busiest_processor(0.9); },
        [](Explained& made) { made.server().mutable_disks(0)->set_busy(0.8); }}},
      {"lanes",
       "too few lanes: 1 op in flight, each taking 9.8 ms",
       [](Explained& made) {  // the server's figures are not needed
         HasFullLanes(made);
         HasKnownLinks(made);
         made.facts.in_flight = 1;
         made.report.set_lane_count(1);
         made.report.mutable_latency_us()->set_count(1000);
         made.report.set_lanes_wall_s(10);
       },
       {[](Explained& made) { AddClientMark(made, 0, "cpu_bound", 99); },
        [](Explained& made) { made.client(0).set_cpu_percent(99); },
        [](Explained& made) {  // its link is of unknown speed, and may be full
          made.client(0).mutable_host_delta()->clear_nics();
        },
        [](Explained& made) {  // its link is busy for 60 % of that op
          made.client(0).mutable_host_delta()->mutable_nics(0)->set_rx_bytes(600'000'000);
        },
        [](Explained& made) {  // a large op, for which a link may need all that time
          AddServer(made).mutable_nfsd()->set_busy_threads(0.1);
        },
        [](Explained& made) { made.report.add_changes(); },  // means of two levels are those of neither
        [](Explained& made) { made.facts.in_flight = 2; }}},
  };
  return *kCases;
}

bool Fires(const Explained& made, const std::string& name) {
  for (const LimitRule& rule : LimitRules()) {
    if (name == rule.name) return rule.find(made.report, made.facts, rule.threshold).has_value();
  }
  FAIL("no rule " << name);
  return false;
}

TEST_CASE("each rule fires on its signal and gives evidence") {
  for (const Case& each : AllCases()) {
    INFO(each.name);
    Explained made = NothingFull();
    each.makes(made);
    const std::vector<v1::Limit> limits = Explain(made.report, made.facts);
    REQUIRE_FALSE(limits.empty());
    CHECK(limits[0].name() == each.name);
    CHECK(limits[0].evidence() == each.evidence);
    CHECK_FALSE(limits[0].advice().empty());
    CHECK_FALSE(limits[0].source().empty());
    CHECK(limits[0].strength() > 0);
    CHECK(limits[0].strength() <= 1);
    CHECK(limits.size() == 1);
  }
}

TEST_CASE("no rule fires without one of its conditions") {
  for (const Case& each : AllCases()) {
    for (size_t i = 0; i < each.spoils.size(); ++i) {
      INFO(each.name << ", condition " << i);
      Explained made = NothingFull();
      each.makes(made);
      each.spoils[i](made);
      CHECK_FALSE(Fires(made, each.name));
    }
  }
}

TEST_CASE("every rule has a case") {
  std::set<std::string> names, with_case;
  for (const LimitRule& rule : LimitRules()) CHECK(names.insert(rule.name).second);
  for (const Case& each : AllCases()) with_case.insert(each.name);
  CHECK(names == with_case);
}

TEST_CASE("lanes that always wait are recognised with a warm-up, whose ops have no latency") {
  Explained made = NothingFull();
  HasFullLanes(made);
  AddServer(made);
  REQUIRE(Fires(made, "lanes"));
  made.report.set_lanes_wall_s(60);  // 20 s of them in the warm-up
  CHECK_FALSE(Fires(made, "lanes"));
  made.facts.warmup_lanes_s = 20;
  CHECK(Fires(made, "lanes"));
}

TEST_CASE("clients whose processors are limited in different ways are not added up") {
  Explained made = NothingFull();
  for (const char* host : {"lab3", "lab4"}) {
    v1::ClientPhaseReport client = made.client(0);
    client.set_host(host);
    *made.report.add_clients() = client;
  }
  AddClientMark(made, 0, "cpu_bound", 97);  // a lane
  for (int i : {1, 2, 3}) {
    v1::HostDelta& host = *made.client(i).mutable_host_delta();
    host.set_cpu_user_s(2);
    host.set_cpu_system_s(1);
    host.set_cpu_idle_s(4);
    host.set_cpu_steal_s(3);  // as much as the client used, by cpu_percent
    AddClientMark(made, i, "cpu_bound", 30);
  }
  CHECK_FALSE(Fires(made, "one-processor"));
  CHECK_FALSE(Fires(made, "client-cpu"));
  const std::optional<FoundLimit> stolen = FindByRule("stolen-cpu", made.report, made.facts);
  REQUIRE(stolen.has_value());
  CHECK(stolen->evidence == "CPU time stolen by the hypervisor: lab2 30 % (3 of 4 clients)");
  CHECK(stolen->strength == Approx(0.975));
}

TEST_CASE("the clients' memory is as strong a limit of a mix as its share of all bytes") {
  Explained made = NothingFull();
  made.report.mutable_read_sources()->set_asked_bytes(1000);
  made.report.mutable_read_sources()->set_cache_bytes(1000);
  made.report.set_written_bytes(1000);
  made.report.set_reached_bytes(200);
  made.facts.written_bytes = 1000;
  const std::optional<FoundLimit> found = FindByRule("cache", made.report, made.facts);
  REQUIRE(found.has_value());
  CHECK(found->strength == Approx(0.85 * 0.9));
}

TEST_CASE("the share that stayed in the clients' memory is a lower bound if no counter covers other bytes") {
  Explained made = NothingFull();
  const auto evidence = [&made] {
    const std::optional<FoundLimit> found = FindByRule("cache", made.report, made.facts);
    return found.has_value() ? found->evidence : "none";
  };
  made.report.set_written_bytes(1000);
  made.report.set_reached_bytes(100);
  made.facts.written_bytes = 1001;  // a fraction of a byte per lane is no difference
  CHECK(evidence() == "the clients' memory: 90 % of the bytes written did not leave it");
  made.facts.written_bytes = 1500;
  CHECK(evidence() == "the clients' memory: at least 60 % of the bytes written did not leave it");

  made.report.clear_written_bytes();
  made.report.clear_reached_bytes();
  made.facts.written_bytes = 0;
  made.report.mutable_read_sources()->set_asked_bytes(1000);
  made.report.mutable_read_sources()->set_cache_bytes(960);
  CHECK(evidence() == "the clients' memory: 96 % of the bytes read came from it");
  made.report.mutable_read_sources()->set_unknown_bytes(40);
  CHECK(evidence() == "the clients' memory: at least 96 % of the bytes read came from it");
}

TEST_CASE("flush calls between ops take as much of the lanes' time as those at the end") {
  Explained made = NothingFull();
  made.report.clear_nfs_rpc();
  v1::KindReport& call = (*made.report.mutable_by_kind())["fdatasync"];
  call.mutable_latency_us()->set_count(2400);
  call.mutable_latency_us()->set_mean(10'000);  // 24 s of 4 lanes' 10 s
  const auto found = FindByRule("flush", made.report, made.facts);
  REQUIRE(found.has_value());
  CHECK(found->evidence == "flushing: 60 % of the lanes' time in flush calls and close");
  call.mutable_latency_us()->set_mean(8'000);
  CHECK_FALSE(Fires(made, "flush"));
}

TEST_CASE("a client whose lanes failed is not slow for it") {
  Explained made = NothingFull();
  HasSlowClient(made, 45e6);
  REQUIRE(Fires(made, "slow-client"));
  made.client(1).mutable_workers(0)->mutable_lanes(0)->set_failed(true);
  CHECK_FALSE(Fires(made, "slow-client"));
}

}  // namespace
}  // namespace iobench
