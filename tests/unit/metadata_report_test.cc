// Phases of metadata operations are reported in ops/s throughout.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "coordinator/analysis/across/repeat.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// A lane's ops of one kind; they move no data.
v1::PhaseReport ReportOf(PhaseScript& script, v1::OpKind kind) {
  v1::PhaseRecord record = script.Record();
  for (v1::WorkerPhaseResult& worker : *record.mutable_workers()) {
    for (v1::LaneResult& lane : *worker.mutable_lanes()) {
      for (v1::KindResult& of_kind : *lane.mutable_kinds()) of_kind.set_kind(kind);
    }
  }
  return SummarizePhase(script.Run(), record);
}

PhaseScript ScriptOf(const char* operation, uint32_t lanes_per_worker = 1) {
  PhaseScript script(operation, lanes_per_worker);
  script.operation().set_engine("metadata");
  script.operation().mutable_tree()->set_items_per_lane(1000);
  return script;
}

std::set<std::string> CodesOf(const v1::PhaseReport& report) {
  std::set<std::string> codes;
  for (const v1::Mark& mark : report.marks()) codes.insert(mark.code());
  return codes;
}

// What an NFS client counted in the phase.
void Asked(WorkerScript& worker, const std::map<std::string, uint64_t>& requests) {
  v1::TargetFacts& target = *worker.targets.mutable_targets(0);
  target.set_filesystem("nfs4");
  target.set_filesystem_id("server:/export");
  worker.host.set_seconds(10);
  v1::NfsDelta& nfs = (*worker.host.mutable_nfs())[0];
  for (const auto& [name, count] : requests) (*nfs.mutable_ops())[name].set_ops(count);
}

TEST_CASE("the headline of metadata operations is ops per second, and stragglers cost ops") {
  // 1000 ops in 10 s and in 20 s: at the stonewall 1000 + 500, so 150 ops/s; in full 2000 in 20 s, so 100.
  PhaseScript script = ScriptOf("stat", 2);
  script.Lane(0).Moves(0).InOps(1000).EndsAt(10_s);
  script.Lane(1).Moves(0).InOps(1000).EndsAt(20_s);
  const v1::PhaseReport report = ReportOf(script, v1::OP_STAT);
  REQUIRE(report.metadata());
  REQUIRE(report.tree().items_per_lane() == 1000);
  REQUIRE(report.headline().ops_per_s() == Approx(150));
  REQUIRE(report.headline().bytes_per_s() == 0);
  REQUIRE(report.throughput_ops_per_s().full() == Approx(100));
  REQUIRE(report.straggler_cost() == Approx(1 - 100.0 / 150));
  REQUIRE(report.measured_ops() == 1500);
  REQUIRE(report.stonewall().ops_low() <= 1500);
  REQUIRE(report.stonewall().ops_high() >= 1500);
  REQUIRE(report.lanes_ops_per_s().mean() == Approx(75));
  REQUIRE(report.lanes_ops_per_s().max() == Approx(100));
  REQUIRE(report.stragglers_size() == 1);
  REQUIRE(report.stragglers(0).find("50 ops/s") != std::string::npos);
  REQUIRE(report.by_kind().at("stat").ops() == 2000);
  REQUIRE(report.by_kind().size() == 1);
  REQUIRE(report.latency_us().count() == 2000);
}

TEST_CASE("clients, workers and lanes have their ops and their shares of them") {
  PhaseScript script = ScriptOf("create");
  script.Worker(1).RunsOn("node2", "boot2").HasClock(0, 0);
  script.Lane(0).Moves(0).InOps(3000).EndsAt(10_s);
  script.Lane(1).Moves(0).InOps(1000).EndsAt(10_s);
  const v1::PhaseReport report = ReportOf(script, v1::OP_CREATE);
  REQUIRE(report.clients_size() == 2);
  REQUIRE(report.clients(0).ops_per_s() == Approx(300));
  REQUIRE(report.clients(1).ops_per_s() == Approx(100));
  REQUIRE(report.clients(0).share_of_mean() == Approx(1.5));
  REQUIRE(report.clients(1).ops() == 1000);
  REQUIRE(report.clients(1).measured_ops() == 1000);
  REQUIRE(report.clients(0).workers(0).ops_per_s() == Approx(300));
  REQUIRE(report.clients(0).workers(0).lanes(0).ops_per_s() == Approx(300));
  REQUIRE(report.clients(0).workers(0).lanes(0).measured_ops() == 3000);
}

TEST_CASE("marks of data are not set on names") {
  PhaseScript script = ScriptOf("create");
  script.operation().mutable_tree()->set_file_bytes(3901);
  script.Lane(0).Moves(3901 * 1000).InOps(1000).EndsAt(10_s);
  REQUIRE(CodesOf(ReportOf(script, v1::OP_CREATE)).empty());
}

TEST_CASE("a phase that was too short says what would make it longer") {
  PhaseScript once = ScriptOf("create");
  once.Lane(0).Moves(0).InOps(1000).EndsAt(0.5);
  REQUIRE(ReportOf(once, v1::OP_CREATE).marks(0).text().find("use more --items") != std::string::npos);
  REQUIRE(ReportOf(once, v1::OP_CREATE).marks(0).text().find("--time") == std::string::npos);
  PhaseScript again = ScriptOf("stat");
  again.Lane(0).Moves(0).InOps(1000).EndsAt(0.5);
  REQUIRE(ReportOf(again, v1::OP_STAT).marks(0).text().find("or --time 30") != std::string::npos);
}

TEST_CASE("ops that the server did not see are marked as answered by the client") {
  const struct {
    const char* operation;
    v1::OpKind kind;
    std::map<std::string, uint64_t> requests;
    bool marked;
  } cases[] = {
      {"stat", v1::OP_STAT, {{"LOOKUP", 1000}}, false},
      {"stat", v1::OP_STAT, {{"LOOKUP", 600}, {"GETATTR", 400}}, false},
      {"stat", v1::OP_STAT, {{"LOOKUP", 100}, {"READ", 5000}}, true},
      {"stat", v1::OP_STAT, {{"LOOKUP", 951}}, false},  // within 5 %
      {"stat", v1::OP_STAT, {{"LOOKUP", 940}}, true},
      {"stat", v1::OP_STAT, {}, true},
      {"open-close", v1::OP_OPEN_CLOSE, {{"OPEN", 1000}, {"CLOSE", 1000}}, false},
      {"open-close", v1::OP_OPEN_CLOSE, {{"OPEN_NOATTR", 10}}, true},
      {"readdir", v1::OP_READDIR, {{"READDIRPLUS", 1000}}, false},
      {"readdir", v1::OP_READDIR, {{"GETATTR", 1000}}, true},
      {"get-xattr", v1::OP_GET_XATTR, {{"GETXATTR", 1000}}, false},
      {"readlink", v1::OP_READLINK, {{"READLINK", 1000}}, false},
      {"readlink", v1::OP_READLINK, {{"LOOKUP", 1000}}, true},
      {"list-long", v1::OP_LIST_LONG, {{"READDIR", 1000}}, false},
      {"list-long", v1::OP_LIST_LONG, {{"LOOKUP", 1000}}, true},
      {"chown", v1::OP_CHOWN, {}, false},
      {"unlink", v1::OP_UNLINK, {}, false},  // always reaches the server
      {"create", v1::OP_CREATE, {}, false},
  };
  for (const auto& one : cases) {
    INFO(one.operation);
    PhaseScript script = ScriptOf(one.operation);
    script.Lane(0).Moves(0).InOps(1000).EndsAt(10_s);
    Asked(script.Worker(0), one.requests);
    const v1::PhaseReport report = ReportOf(script, one.kind);
    REQUIRE(CodesOf(report).contains("cached") == one.marked);
    if (!one.marked) continue;
    REQUIRE(report.clients(0).marks(0).subject() == "node1");
    REQUIRE(report.clients(0).marks(0).text().find("--rotate-clients") != std::string::npos);
  }
}

TEST_CASE("copies that the client made itself are marked, as far as it has counters") {
  const auto codes = [](const char* operation, v1::OpKind kind, const std::map<std::string, uint64_t>& requests, bool on_nfs = true) {
    PhaseScript script = ScriptOf(operation);
    script.operation().mutable_tree()->set_file_bytes(4096);
    script.Lane(0).Moves(4096 * 1000).InOps(1000).EndsAt(10_s);
    if (on_nfs) Asked(script.Worker(0), requests);
    return CodesOf(ReportOf(script, kind));
  };
  CHECK(codes("copy-range", v1::OP_COPY_RANGE, {{"READ", 1000}, {"WRITE", 1000}}).contains("not_offloaded"));
  CHECK(codes("copy-range", v1::OP_COPY_RANGE, {{"COPY", 940}, {"WRITE", 60}}).contains("not_offloaded"));
  CHECK_FALSE(codes("copy-range", v1::OP_COPY_RANGE, {{"COPY", 951}}).contains("not_offloaded"));
  CHECK_FALSE(codes("copy-range", v1::OP_COPY_RANGE, {{"COPY", 1000}}).contains("not_offloaded"));
  CHECK_FALSE(codes("copy-range", v1::OP_COPY_RANGE, {}, /*on_nfs=*/false).contains("not_offloaded"));
  CHECK_FALSE(codes("copy", v1::OP_COPY, {{"READ", 1000}, {"WRITE", 1000}}).contains("not_offloaded"));
}

TEST_CASE("what find finds is summed over its lanes, and nothing is marked") {
  PhaseScript script = ScriptOf("find", 2);
  script.Lane(0).Moves(0).InOps(1000).EndsAt(10_s);
  script.Lane(1).Moves(0).InOps(1000).EndsAt(10_s);
  v1::PhaseRecord record = script.Record();
  const v1::PhaseReport nothing = SummarizePhase(script.Run(), record);
  REQUIRE(nothing.has_found_items());
  REQUIRE(nothing.found_items() == 0);
  REQUIRE(CodesOf(nothing).contains("nothing_found"));
  record.mutable_workers(0)->mutable_lanes(0)->set_found_items(7);
  record.mutable_workers(0)->mutable_lanes(1)->set_found_items(5);
  const v1::PhaseReport found = SummarizePhase(script.Run(), record);
  REQUIRE(found.found_items() == 12);
  REQUIRE(found.clients(0).workers(0).lanes(1).found_items() == 5);
  REQUIRE_FALSE(CodesOf(found).contains("nothing_found"));
  PhaseScript other = ScriptOf("stat");
  other.Lane(0).Moves(0).InOps(1000).EndsAt(10_s);
  REQUIRE_FALSE(ReportOf(other, v1::OP_STAT).has_found_items());
}

TEST_CASE("where the client's counters are not there nothing is marked") {
  PhaseScript script = ScriptOf("stat");
  script.Lane(0).Moves(0).InOps(1000).EndsAt(10_s);
  Asked(script.Worker(0), {});
  script.Worker(0).host.clear_nfs();
  REQUIRE_FALSE(CodesOf(ReportOf(script, v1::OP_STAT)).contains("cached"));
  PhaseScript local = ScriptOf("stat");
  local.Lane(0).Moves(0).InOps(1000).EndsAt(10_s);
  REQUIRE_FALSE(CodesOf(ReportOf(local, v1::OP_STAT)).contains("cached"));
}

TEST_CASE("seeks are in ops per second too, but move data") {
  // 1000 ops in 10 s and in 20 s: at the stonewall 1000 + 500, so 150 ops/s; in full 2000 in 20 s, so 100. In bytes,
  // the stragglers would cost another share.
  PhaseScript script("seeks", 2);
  script.Lane(0).Moves(1_MiB).InOps(1000).EndsAt(10_s);
  script.Lane(1).Moves(100_MiB).InOps(1000).EndsAt(20_s);
  const v1::PhaseReport report = ReportOf(script, v1::OP_UPDATE);
  REQUIRE(report.headline_in_ops());
  REQUIRE_FALSE(report.metadata());
  REQUIRE(report.headline().ops_per_s() == Approx(150));
  REQUIRE(report.straggler_cost() == Approx(1.0 / 3));
  REQUIRE(report.stragglers_size() == 1);  // 50 of 75 ops/s
  REQUIRE(report.stragglers(0).find("lane 1: 50 ops/s, 33 % under the median") != std::string::npos);
  REQUIRE(SummarizeRepetitions(std::vector<v1::PhaseReport>{report, report})[0].median() == Approx(150));
  PhaseScript reads("random-read");
  reads.Lane(0).Moves(1_MiB).InOps(1000).EndsAt(10_s);
  REQUIRE_FALSE(ReportOf(reads, v1::OP_READ).headline_in_ops());
}

TEST_CASE("repetitions of metadata operations are in ops per second") {
  std::vector<v1::PhaseReport> phases;
  for (const uint64_t ops : {1000, 3000, 2000}) {
    PhaseScript script = ScriptOf("stat");
    script.Lane(0).Moves(0).InOps(ops).EndsAt(10_s);
    phases.push_back(ReportOf(script, v1::OP_STAT));
  }
  const auto repetitions = SummarizeRepetitions(phases);
  REQUIRE(repetitions.size() == 1);
  REQUIRE(repetitions[0].metadata());
  REQUIRE(repetitions[0].median() == Approx(200));
  REQUIRE(repetitions[0].max() == Approx(300));
}

}  // namespace
}  // namespace iobench
