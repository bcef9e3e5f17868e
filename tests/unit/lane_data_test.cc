// A lane writes, prepares and checks records whose contents are generated record by record.
#include "worker/lane/lane_data.h"

#include <map>
#include <set>
#include <string>

#include "tests/unit/worker_harness.h"

namespace iobench {
namespace {

constexpr char kFile[] = "cluster-iobench.data/lane-000000.0";

// Phases of one lane on 16 records of 4 KiB, one after the other.
struct Phases {
  TempDir directory;
  WorkerHarness worker;
  uint32_t generation = 0;

  Phases() { worker.ClaimData(directory); }

  v1::Prepare Phase(const std::string& operation, uint32_t low, uint32_t high) {
    v1::Prepare prepare = PhaseOf(operation, 1, directory.path());
    prepare.set_phase_index(++generation);
    prepare.mutable_data()->set_verify(true);
    prepare.mutable_stamp()->set_run_id(WorkerHarness::kRun);
    prepare.mutable_stamp()->set_unit_bytes(512);
    prepare.mutable_stamp()->set_prefill_generation(10 * generation);
    prepare.mutable_stamp()->set_generation(10 * generation + 1);
    prepare.mutable_lanes(0)->mutable_data()->set_low(low);
    prepare.mutable_lanes(0)->mutable_data()->set_high(high);
    return prepare;
  }
  v1::LaneResult Run(const v1::Prepare& prepare) {
    const v1::ResultChunk chunk = worker.RunPhase(prepare);
    INFO(chunk.lanes(0).ShortDebugString());
    REQUIRE(chunk.lanes(0).problem().code() == 0);
    return chunk.lanes(0);
  }
  v1::LaneResult Run(const std::string& operation, uint32_t low = 0, uint32_t high = 0) {
    return Run(Phase(operation, low, high));
  }
  void Overwrite(uint64_t offset, const std::string& bytes) const {
    std::fstream file(directory.path() + "/" + kFile, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << bytes;
    REQUIRE(file.good());
  }
};

std::map<std::string, uint64_t> CountsOf(const v1::LaneResult& lane) {
  return {lane.verify().counts().begin(), lane.verify().counts().end()};
}

TEST_CASE("what a phase has written is read back by the next, sector by sector") {
  Phases phases;
  const v1::LaneResult write = phases.Run("write");
  REQUIRE_FALSE(write.has_verify());
  REQUIRE(write.data_s() > 0);
  REQUIRE(write.tool_s() >= write.data_s());
  REQUIRE(write.pause_s() == 0);
  for (const char* const operation : {"read", "random-read", "backward-read", "stride-read", "pread"}) {
    INFO(operation);
    const v1::LaneResult read = phases.Run(operation, 11, 11);
    REQUIRE(read.verify().sectors() == 16 * 8);
    REQUIRE(read.verify().mismatched() == 0);
    REQUIRE(read.verify().undetermined() == 0);
    REQUIRE(read.data_s() > 0);
  }
}

TEST_CASE("a rewrite is a new generation: what it did not reach is stale") {
  Phases phases;
  phases.Run("write");
  const std::string before = phases.directory.Read(kFile);
  phases.Run("rewrite", 11, 11);
  REQUIRE(phases.Run("read", 21, 21).verify().mismatched() == 0);
  phases.Overwrite(8192, before.substr(8192, 4096));
  const v1::LaneResult read = phases.Run("read", 21, 21);
  REQUIRE(CountsOf(read) == std::map<std::string, uint64_t>{{"stale", 8}});
  REQUIRE(read.verify().first(0).file() == phases.directory.path() + "/" + kFile);
  REQUIRE(read.verify().first(0).offset() == 8192);
  REQUIRE(read.verify().first(0).expected() == "generation 21");
  REQUIRE(read.verify().first(0).found() == "generation 11 by lane 0");
  REQUIRE(phases.Run("read", 11, 21).verify().undetermined() == 128);
}

TEST_CASE("prepared data are verified too, and have a generation of their own") {
  Phases phases;
  const v1::LaneResult read = phases.Run("read");
  REQUIRE(read.verify().sectors() == 128);
  REQUIRE(read.verify().mismatched() == 0);
  REQUIRE(phases.Run("reread", 10, 10).verify().mismatched() == 0);
  REQUIRE(CountsOf(phases.Run("reread", 11, 11)) == std::map<std::string, uint64_t>{{"stale", 128}});
}

TEST_CASE("a mix reads what it may have written itself") {
  Phases phases;
  phases.Run("write");
  v1::Prepare mix = phases.Phase("random-mix", 11, 21);
  mix.mutable_operation()->set_read_percent(50);
  const v1::LaneResult lane = phases.Run(mix);
  REQUIRE(lane.verify().sectors() > 0);
  REQUIRE(lane.verify().sectors() < 128);
  REQUIRE(lane.verify().mismatched() == 0);
  REQUIRE(lane.verify().undetermined() == lane.verify().sectors());
}

TEST_CASE("an update is checked by what it read before it wrote") {
  Phases phases;
  phases.Run("write");
  phases.Overwrite(0, std::string(512, '\0'));
  const v1::LaneResult update = phases.Run("update", 11, 21);
  REQUIRE(CountsOf(update) == std::map<std::string, uint64_t>{{"zeros", 1}});
  REQUIRE(phases.Run("read", 21, 21).verify().mismatched() == 0);
}

TEST_CASE("odd records and vectors of them are verified") {
  for (const uint32_t record : {1u, 40u, 1000u, 4097u}) {
    INFO("record " << record);
    Phases phases;
    const auto run = [&](const char* operation, uint32_t low, uint32_t high) {
      v1::Prepare prepare = phases.Phase(operation, low, high);
      prepare.mutable_operation()->set_record_bytes(record);
      prepare.mutable_stamp()->set_unit_bytes(record);
      prepare.mutable_files()->set_bytes_per_lane(20 * record + record / 2);
      return phases.Run(prepare);
    };
    const uint64_t sectors = 20 * ((record + 511) / 512) + (record / 2 + 511) / 512;
    REQUIRE(run("read", 0, 0).verify().sectors() == sectors);
    for (const char* const write : {"write", "pwritev"}) {
      const uint32_t generation = 10 * (phases.generation + 1) + 1;
      run(write, 0, 0);
      for (const char* const read : {"read", "preadv", "fread"}) {
        INFO(write << ", " << read);
        const v1::LaneResult lane = run(read, generation, generation);
        REQUIRE(lane.verify().sectors() == sectors);
        REQUIRE(lane.verify().mismatched() == 0);
      }
    }
  }
}

TEST_CASE("a lane's extent of a shared file is verified, and a neighbour's data in it are misplaced") {
  Phases phases;
  const auto shared = [&](const char* operation, uint32_t low) {
    v1::Prepare prepare = phases.Phase(operation, low, low);
    prepare.mutable_files()->set_shared_file(true);
    v1::LanePlan& second = *prepare.add_lanes();
    second = prepare.lanes(0);
    second.set_lane(1);
    second.set_file_owner(1);
    second.set_extent_offset_bytes(16 * 4096);
    return phases.worker.RunPhase(prepare);
  };
  shared("write", 0);
  const v1::ResultChunk good = shared("read", 11);
  REQUIRE(good.lanes(0).verify().mismatched() + good.lanes(1).verify().mismatched() == 0);
  const std::string path = phases.directory.path() + "/cluster-iobench.data/shared";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string sector(512, '\0');
  file.read(sector.data(), 512);
  file.seekp(16 * 4096 + 1024);
  file.write(sector.data(), 512);
  file.close();
  const v1::ResultChunk bad = shared("read", 11);
  REQUIRE(bad.lanes(0).verify().mismatched() == 0);
  REQUIRE(CountsOf(bad.lanes(1)) == std::map<std::string, uint64_t>{{"wrong-offset", 1}});
  REQUIRE(bad.lanes(1).verify().first(0).offset() == 16 * 4096 + 1024);
}

TEST_CASE("a pattern is every byte of a file, and every byte is looked at") {
  Phases phases;
  const auto run = [&](const char* operation) {
    v1::Prepare prepare = PhaseOf(operation, 1, phases.directory.path());
    prepare.mutable_data()->set_kind(v1::DataContent::PATTERN);
    prepare.mutable_data()->set_verify(true);
    prepare.mutable_data()->set_pattern_byte('N');
    return phases.Run(prepare);
  };
  run("write");
  REQUIRE(phases.directory.Read(kFile) == std::string(16 * 4096, 'N'));
  REQUIRE(run("random-read").verify().mismatched() == 0);
  phases.Overwrite(5000, "M");
  const v1::LaneResult read = run("read");
  REQUIRE(CountsOf(read) == std::map<std::string, uint64_t>{{"corrupt", 1}});
  REQUIRE(read.verify().first(0).offset() == 5000);
}

TEST_CASE("records that are shared stand in files that were written and in files that were prepared") {
  for (const char* const operation : {"write", "random-write", "read"}) {
    INFO(operation);
    Phases phases;
    v1::Prepare prepare = PhaseOf(operation, 2, phases.directory.path());
    prepare.mutable_data()->set_dedupe_percent(25);
    phases.worker.RunPhase(prepare);
    const std::string first = phases.directory.Read(kFile);
    const std::string second = phases.directory.Read("cluster-iobench.data/lane-000001.0");
    int equal = 0;
    std::set<std::string> contents;
    for (size_t at = 0; at < first.size(); at += 4096) {
      equal += first.compare(at, 4096, second, at, 4096) == 0 ? 1 : 0;
      contents.insert(first.substr(at, 4096));
      contents.insert(second.substr(at, 4096));
    }
    REQUIRE(first.size() == 16 * 4096);
    REQUIRE(equal == 4);
    REQUIRE(contents.size() == 28);
  }
}

TEST_CASE("zeros are zeros, and nothing lies between the ops that write them") {
  Phases phases;
  v1::Prepare prepare = PhaseOf("write", 1, phases.directory.path());
  prepare.mutable_data()->set_kind(v1::DataContent::ZERO);
  const v1::LaneResult write = phases.Run(prepare);
  REQUIRE(phases.directory.Read(kFile) == std::string(16 * 4096, '\0'));
  REQUIRE(write.between_s() == 0);
}

TEST_CASE("repeated data are one record again and again, in each phase and lane another one") {
  Phases phases;
  v1::Prepare prepare = PhaseOf("write", 2, phases.directory.path());
  prepare.mutable_data()->set_kind(v1::DataContent::SAME);
  const v1::LaneResult write = phases.Run(prepare);
  const std::string file = phases.directory.Read(kFile);
  REQUIRE(file.size() == 16 * 4096);
  for (size_t at = 0; at < file.size(); at += 4096) REQUIRE(file.compare(at, 4096, file, 0, 4096) == 0);
  REQUIRE(file.compare(0, 2048, file, 2048, 2048) != 0);
  REQUIRE(phases.directory.Read("cluster-iobench.data/lane-000001.0").compare(0, 4096, file, 0, 4096) != 0);
  REQUIRE(write.between_s() == 0);
}

TEST_CASE("a paced lane says how long it waited, and what it left out") {
  Phases phases;
  v1::Prepare prepare = PhaseOf("write", 1);
  prepare.mutable_operation()->mutable_between()->set_ops_per_s(100);
  const v1::LaneResult paced = phases.Run(prepare);
  REQUIRE(paced.between_s() >= 0.1);  // 15 intervals of 10 ms, less what the ops took on a busy machine
  REQUIRE(paced.pause_s() == 0);
  prepare.mutable_operation()->mutable_between()->set_think_ms(1);
  prepare.mutable_operation()->mutable_between()->clear_ops_per_s();
  const v1::LaneResult thinking = phases.Run(prepare);
  REQUIRE(thinking.pause_s() >= 0.016);
  REQUIRE(thinking.between_s() >= thinking.pause_s());
}

TEST_CASE("only generating data is counted as such, not the waits of an open loop or of a trace") {
  Phases phases;
  v1::Prepare prepare = PhaseOf("write", 1, phases.directory.path());
  prepare.mutable_operation()->set_record_bytes(64 << 10);
  prepare.mutable_files()->set_bytes_per_lane(4 * (64 << 10));
  SECTION("an open loop") {
    prepare.set_arrival_share(1);
    prepare.mutable_operation()->mutable_arrivals()->set_ops_per_s(20);  // due after 0, 50, 100 and 150 ms
    prepare.mutable_operation()->mutable_arrivals()->set_even(true);
    const v1::LaneResult lane = phases.Run(prepare);
    CHECK(lane.between_s() >= 0.1);
    CHECK(lane.data_s() > 0);
    CHECK(lane.data_s() < lane.between_s() / 4);
  }
  SECTION("a trace that is written") {
    prepare.mutable_operation()->mutable_trace()->set_write_file(phases.directory.path() + "/trace");
    const v1::LaneResult lane = phases.Run(prepare);
    CHECK(lane.data_s() > 0);
    CHECK(lane.data_s() <= lane.between_s());
  }
}

TEST_CASE("what a stopped lane writes after its timed part is made for verification, too") {
  Phases phases;
  v1::Prepare prepare = phases.Phase("write", 0, 0);
  prepare.mutable_operation()->mutable_between()->set_ops_per_s(10);
  phases.worker.Prepare(prepare);
  REQUIRE_FALSE(phases.worker.ArmIn(5'000'000).late());
  while (phases.worker.Now() < phases.worker.start() + 25'000'000) {
  }
  phases.worker.Stop();
  phases.worker.WaitDone();
  const v1::ResultChunk chunk = phases.worker.Collect();
  REQUIRE(chunk.lanes(0).region_ops() < 16);
  REQUIRE(chunk.lanes(0).ops() == 16);
  REQUIRE(phases.Run("read", 11, 11).verify().mismatched() == 0);
}

}  // namespace
}  // namespace iobench
