#include "coordinator/analysis/report_builder.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cmath>

#include "coordinator/analysis/summarize.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// One lane that reads `mib` MiB in one second, as phase `index`, on a client whose clock is `offset_s` ahead.
PhaseScript ReadOf(uint32_t index, uint64_t mib, double offset_s) {
  PhaseScript script;
  script.plan().set_name("read");
  script.Lane(0).Moves(mib * 1_MiB).EndsAt(1_s).InOps(mib);
  script.Worker(0).HasClock(offset_s, 1e-3);
  script.phase.set_index(index);
  return script;
}

TEST_CASE("a report grows by a brief of each phase, and the phase itself is returned in full") {
  const PhaseScript script = ReadOf(0, 100, 2);
  const v1::RunRecord run = script.Run();
  ReportBuilder builder(run);
  builder.Begin(nullptr);
  CHECK(builder.report().phases().empty());
  CHECK(std::isnan(builder.report().clients(0).clock_offset_ns()));  // nobody has measured it yet
  const v1::PhaseReport full = builder.Add(script.Record());
  CHECK(full.SerializeAsString() == script.Report().SerializeAsString());
  CHECK(full.clients_size() == 1);
  REQUIRE(builder.report().phases_size() == 1);
  CHECK(builder.report().phases(0).clients().empty());
  CHECK(builder.report().phases(0).headline().bytes_per_s() == Approx(100 * kMiB));
  CHECK(builder.report().clients(0).clock_offset_ns() == Approx(2e9));
}

TEST_CASE("a whole phase has its latencies as one histogram, without those of lanes that do not count") {
  PhaseScript script = ReadOf(0, 100, 0);
  script.Lane(1).Moves(50_MiB).EndsAt(1_s).InOps(50).FailsWith(EIO);
  const v1::RunRecord run = script.Run();
  ReportBuilder builder(run);
  builder.Begin(nullptr);
  const v1::PhaseReport whole = builder.Add(FinishPhase(run, script.Record(), Charts::kFilledIn));
  CHECK(whole.latency_us().count() == 100);
  CHECK(whole.charts().latency_histogram().count() == 100);
  CHECK(static_cast<double>(whole.charts().latency_histogram().max_ns()) / 1e3 == whole.latency_us().max());
}

TEST_CASE("a saved run begins with the clocks of its newest phase") {
  const PhaseScript script = ReadOf(0, 100, 2);
  const v1::RunRecord run = script.Run();
  const v1::PhaseRecord newest = ReadOf(1, 100, 3).Record();
  ReportBuilder builder(run);
  builder.Begin(&newest);
  CHECK(builder.report().clients(0).clock_offset_ns() == Approx(3e9));
}

TEST_CASE("totals may be taken after every phase, and summarize only the repetitions that were planned") {
  for (const uint32_t repetitions : {1u, 3u}) {
    v1::RunRecord run = ReadOf(0, 100, 0).Run();
    run.mutable_plan()->set_repetitions(repetitions);
    ReportBuilder builder(run);
    builder.Begin(nullptr);
    for (uint32_t index = 0; index < 3; ++index) {
      builder.Add(ReadOf(index, 100 * (index + 1), 0).Record());
      builder.UpdateTotals();
    }
    REQUIRE(builder.report().repetitions_size() == (repetitions == 1 ? 0 : 1));
    if (repetitions > 1) CHECK(builder.report().repetitions(0).median() == Approx(200 * kMiB));
  }
}

TEST_CASE("a phase that is the same with more lanes tells whether they helped") {
  const auto of_lanes = [](uint32_t index, uint32_t lanes) {
    PhaseScript script;
    script.plan().set_name("read");
    script.operation().set_direct(true);
    for (uint32_t lane = 0; lane < lanes; ++lane) script.Lane(lane).Moves(100_MiB).EndsAt(2_s).InOps(100);
    script.phase.set_index(index);
    return script;
  };
  v1::RunRecord run = of_lanes(1, 2).Run();
  run.mutable_plan()->clear_phases();
  for (uint32_t index : {0, 1}) *run.mutable_plan()->add_phases() = of_lanes(index, 1).plan();
  ReportBuilder builder(run);
  builder.Begin(nullptr);
  builder.Add(of_lanes(0, 1).Record());
  CHECK(builder.Add(of_lanes(1, 2).Record()).limited_by() == "too few lanes: 2 did 2 times as much as 1");
}

TEST_CASE("notes of a run that ends are in the order of a report on its raw files") {
  v1::RunRecord run = ReadOf(0, 100, 0).Run();
  run.mutable_plan()->add_notes("of the plan");
  run.add_workers()->set_host("container");  // on the client of the first
  run.mutable_workers(1)->set_boot_id(run.workers(0).boot_id());
  ReportBuilder live(run);
  live.Begin(nullptr);
  REQUIRE(live.report().notes_size() == 2);
  run.add_skipped_phases("read");
  live.UpdateTotals();
  live.UpdateRun();
  ReportBuilder from_files(run);
  from_files.Begin(nullptr);
  from_files.UpdateTotals();
  REQUIRE(from_files.report().notes_size() == 3);
  CHECK(std::vector<std::string>(live.report().notes().begin(), live.report().notes().end()) ==
        std::vector<std::string>(from_files.report().notes().begin(), from_files.report().notes().end()));
}

TEST_CASE("the end of a run is taken over from its record, and so are the phases that its reader misses") {
  v1::RunRecord run = ReadOf(0, 100, 0).Run();
  ReportBuilder builder(run);
  builder.Begin(nullptr);
  run.set_finished(true);
  run.set_exit_code(2);
  run.add_problems()->set_message("disk full");
  CHECK_FALSE(builder.report().run().finished());
  builder.UpdateRun();
  v1::MissingPhase missing;
  missing.set_index(3);
  const std::string warning = "a phase is missing";
  builder.RecordMissing({&missing, 1}, {&warning, 1});
  CHECK(builder.report().run().finished());
  CHECK(builder.report().run().exit_code() == 2);
  REQUIRE(builder.report().run().problems_size() == 2);
  CHECK(builder.report().run().problems(0).message() == "disk full");
  const v1::ErrorReport& added = builder.report().run().problems(1);
  CHECK(added.message() == "not in this report: a phase is missing");
  REQUIRE(builder.report().run().missing_phases_size() == 1);
  CHECK(builder.report().run().missing_phases(0).index() == 3);
  CHECK(added.worker() == -1);
  CHECK(added.lane() == -1);
}

}  // namespace
}  // namespace iobench
