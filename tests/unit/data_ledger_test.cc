#include "coordinator/conduct/data/data_ledger.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

namespace iobench {
namespace {

constexpr uint64_t kLaneBytes = 1 << 20;

// Two workers of one lane each; phases are begun, seen from a worker, and ended.
struct Run {
  v1::Plan plan;
  std::vector<uint32_t> clients = {0, 1};
  std::unique_ptr<Layout> layout;
  std::unique_ptr<DataLedger> ledger;
  v1::Phase phase;
  std::optional<uint64_t> passes;
  uint64_t pass_ops = 0;
  double time_s = 0;
  uint32_t phase_index = 0;
  bool several_sizes = false;
  uint32_t burst_records = 1;

  Run() {
    plan.set_lanes_per_worker(1);
    plan.mutable_files()->set_bytes_per_lane(kLaneBytes);
    plan.mutable_files()->set_files_per_lane(1);
    plan.mutable_data()->set_verify(true);
    plan.add_targets()->set_path("/mnt");
    layout = std::make_unique<Layout>(plan, clients);
    ledger = std::make_unique<DataLedger>(plan, *layout, 77);
  }
  v1::Operation& Begin(const std::string& operation, bool rotate = false, const v1::FileLayout& files = {}) {
    phase.Clear();
    *phase.mutable_files() = files;
    v1::Operation& what = *phase.add_assignments()->mutable_operation();
    what.set_name(operation);
    what.set_engine("posix");
    what.set_record_bytes(4096);
    what.set_rotate_clients(rotate);
    what.set_burst_records(burst_records);
    for (const uint64_t bytes : {4096, 2048}) {
      if (!several_sizes) continue;
      v1::RecordShare& share = *what.add_records();
      share.set_record_bytes(bytes);
      share.set_percent(50);
    }
    phase.mutable_stop()->set_time_s(time_s);
    ledger->Begin(phase);
    return what;
  }
  v1::Prepare SeenBy(uint32_t worker) const {
    v1::Prepare prepare;
    *prepare.mutable_operation() = phase.assignments(0).operation();
    for (const v1::LanePlan& lane :
         layout->LanesOf(worker, phase.assignments(0).operation(), ShapeOf(plan, phase))) {
      *prepare.add_lanes() = lane;
    }
    ledger->Fill(prepare);
    return prepare;
  }
  // "2..3" of the lane's files.
  std::string Range(uint32_t worker = 0) const {
    const v1::Prepare prepare = SeenBy(worker);
    return std::to_string(prepare.lanes(0).data().low()) + ".." +
           std::to_string(prepare.lanes(0).data().high());
  }
  // Both lanes moved `bytes`; `lost`: the first worker sent no result; `failed_writes`: of the first lane.
  void End(uint64_t bytes = kLaneBytes, bool lost = false, uint64_t failed_writes = 0) {
    v1::PhaseRecord record;
    *record.mutable_phase() = phase;
    for (uint32_t worker : {0u, 1u}) {
      v1::WorkerPhaseResult& result = *record.add_workers();
      result.set_worker(worker);
      if (lost && worker == 0) {
        result.set_lost(true);
        continue;
      }
      v1::LaneResult& lane = *result.add_lanes();
      lane.set_lane(worker);
      lane.set_file_owner(layout->LanesOf(worker, phase.assignments(0).operation())[0].file_owner());
      lane.set_bytes(bytes);
      if (passes) {
        lane.set_passes(*passes + worker);  // lane 1 was faster
        lane.set_pass_ops(pass_ops);
        lane.set_bytes_per_pass(kLaneBytes);
      }
      if (worker != 0 || failed_writes == 0) continue;
      v1::ErrorCount& error = *lane.add_errors();
      error.set_kind(v1::OP_WRITE);
      error.set_errno_value(5);
      error.set_count(failed_writes);
    }
    record.set_index(phase_index++);
    ledger->Note(record);
  }
  // The phase looped for 3 s: lane 0 did `whole` passes and `ops` ops of the next one, lane 1 one pass more.
  void Loop(const std::string& operation, uint64_t whole, uint64_t ops, bool lost = false) {
    time_s = 3;
    Begin(operation);
    time_s = 0;
    passes = whole;
    pass_ops = ops;
    End(whole * kLaneBytes + ops * 4096, lost);
    passes.reset();
  }
  const v1::DataState DataOf(uint32_t worker = 0) { return SeenBy(worker).lanes(0).data(); }
  void Whole(const std::string& operation, const v1::FileLayout& files = {}) {
    Begin(operation, /*rotate=*/false, files);
    End();
  }
};

// A phase's own settings.
v1::FileLayout SharedFile(uint64_t bytes_per_lane = kLaneBytes) {
  v1::FileLayout files;
  files.set_shared_file(true);
  files.set_bytes_per_lane(bytes_per_lane);
  return files;
}
v1::FileLayout OfBytes(uint64_t bytes_per_lane) {
  v1::FileLayout files;
  files.set_bytes_per_lane(bytes_per_lane);
  return files;
}

TEST_CASE("of files that grow, a phase can use what every lane has written") {
  Run run;
  v1::Phase& growing = *run.plan.add_phases();
  growing.add_assignments()->mutable_operation()->set_name("write");
  growing.mutable_files()->set_bytes_per_lane(64 * kLaneBytes);
  growing.mutable_stop()->set_time_s(3);
  v1::Phase read;
  read.add_assignments()->mutable_operation()->set_name("read");
  read.mutable_assignments(0)->mutable_operation()->set_engine("posix");
  CHECK(run.ledger->BytesWrittenFor(read) == 0);
  run.time_s = 3;
  run.passes = 0;
  run.Begin("write", /*rotate=*/false, OfBytes(64 * kLaneBytes));
  run.End(3 * kLaneBytes, /*lost=*/true);  // lane 1 has begun a second pass
  CHECK(run.ledger->BytesWrittenFor(read) == 64 * kLaneBytes);
  run.passes.reset();
  run.Begin("write", /*rotate=*/false, OfBytes(64 * kLaneBytes));
  run.End(3 * kLaneBytes);
  CHECK(run.ledger->BytesWrittenFor(read) == 3 * kLaneBytes);
  run.Begin("rewrite", /*rotate=*/false, OfBytes(3 * kLaneBytes));
  CHECK_FALSE(run.ledger->prepares_data());
  run.End(kLaneBytes);
  CHECK(run.ledger->BytesWrittenFor(read) == 3 * kLaneBytes);
}

TEST_CASE("after failed writes, what a lane's files hold is not known until all of them are written again") {
  Run run;
  const auto unacknowledged = [&run](uint32_t worker) {
    return run.SeenBy(worker).lanes(0).data().unacknowledged();
  };
  run.Whole("write");
  run.Begin("rewrite");
  run.End(2 * kLaneBytes, /*lost=*/false,
          /*failed_writes=*/1);  // two passes, so at least the bytes of a whole one
  run.Begin("read");
  CHECK(run.Range(0) == "1..2");
  CHECK(unacknowledged(0));
  CHECK(run.Range(1) == "2..2");
  CHECK_FALSE(unacknowledged(1));
  run.End();
  run.Begin("read");
  CHECK(unacknowledged(0));
  run.End();
  run.Whole("rewrite");
  run.Begin("read");
  CHECK_FALSE(unacknowledged(0));
  CHECK(run.Range(0) == "3..3");
  run.End();
  run.Begin("write");
  run.End(kLaneBytes - 4096, /*lost=*/false, /*failed_writes=*/1);
  run.Begin("read");
  CHECK(unacknowledged(0));  // a new file has a hole there
}

TEST_CASE("each pass has a generation, and the next phase begins after those of all lanes") {
  Run run;
  run.Loop("write", /*whole=*/5, /*ops=*/7);  // generations 1 to 6, and on lane 1 to 7
  run.Begin("read");
  const v1::DataState lane0 = run.DataOf(0), lane1 = run.DataOf(1);
  CHECK(run.Range(0) == "5..6");
  CHECK(run.Range(1) == "6..7");
  CHECK(lane0.last_pass().operation() == "write");
  CHECK(lane0.last_pass().pass() == 5);
  CHECK(lane0.last_pass().ops() == 7);
  CHECK(lane0.last_pass().bytes_per_lane() == kLaneBytes);
  CHECK(lane1.last_pass().pass() == 6);
  CHECK(lane1.last_pass().lane() == 1);
  run.End();
  run.Begin("rewrite");
  CHECK(run.SeenBy(0).stamp().generation() == 8);
  run.End();
  run.Begin("read");
  CHECK(run.Range(0) == "8..8");
  CHECK_FALSE(run.DataOf(0).has_last_pass());
}

TEST_CASE("how far a pass of several record sizes, or of records in a row, came is not known record by record") {
  Run sizes;
  sizes.several_sizes = true;
  sizes.Loop("write", 5, 7);  // 5 whole passes; of the sixth, some sectors
  sizes.Begin("read");
  CHECK(sizes.Range() == "5..6");
  CHECK_FALSE(sizes.DataOf(0).has_last_pass());
  sizes.End();
  sizes.Loop("write", 5, 0);
  sizes.Begin("read");
  CHECK(sizes.DataOf(0).low() == sizes.DataOf(0).high());
  Run bursts;
  bursts.Whole("write");
  bursts.burst_records = 4;
  bursts.Loop("random-write", 1, 3);
  bursts.Begin("read");
  CHECK(bursts.DataOf(0).low() + 1 == bursts.DataOf(0).high());
  CHECK_FALSE(bursts.DataOf(0).has_last_pass());
}

TEST_CASE("a pass of random writes of several sizes leaves places as they were") {
  Run run;
  run.Whole("write");
  run.several_sizes = true;
  run.Loop("random-write", 1, 0);
  run.Begin("read");
  CHECK(run.DataOf(0).low() == 1);
  CHECK(run.DataOf(0).high() > 1);
}

TEST_CASE("a lane that ended between two passes has a single generation") {
  Run run;
  run.Loop("write", 5, 0);
  run.Begin("read");
  CHECK(run.Range(0) == "5..5");
  CHECK(run.Range(1) == "6..6");
  CHECK_FALSE(run.DataOf(0).has_last_pass());
}

TEST_CASE("a first pass over older data that was cut short is known exactly, a second one is not") {
  Run run;
  run.Whole("write");
  run.Loop("rewrite", 0, 3);  // lane 1: a pass and 3 ops
  run.Begin("read");
  CHECK(run.Range(0) == "1..2");
  CHECK(run.DataOf(0).last_pass().operation() == "rewrite");
  CHECK(run.DataOf(0).last_pass().phase() == 1);
  CHECK(run.Range(1) == "2..3");
  run.End();
  run.Loop("random-write", 0, 9);
  run.Begin("read");
  CHECK(run.Range(0) == "1..4");  // any of 1, 2 and 4
  CHECK_FALSE(run.DataOf(0).has_last_pass());
  CHECK(run.Range(1) == "4..5");
  CHECK(run.DataOf(1).last_pass().operation() == "random-write");
}

TEST_CASE("of a lane that was lost in its passes, only what it could have done at most is known") {
  Run run;
  run.Whole("write");
  run.Loop("rewrite", 5, 7, /*lost=*/true);
  run.Begin("read");
  const uint32_t most = run.DataOf(0).high();
  CHECK(run.DataOf(0).low() == 1);
  CHECK(most > 1'000'000);  // 3 s, 256 records
  CHECK_FALSE(run.DataOf(0).has_last_pass());
  CHECK(run.Range(1) == "7..8");
  run.End();
  run.Begin("rewrite");
  CHECK(run.SeenBy(0).stamp().generation() == most + 1);
}

TEST_CASE("passes that write only some records leave any of their generations") {
  Run run;
  run.Whole("write");
  run.Loop("random-mix", 5, 7);
  run.Begin("read");
  CHECK(run.Range(0) == "1..7");
  CHECK_FALSE(run.DataOf(0).has_last_pass());
}

TEST_CASE("kept data know each lane's last pass") {
  Run run;
  run.Loop("random-write", 5, 7);
  v1::Manifest kept;
  *kept.mutable_files() = run.plan.files();
  kept.set_run_id(77);
  kept.set_seed(run.plan.seed());
  run.ledger->Describe(kept);
  REQUIRE(kept.passes().low_size() == 2);

  Run later;
  later.ledger->TakeOver(kept);
  later.Begin("read");
  for (const uint32_t worker : {0u, 1u}) {
    CHECK(later.DataOf(worker).SerializeAsString() == [&] {
      run.Begin("read");
      return run.DataOf(worker).SerializeAsString();
    }());
  }
  later.End();
  v1::Manifest again;
  later.ledger->Describe(again);
  CHECK(again.passes().SerializeAsString() == kept.passes().SerializeAsString());
  later.Whole("rewrite");
  later.ledger->Describe(again);
  CHECK_FALSE(again.has_passes());
  CHECK(again.generation_low() == again.generation_high());
}

TEST_CASE("each phase that writes has a generation of its own, and leaves exactly that") {
  Run run;
  run.Begin("write");
  REQUIRE(run.SeenBy(0).stamp().generation() == 1);
  REQUIRE(run.SeenBy(0).stamp().run_id() == 77);
  REQUIRE(run.SeenBy(0).stamp().unit_bytes() == 512);
  run.End();
  run.Begin("read");
  REQUIRE(run.Range() == "1..1");
  run.End();
  run.Whole("rewrite");
  run.Begin("random-read");
  REQUIRE(run.Range() == "2..2");
  run.End();
  run.Whole("random-write");
  run.Begin("reread");
  REQUIRE(run.Range() == "3..3");
}

TEST_CASE("data are prepared where a phase reads what nobody has written, and once") {
  Run run;
  run.Begin("read");
  REQUIRE(run.ledger->prepares_data());
  run.End();
  run.Begin("random-read");
  REQUIRE_FALSE(run.ledger->prepares_data());
}

TEST_CASE("a phase that reads what earlier phases of the run have written is told how much must be there") {
  Run run;
  const auto written = [&run] { return run.SeenBy(0).lanes(0).written_bytes(); };
  run.Begin("read");
  CHECK(written() == 0);
  run.End();
  run.Begin("reread");
  CHECK(written() == kLaneBytes);  // also what the preparation of a phase has written
  run.End();
  run.Begin("write");
  CHECK(written() == 0);  // it needs nothing
  run.End();
  run.Begin("rewrite");
  CHECK(written() == kLaneBytes);
  run.End();
  run.Begin("read", /*rotate=*/false, OfBytes(2 * kLaneBytes));
  CHECK(written() == kLaneBytes);  // the rest is prepared
  CHECK(run.ledger->prepares_data());
  run.End();
  run.Begin("read", /*rotate=*/false, SharedFile());
  CHECK(written() == 0);  // another file
}

TEST_CASE("a phase that needs only the beginning of the files has only that prepared") {
  Run run;
  run.Begin("read");
  run.phase.mutable_stop()->set_max_ops(3);
  run.ledger->Begin(run.phase);
  CHECK(run.SeenBy(0).needed_bytes() == 3 * 4096);
  run.End();
  run.ledger->Begin(run.phase);
  CHECK_FALSE(run.ledger->prepares_data());
  CHECK(run.SeenBy(0).lanes(0).written_bytes() == 3 * 4096);
  run.End();
  run.Begin("random-read");
  CHECK(run.SeenBy(0).needed_bytes() == 0);
  CHECK(run.SeenBy(0).lanes(0).written_bytes() == 3 * 4096);
  CHECK(run.ledger->prepares_data());
}

TEST_CASE("what the ops of a trace have written is not known to be whole files") {
  Run run;
  run.Begin("write");
  run.phase.mutable_assignments(0)->mutable_operation()->mutable_trace()->set_read_file("/t");
  run.ledger->Begin(run.phase);
  run.End();
  run.Begin("read");
  CHECK(run.SeenBy(0).lanes(0).written_bytes() == 0);
  CHECK(run.ledger->prepares_data());
}

TEST_CASE("after a rewrite that was cut short either generation is right") {
  Run run;
  run.Whole("write");
  run.Begin("rewrite");
  run.End(kLaneBytes / 2);
  run.Begin("read");
  REQUIRE(run.Range() == "1..2");
  run.End();
  run.Whole("rewrite");
  run.Begin("read");
  REQUIRE(run.Range() == "3..3");
}

TEST_CASE("operations that write some records only leave both") {
  for (const char* const operation : {"random-mix", "record-rewrite"}) {
    INFO(operation);
    Run run;
    run.Whole("write");
    run.Begin(operation);
    REQUIRE(run.Range() == "1..2");  // a mix may read what it has written
    run.End();
    run.Begin("read");
    REQUIRE(run.Range() == "1..2");
  }
}

// Worker 0 writes beside worker 1, which reads.
void BeginWriteBesideRead(Run& run) {
  run.phase.Clear();
  for (const uint32_t worker : {0u, 1u}) {
    v1::Assignment& part = *run.phase.add_assignments();
    part.mutable_who()->add_workers(worker);
    v1::Operation& operation = *part.mutable_operation();
    operation.set_name(worker == 0 ? "write" : "read");
    operation.set_engine("posix");
    operation.set_record_bytes(4096);
  }
  run.ledger->Begin(run.phase);
}

TEST_CASE("once a shared file has been removed its readers prepare their data anew") {
  Run run;
  run.plan.mutable_files()->set_shared_file(true);
  BeginWriteBesideRead(run);
  REQUIRE(run.ledger->prepares_data());
  run.End();
  run.ledger->ForgetShared({0});
  BeginWriteBesideRead(run);
  CHECK(run.ledger->prepares_data());
  CHECK(run.Range(1) == "0..0");
  CHECK(run.SeenBy(1).stamp().prefill_generation() == 3);
  run.End();
  run.Begin("read");
  CHECK_FALSE(run.ledger->prepares_data());
  CHECK(run.Range(0) == "4..4");
  CHECK(run.Range(1) == "3..3");
}

TEST_CASE("kept data are forgotten with their shared file") {
  Run run;
  run.plan.mutable_files()->set_shared_file(true);
  v1::Manifest kept;
  kept.mutable_data()->set_verify(true);
  *kept.mutable_files() = run.plan.files();
  kept.set_generation_low(2);
  kept.set_generation_high(2);
  kept.set_unit_bytes(512);
  run.ledger->TakeOver(kept);
  run.Begin("read");
  REQUIRE_FALSE(run.ledger->prepares_data());
  REQUIRE(run.Range() == "2..2");
  run.ledger->ForgetShared({0});
  run.Begin("read");
  CHECK(run.ledger->prepares_data());
  CHECK(run.Range() == "0..0");
}

TEST_CASE("a write that was cut short leaves older data in a shared file that was not removed") {
  Run run;
  run.plan.mutable_files()->set_shared_file(true);
  run.Whole("write");
  run.Begin("write");
  run.End(kLaneBytes / 2);
  run.Begin("read");
  CHECK(run.Range() == "1..2");
  run.End();
  run.ledger->ForgetShared({0});
  run.Begin("write");
  run.End(kLaneBytes / 2);
  run.Begin("read");
  CHECK(run.Range() == "3..3");
}

TEST_CASE("an update of every record is a generation") {
  Run run;
  run.Whole("write");
  run.Begin("update");
  REQUIRE(run.Range() == "1..2");
  run.End();
  run.Begin("read");
  REQUIRE(run.Range() == "2..2");
}

TEST_CASE("what a phase prepares for itself has a generation before its own") {
  Run run;
  run.Begin("rewrite");
  const v1::Prepare prepare = run.SeenBy(0);
  REQUIRE(prepare.stamp().prefill_generation() == 1);
  REQUIRE(prepare.stamp().generation() == 2);
  REQUIRE(run.Range() == "0..2");
  run.End(kLaneBytes / 2);
  run.Begin("read");
  REQUIRE(run.Range() == "1..2");

  Run reading;
  reading.Begin("read");
  REQUIRE(reading.SeenBy(0).stamp().prefill_generation() == 1);
  REQUIRE(reading.Range() == "0..0");
  reading.End();
  reading.Begin("reread");
  REQUIRE(reading.Range() == "1..1");
}

TEST_CASE("a worker that was lost while it wrote leaves its files in doubt, and only its files") {
  Run run;
  run.Whole("write");
  run.Begin("rewrite");
  run.End(kLaneBytes, /*lost=*/true);
  run.Begin("read");
  REQUIRE(run.Range(0) == "1..2");
  REQUIRE(run.Range(1) == "2..2");
}

TEST_CASE("a lane of which nothing is known may have ended before it created its files anew") {
  Run run;
  run.Whole("write");
  run.Begin("write");
  run.End(kLaneBytes, /*lost=*/true);
  v1::Manifest manifest;
  run.ledger->Describe(manifest);
  CHECK(manifest.generation_low() == 1);
  CHECK(manifest.generation_high() == 2);
  run.Begin("read");
  CHECK_FALSE(run.ledger->prepares_data());
  CHECK(run.Range(0) == "1..2");
  CHECK(run.Range(1) == "2..2");
  run.End();
  run.Whole("write");
  run.Begin("read");
  CHECK(run.Range(0) == "3..3");
}

TEST_CASE("a worker that refuses a write may not have created its files anew") {
  Run run;
  run.Whole("write");
  run.Begin("write");
  v1::PhaseRecord record;
  *record.mutable_phase() = run.phase;
  v1::LaneResult& lane = *record.add_workers()->add_lanes();
  lane.mutable_problem()->set_code(13);
  lane.mutable_problem()->set_operation("prepare");
  run.ledger->Note(record);
  run.Begin("read");
  CHECK(run.Range(0) == "1..2");
  CHECK(run.SeenBy(0).lanes(0).data().unacknowledged());  // or they may be empty
}

TEST_CASE("with rotated clients the state is that of the owner's files") {
  Run run;
  run.Whole("write");
  run.Begin("rewrite", /*rotate=*/true);
  v1::PhaseRecord record;
  *record.mutable_phase() = run.phase;
  for (uint32_t worker : {0u, 1u}) {
    v1::WorkerPhaseResult& result = *record.add_workers();
    result.set_worker(worker);
    result.add_lanes()->set_lane(worker);
    result.mutable_lanes(0)->set_bytes(worker == 0 ? kLaneBytes : kLaneBytes / 2);
  }
  run.ledger->Note(record);
  run.Begin("read");
  REQUIRE(run.Range(1) == "2..2");  // worker 0 rewrote all of worker 1's file
  REQUIRE(run.Range(0) == "1..2");
}

TEST_CASE("larger files than before are prepared anew, and may be of either generation") {
  Run run;
  run.Whole("write");
  run.plan.mutable_files()->set_bytes_per_lane(2 * kLaneBytes);
  run.Begin("read");
  REQUIRE(run.SeenBy(0).stamp().prefill_generation() == 2);
  REQUIRE(run.Range() == "1..2");
  run.End();
  run.Begin("reread");
  REQUIRE(run.Range() == "1..2");
}

TEST_CASE("a run on kept data goes on where they end, under the id of their run") {
  Run run;
  run.Whole("write");
  run.Whole("rewrite");
  v1::Manifest manifest;
  run.ledger->Describe(manifest);
  REQUIRE(manifest.data().verify());
  REQUIRE(manifest.generation_low() == 2);
  REQUIRE(manifest.generation_high() == 2);
  REQUIRE(manifest.unit_bytes() == 512);
  manifest.set_run_id(12);
  manifest.set_seed(34);
  *manifest.mutable_files() = run.plan.files();

  Run later;
  later.ledger->TakeOver(manifest);
  later.Begin("read");
  REQUIRE(later.Range() == "2..2");
  REQUIRE(later.SeenBy(0).stamp().run_id() == 12);
  REQUIRE(later.SeenBy(0).stamp().seed() == 34);
  later.End();
  later.Begin("random-write");
  REQUIRE(later.SeenBy(0).stamp().generation() == 3);
  later.End(kLaneBytes / 4);
  later.ledger->Describe(manifest);
  REQUIRE(manifest.generation_low() == 2);
  REQUIRE(manifest.generation_high() == 3);
}

TEST_CASE("a run that writes kept data without --verify says so") {
  v1::Manifest kept;
  kept.mutable_data()->set_verify(true);
  kept.set_generation_low(1);
  kept.set_generation_high(1);
  kept.set_unit_bytes(512);
  Run reads;
  reads.plan.mutable_data()->set_verify(false);
  reads.ledger->TakeOver(kept);
  reads.Whole("read");
  v1::Manifest after;
  reads.ledger->Describe(after);
  REQUIRE(after.data().verify());
  reads.Whole("random-write");
  reads.ledger->Describe(after);
  REQUIRE_FALSE(after.data().verify());
}

TEST_CASE("sectors count from records where these are no multiple of 512") {
  v1::Plan plan;
  v1::Operation& operation = *plan.add_phases()->add_assignments()->mutable_operation();
  operation.set_name("write");
  operation.set_engine("posix");
  for (const auto& [record, unit] : {std::pair{4096u, 512u}, std::pair{512u, 512u}, std::pair{1000u, 1000u},
                                     std::pair{100u, 100u}, std::pair{1u, 1u}}) {
    operation.set_record_bytes(record);
    REQUIRE(SectorUnitBytes(plan) == unit);
  }
}

TEST_CASE("each target has data of its own in phases that select their target") {
  Run run;
  const auto begin = [&run](const char* operation, uint32_t target) {
    run.Begin(operation);
    run.phase.set_only_target(target);
    run.ledger->Begin(run.phase);
  };
  begin("write", 1);
  run.End();
  begin("read", 2);
  REQUIRE(run.ledger->prepares_data());
  REQUIRE(run.Range() == "0..0");
  begin("read", 1);
  REQUIRE_FALSE(run.ledger->prepares_data());
  const std::string first = run.Range();
  begin("write", 2);
  run.End();
  begin("read", 1);
  REQUIRE(run.Range() == first);  // nothing was written there since
  begin("read", 2);
  REQUIRE_FALSE(run.ledger->prepares_data());
  REQUIRE(run.Range() != first);
}

TEST_CASE("what is known of the lanes' own files says nothing about a shared file, and the reverse") {
  Run run;
  run.Whole("write");
  run.Begin("read", /*rotate=*/false, SharedFile());
  CHECK(run.ledger->prepares_data());
  CHECK(run.Range() == "0..0");
  CHECK(run.SeenBy(0).stamp().prefill_generation() == 2);
  run.End();
  run.Begin("read");
  CHECK_FALSE(run.ledger->prepares_data());
  CHECK(run.Range() == "1..1");
  run.End();
  run.ledger->ForgetShared({0});
  run.Begin("write", /*rotate=*/false, SharedFile(kLaneBytes / 2));  // smaller than the lanes' own files
  run.End(kLaneBytes / 2);
  run.Begin("read");
  CHECK_FALSE(run.ledger->prepares_data());
  CHECK(run.Range() == "1..1");
  run.End();
  run.Begin("read", /*rotate=*/false, SharedFile(kLaneBytes / 2));
  CHECK_FALSE(run.ledger->prepares_data());
  CHECK(run.Range() == "3..3");
  run.End();

  Run reversed;
  reversed.Whole("write", SharedFile());
  reversed.Begin("read");
  CHECK(reversed.ledger->prepares_data());
  CHECK(reversed.Range() == "0..0");
}

TEST_CASE("a shared file with records in turn is not known to have what was written in extents") {
  Run run;
  v1::FileLayout in_turn = SharedFile();
  in_turn.set_interleaved(true);
  run.Whole("write", SharedFile());
  run.Begin("read", /*rotate=*/false, in_turn);
  CHECK(run.ledger->prepares_data());
  run.End();
  run.Begin("read", /*rotate=*/false, in_turn);
  CHECK_FALSE(run.ledger->prepares_data());
  run.End();
  run.ledger->ForgetShared({0});
  for (const v1::FileLayout& files : {SharedFile(), in_turn}) {
    run.Begin("read", /*rotate=*/false, files);
    CHECK(run.ledger->prepares_data());
  }
}

TEST_CASE("the shared files of other targets stay when one is removed") {
  Run run;
  run.plan.add_targets()->set_path("/other");  // of worker 1
  run.plan.mutable_files()->set_shared_file(true);
  run.layout = std::make_unique<Layout>(run.plan, run.clients);
  run.ledger = std::make_unique<DataLedger>(run.plan, *run.layout, 77);
  run.Whole("write");
  run.ledger->ForgetShared({1});
  run.Begin("read");
  CHECK(run.ledger->prepares_data());
  CHECK(run.Range(0) == "1..1");
  CHECK(run.Range(1) == "0..0");
}

TEST_CASE("phases with other numbers of files per lane share the first files with each other") {
  Run run;
  v1::FileLayout four;  // a quarter of the bytes in each
  four.set_files_per_lane(4);
  run.Whole("write");
  run.Begin("read", /*rotate=*/false, four);
  CHECK(run.ledger->prepares_data());  // three files do not exist
  CHECK(run.Range() == "1..2");
  run.End();
  run.Begin("read", /*rotate=*/false, four);
  CHECK_FALSE(run.ledger->prepares_data());
  CHECK(run.Range() == "1..2");
  run.End();
  run.Whole("write");  // the first file anew, the other three stay
  run.Begin("read", /*rotate=*/false, four);
  CHECK_FALSE(run.ledger->prepares_data());
  CHECK(run.Range() == "1..3");
  run.End();
  run.Begin("read");
  CHECK(run.Range() == "3..3");
  run.End();
  run.Whole("write", four);
  run.Begin("read");
  CHECK(run.ledger->prepares_data());  // the first file has only a quarter
  CHECK(run.Range() == "3..5");
  run.End();
}

TEST_CASE("a lane accepts what another one prepares in the files that the two share") {
  const bool more_files = GENERATE(true, false);  // false: more of the same file
  Run run;
  run.plan.set_lanes_per_worker(2);
  run.layout = std::make_unique<Layout>(run.plan, run.clients);
  run.ledger = std::make_unique<DataLedger>(run.plan, *run.layout, 77);
  v1::FileLayout four;
  four.set_files_per_lane(4);
  run.Whole("write", more_files ? v1::FileLayout() : OfBytes(kLaneBytes / 2));
  run.Begin("read", /*rotate=*/false, more_files ? four : v1::FileLayout()).set_first_lane_files(true);
  run.ledger->Begin(run.phase);
  const v1::Prepare prepare = run.SeenBy(0);
  REQUIRE(run.ledger->prepares_data());
  REQUIRE(prepare.lanes(1).leaves_prefill());
  CHECK(prepare.lanes(1).data().low() == 1);
  CHECK(prepare.lanes(1).data().high() == prepare.stamp().prefill_generation());
}

TEST_CASE("failed writes leave doubts about all files that they may have reached") {
  Run run;
  v1::FileLayout four;
  four.set_files_per_lane(4);
  run.Whole("write");
  run.Whole("read", four);
  run.Begin("rewrite");
  run.End(kLaneBytes, /*lost=*/false, /*failed_writes=*/1);
  run.Begin("read", /*rotate=*/false, four);
  CHECK(run.SeenBy(0).lanes(0).data().unacknowledged());
  CHECK_FALSE(run.SeenBy(1).lanes(0).data().unacknowledged());
}

TEST_CASE("a phase that writes only the beginning of files leaves the rest as it was") {
  const bool keeps_existing = GENERATE(false, true);
  Run run;
  run.Whole("write");
  run.Begin(keeps_existing ? "write" : "rewrite", /*rotate=*/false, OfBytes(kLaneBytes / 2))
      .set_keep_existing(keeps_existing);
  run.End(kLaneBytes / 2);
  run.Begin("read");
  CHECK_FALSE(run.ledger->prepares_data());
  CHECK(run.Range() == "1..2");
  run.End();
  run.Whole("rewrite");
  run.Begin("read");
  CHECK(run.Range() == "3..3");
}

TEST_CASE("kept data are described by what the plan's own files hold, and by all else that was written") {
  Run run;
  run.Whole("write");
  run.Whole("read", SharedFile());  // which prepares generation 2
  v1::Manifest manifest;
  run.ledger->Describe(manifest);
  CHECK(manifest.generation_low() == 1);
  CHECK(manifest.generation_high() == 2);

  v1::Manifest kept = manifest;
  kept.mutable_data()->set_verify(true);
  *kept.mutable_files() = run.plan.files();
  Run later;
  later.ledger->TakeOver(kept);
  later.Whole("rewrite", SharedFile());  // as many entries as lanes, and none for the plan's files
  later.ledger->Describe(manifest);
  CHECK(manifest.generation_low() == 1);
  CHECK(manifest.generation_high() == 3);
}

}  // namespace
}  // namespace iobench
