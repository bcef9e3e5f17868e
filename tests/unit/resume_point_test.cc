// Where a saved run can be resumed. tests/cluster/test_resume.py does it with the program.
#include "coordinator/saved_run/resume_point.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "coordinator/report/result_store.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

using Catch::Contains;

constexpr char kHere[] = "1.0+abc";

// A plan of two phases, twice; a test changes the run and the phases that are saved.
struct Saved {
  Saved() {
    run.set_run_number(77);
    run.set_program_version("1.0+abc");
    run.mutable_plan()->add_phases();
    run.mutable_plan()->add_phases();
    run.mutable_plan()->set_repetitions(2);
    phases.resize(2);
  }

  absl::StatusOr<ResumePoint> Find() {
    auto store = ResultStore::Create(directory, ResultStore::EarlierResult::kReplace);
    REQUIRE(store.ok());
    REQUIRE(store->RemoveEarlier().ok());
    REQUIRE(store->SaveRun(run).ok());
    for (size_t i = 0; i < phases.size(); ++i) {
      phases[i].set_index(static_cast<uint32_t>(i));
      REQUIRE(store->SavePhase(phases[i], 77).ok());
    }
    return FindResumePoint(directory, kHere);
  }
  std::string Refusal() {
    const auto found = Find();
    return found.ok() ? "" : std::string(found.status().message());
  }
  void Ended(int exit_code) {
    run.set_finished(true);
    run.set_exit_code(exit_code);
  }

  const TempDir temporary;
  const std::string directory = temporary.path();
  v1::RunRecord run;
  std::vector<v1::PhaseRecord> phases;
};

TEST_CASE("a run that was cut off goes on with the phase that is not there") {
  Saved saved;
  const auto point = saved.Find();
  REQUIRE(point.ok());
  CHECK(point->part.first_phase == 2);
  CHECK(point->part.begun_before);
  CHECK(point->crashed);
  CHECK_FALSE(point->complete);
  CHECK_THAT(point->ended_by, Contains("killed"));
  saved.phases.clear();
  CHECK(saved.Find()->part.first_phase == 0);
}

TEST_CASE(
    "the last phase is run again if it was interrupted, or lost or refused a worker; earlier ones are not") {
  Saved saved;
  saved.Ended(130);
  saved.phases[0].add_workers()->set_lost(true);
  CHECK(saved.Find()->part.first_phase == 2);
  CHECK_FALSE(saved.Find()->part.begun_before);
  CHECK(saved.Find()->ended_by == "it was interrupted");
  SECTION("interrupted") {
    saved.phases[1].set_interrupted(true);
  }
  SECTION("lost") {
    saved.phases[1].add_workers()->set_lost(true);
  }
  SECTION("refused") {
    saved.phases[1].add_workers()->set_refused_reason("impossible");
  }
  CHECK(saved.Find()->part.first_phase == 1);
  CHECK(saved.Find()->part.begun_before);
  CHECK_FALSE(saved.Find()->crashed);
}

TEST_CASE("a run is complete if it has ended and all phases were run, whatever they lost") {
  Saved saved;
  saved.phases.resize(4);
  CHECK_FALSE(saved.Find()->complete);  // it was cut off while it cleaned up
  CHECK(saved.Find()->part.first_phase == 4);
  saved.Ended(3);
  saved.phases[3].add_workers()->set_lost(true);
  CHECK(saved.Find()->complete);
  saved.phases[3].set_interrupted(true);
  CHECK_FALSE(saved.Find()->complete);
  CHECK(saved.Find()->part.first_phase == 3);
}

TEST_CASE("a repeated phase that --max-duration had shortened is told from others of its name") {
  Saved saved;
  saved.Ended(3);
  saved.run.mutable_plan()->mutable_phases(1)->mutable_stop()->set_time_s(10);
  v1::PhaseRecord& last = saved.phases[1];
  last.add_workers()->set_lost(true);
  last.mutable_phase()->mutable_stop()->set_time_s(10);
  CHECK_FALSE(saved.Find()->repeats_shortened);
  last.mutable_phase()->mutable_stop()->set_time_s(4);
  CHECK(saved.Find()->repeats_shortened);
  last.set_interrupted(true);  // so it was not noted as shortened
  CHECK_FALSE(saved.Find()->repeats_shortened);
}

TEST_CASE("a run that reached its --max-duration ended because of it") {
  Saved saved;
  saved.Ended(0);
  saved.run.add_skipped_phases("reread");
  CHECK(saved.Find()->part.first_phase == 2);
  CHECK(saved.Find()->ended_by == "it reached its --max-duration");
}

TEST_CASE("another version is refused by name") {
  Saved saved;
  saved.run.set_program_version("1.0+def");
  CHECK_THAT(saved.Refusal(), Contains("1.0+def") && Contains("1.0+abc"));
}

TEST_CASE("a phase whose raw file is missing or damaged is measured again, and the whole ones after it are kept") {
  Saved saved;
  saved.phases.resize(4);
  saved.Ended(0);
  saved.run.set_phase_count(4);
  CHECK(saved.Find()->complete);
  const std::string raw = saved.directory + "/raw/";
  std::filesystem::remove(raw + "phase-001.pb");
  std::filesystem::resize_file(raw + "phase-002.pb", 10);
  const auto point = FindResumePoint(saved.directory, kHere);
  REQUIRE(point.ok());
  CHECK_FALSE(point->complete);
  CHECK(point->part.again == std::vector<uint32_t>{1, 2});
  CHECK(point->part.first_phase == 4);
  CHECK(point->part.first() == 1);
  REQUIRE(point->damaged.size() == 2);
  CHECK_THAT(point->damaged[0], Contains("phase-001.pb: missing (phase 2)"));
  CHECK_THAT(point->damaged[1], Contains("phase-002.pb: truncated"));
}

TEST_CASE("a damaged file at the end is measured again with those that follow") {
  Saved saved;
  saved.Ended(130);
  saved.run.set_phase_count(2);
  REQUIRE(saved.Find().ok());
  std::filesystem::resize_file(saved.directory + "/raw/phase-001.pb", 10);
  const auto point = FindResumePoint(saved.directory, kHere);
  REQUIRE(point.ok());
  CHECK(point->part.first_phase == 1);
  CHECK(point->part.again.empty());
  CHECK(point->part.begun_before);
  CHECK(point->damaged.size() == 1);
}

TEST_CASE("a phase that was measured again, but not to its end, is measured once more") {
  Saved saved;
  saved.phases.resize(3);
  saved.phases[0].set_interrupted(true);
  CHECK(saved.Find()->part.again == std::vector<uint32_t>{0});
}

TEST_CASE("without run.pb, nobody knows what the run was") {
  Saved saved;
  REQUIRE(saved.Find().ok());
  std::filesystem::resize_file(saved.directory + "/raw/run.pb", 10);
  CHECK_THAT(std::string(FindResumePoint(saved.directory, kHere).status().message()), Contains("run.pb"));
}

TEST_CASE("raw files that change after they were read are noticed") {
  Saved saved;
  const auto point = saved.Find();
  REQUIRE(point.ok());
  CHECK(CheckUnchanged(*point).ok());
  std::filesystem::remove(saved.directory + "/raw/phase-001.pb");
  CHECK_THAT(std::string(CheckUnchanged(*point).message()), Contains("have changed"));
}

TEST_CASE("a run goes on without a client of its own, but not without all") {
  Saved saved;
  for (const char* const host : {"a", "b", "b", "c"}) {
    v1::WorkerFacts& worker = *saved.run.add_workers();
    worker.set_host(host);
    worker.set_boot_id(host);
  }
  auto point = saved.Find();
  REQUIRE(point.ok());
  CHECK_THAT(std::string(LeaveOutClients({"d"}, *point).message()), Contains("no such client") && Contains("a, b, c"));
  point = saved.Find();
  CHECK_THAT(std::string(LeaveOutClients({"a", "b", "c"}, *point).message()), Contains("would leave no client"));
  point = saved.Find();
  REQUIRE(LeaveOutClients({"b"}, *point).ok());
  CHECK(point->absent_workers == std::vector<uint32_t>{1, 2});
}

TEST_CASE("a phase that ran without a client on purpose is finished") {
  Saved saved;
  for (const char* const host : {"a", "b"}) {
    saved.run.add_workers()->set_host(host);
    saved.run.mutable_workers()->rbegin()->set_boot_id(host);
  }
  saved.Ended(130);
  v1::WorkerPhaseResult& lost = *saved.phases[1].add_workers();
  lost.set_worker(1);
  lost.set_lost(true);
  CHECK(saved.Find()->part.first_phase == 1);
  v1::Resumption& resumption = *saved.run.add_resumptions();
  resumption.set_first_phase(1);
  resumption.add_without("b");
  CHECK(saved.Find()->part.first_phase == 2);
}

}  // namespace
}  // namespace iobench
