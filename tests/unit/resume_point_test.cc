// Where a saved run can be resumed. tests/cluster/test_resume.py does it with the program.
#include "coordinator/saved_run/resume_point.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "coordinator/report/result_store.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

using Catch::Contains;

const ResumingProgram kHere = {.version = "1.0+abc", .host = "a", .boot_id = "boot"};

// A plan of two phases, twice; a test changes the run and the phases that are saved.
struct Saved {
  Saved() {
    run.set_run_number(77);
    run.set_program_version("1.0+abc");
    run.mutable_plan()->add_phases();
    run.mutable_plan()->add_phases();
    run.mutable_plan()->set_repetitions(2);
    run.mutable_coordinator()->set_host("a");
    run.mutable_coordinator()->set_boot_id("boot");
    run.mutable_coordinator()->set_pid(getpid());  // ours: not another coordinator
    phases.resize(2);
  }

  absl::StatusOr<ResumePoint> Find(bool force = false) {
    auto store = ResultStore::Create(directory, ResultStore::EarlierResult::kReplace);
    REQUIRE(store.ok());
    REQUIRE(store->SaveRun(run).ok());
    for (size_t i = 0; i < phases.size(); ++i) {
      phases[i].set_index(static_cast<uint32_t>(i));
      REQUIRE(store->SavePhase(phases[i], 77).ok());
    }
    return FindResumePoint(directory, kHere, force);
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
  CHECK(point->first_phase == 2);
  CHECK(point->begun_before);
  CHECK(point->crashed);
  CHECK_FALSE(point->complete);
  CHECK_THAT(point->ended_by, Contains("killed"));
  saved.phases.clear();
  CHECK(saved.Find()->first_phase == 0);
}

TEST_CASE(
    "the last phase is run again if it was interrupted, or lost or refused a worker; earlier ones are not") {
  Saved saved;
  saved.Ended(130);
  saved.phases[0].add_workers()->set_lost(true);
  CHECK(saved.Find()->first_phase == 2);
  CHECK_FALSE(saved.Find()->begun_before);
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
  CHECK(saved.Find()->first_phase == 1);
  CHECK(saved.Find()->begun_before);
  CHECK_FALSE(saved.Find()->crashed);
}

TEST_CASE("a run is complete if it has ended and all phases were run, whatever they lost") {
  Saved saved;
  saved.phases.resize(4);
  CHECK_FALSE(saved.Find()->complete);  // it was cut off while it cleaned up
  CHECK(saved.Find()->first_phase == 4);
  saved.Ended(3);
  saved.phases[3].add_workers()->set_lost(true);
  CHECK(saved.Find()->complete);
  saved.phases[3].set_interrupted(true);
  CHECK_FALSE(saved.Find()->complete);
  CHECK(saved.Find()->first_phase == 3);
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
  CHECK(saved.Find()->first_phase == 2);
  CHECK(saved.Find()->ended_by == "it reached its --max-duration");
}

TEST_CASE("another version is refused by name") {
  Saved saved;
  saved.run.set_program_version("1.0+def");
  CHECK_THAT(saved.Refusal(), Contains("1.0+def") && Contains("1.0+abc"));
}

TEST_CASE("a coordinator on another host may still be running, unless the user says that it is not") {
  Saved saved;
  saved.run.mutable_coordinator()->set_boot_id("another boot");
  CHECK(saved.Refusal().empty());  // of this host
  saved.run.mutable_coordinator()->set_host("b");
  CHECK_THAT(saved.Refusal(), Contains("on b") && Contains("--force"));
  CHECK(saved.Find(/*force=*/true).ok());
  saved.Ended(130);
  CHECK(saved.Refusal().empty());
}

TEST_CASE("a missing or damaged phase is refused by its file") {
  Saved saved;
  saved.phases.resize(3);
  REQUIRE(saved.Find().ok());
  std::filesystem::remove(saved.directory + "/raw/phase-001.pb");
  CHECK_THAT(std::string(FindResumePoint(saved.directory, kHere, false).status().message()),
             Contains("phase-001.pb"));
  REQUIRE(saved.Find().ok());
  std::filesystem::resize_file(saved.directory + "/raw/phase-000.pb", 10);
  CHECK_THAT(std::string(FindResumePoint(saved.directory, kHere, false).status().message()),
             Contains("phase-000.pb"));
}

}  // namespace
}  // namespace iobench
