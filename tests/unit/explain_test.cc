// Which of several limits is reported, and when none is.
#include "coordinator/analysis/explain/explain.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "tests/unit/explained_phase.h"

namespace iobench {
namespace {

TEST_CASE("if nothing is full, the limit is unknown") {
  CHECK(LimitNames(NothingFull()).empty());
  CHECK(Explain(v1::PhaseReport(), ExplainFacts()).empty());
  Explained watched = NothingFull();
  AddServer(watched);
  CHECK(LimitNames(watched).empty());
}

TEST_CASE("a phase has two limits at most, the strongest first") {
  Explained made = NothingFull();
  made.report.set_data_s(4);             // 0.4
  HasSlowClient(made, 10e6);             // 0.6 x 0.9
  AddServer(made).set_cpu_busy(0.95);    // 0.95
  CHECK(LimitNames(made) == std::vector<std::string>{"server-cpu", "slow-client"});
  made.report.mutable_headline()->set_name("full");  // 0.9
  made.server().set_cpu_busy(0.1);
  CHECK(LimitNames(made) == std::vector<std::string>{"slow-client", "data-work"});
}

TEST_CASE("a pace that was kept is the only limit") {
  Explained made = NothingFull();
  AddServer(made).set_cpu_busy(0.99);
  made.facts.all_paced = true;
  made.report.set_paced_ops_per_s(100);
  CHECK(LimitNames(made) == std::vector<std::string>{"pace"});
}

TEST_CASE("so is a rate, unless the lanes could not keep up with it") {
  Explained made = NothingFull();
  AddServer(made).set_cpu_busy(0.99);
  made.facts.all_paced = true;
  made.report.mutable_open_loop()->set_done_percent(100);
  CHECK(LimitNames(made) == std::vector<std::string>{"pace"});
  made.report.add_marks()->set_code("generator_bound");
  CHECK(LimitNames(made) == std::vector<std::string>{"server-cpu"});
}

TEST_CASE("a full disk explains its busy nfsd threads") {
  Explained made = NothingFull();
  AddServer(made).mutable_disks(0)->set_busy(1);
  made.server().mutable_disks(0)->set_queue(8);
  made.server().mutable_nfsd()->set_busy_threads(8);
  CHECK(LimitNames(made) == std::vector<std::string>{"server-disk"});
}

TEST_CASE("client processors that others use limit no ops that a server works on") {
  Explained made = NothingFull();
  HasFullLanes(made);  // 3.92 ops in flight
  AddServer(made).mutable_nfsd()->set_busy_threads(2);
  made.client(1).set_cpu_percent(98);
  made.client(1).set_own_cpu_percent(40);
  AddClientMark(made, 1, "cpu_bound", 98);
  CHECK(LimitNames(made).empty());
  made.client(1).set_own_cpu_percent(50);
  CHECK(LimitNames(made) == std::vector<std::string>{"client-cpu"});
  made.client(1).set_own_cpu_percent(40);
  made.server().mutable_nfsd()->set_busy_threads(1.9);
  CHECK(LimitNames(made) == std::vector<std::string>{"client-cpu"});
}

TEST_CASE("short synchronous writes need a disk that is busy") {
  Explained made = NothingFull();
  HasFullLanes(made);
  AddServer(made).mutable_nfsd()->set_busy_threads(6.5);  // of 8: no spare capacity, so that lanes are not reported
  made.facts.sync_writes = true;
  made.facts.server_processors = {4};
  made.rpc().mutable_kinds()->clear();
  AddWrites(made, 20'000, 1.9);
  made.kind("WRITE").set_round_trip_ms(1.9);  // 3.8 in flight, 2.5 of them with a thread that did not run
  made.server().mutable_disks(0)->set_busy(0.3);
  CHECK(LimitNames(made) == std::vector<std::string>{"sync-writes"});
  made.server().mutable_disks(0)->set_busy(0.29);
  CHECK(LimitNames(made).empty());
}

TEST_CASE("a copy from memory comes before the processors that it fills, and before its cause") {
  Explained made = NothingFull();
  HasFullLanes(made);
  made.report.mutable_read_sources()->set_asked_bytes(1000);
  made.report.mutable_read_sources()->set_cache_bytes(1000);
  for (int i : {0, 1}) {
    made.client(i).set_cpu_percent(98);
    AddClientMark(made, i, "cpu_bound", 98);
  }
  CHECK(LimitNames(made) == std::vector<std::string>{"memory-copy", "client-cpu"});
}

TEST_CASE("a slow path with nobody in the queue is a matter of lanes if TCP says that the path is long") {
  Explained made = NothingFull();
  HasQueueOnNetwork(made);
  made.report.mutable_latency_us()->set_min(9000);  // no op is much faster than the mean of 9.8 ms
  CHECK(LimitNames(made).empty());                  // a full path whose queue was there from the beginning looks the same
  HasRoundTrips(made, 9);
  CHECK(LimitNames(made) == std::vector<std::string>{"network-delay", "lanes"});
  HasRoundTrips(made, 0.5);
  CHECK(LimitNames(made) == std::vector<std::string>{"network"});
}

TEST_CASE("few but long requests tell as much as many short ones") {
  Explained made = NothingFull();
  made.rpc().set_backlog(3);
  made.rpc().set_max_slots(2);
  made.rpc().set_all_rpcs(40);
  made.kind("READ").set_rpcs(40);
  made.kind("READ").set_round_trip_ms(480);
  made.kind("READ").set_queue_ms(300);
  made.kind("READ").set_execute_ms(780);
  CHECK(LimitNames(made) == std::vector<std::string>{"slots"});
  made.kind("READ").set_round_trip_ms(6);
  made.kind("READ").set_queue_ms(3);
  made.kind("READ").set_execute_ms(9);
  CHECK(LimitNames(made).empty());
}

TEST_CASE("client processors that others use are named so") {
  Explained made = NothingFull();
  made.client(1).set_cpu_percent(98);
  made.client(1).set_own_cpu_percent(40);
  AddClientMark(made, 1, "cpu_bound", 98);
  CHECK(Explain(made.report, made.facts)[0].evidence() ==
        "client CPU, used mostly by others: lab2 98 % (1 of 2 clients)");
}

}  // namespace
}  // namespace iobench
