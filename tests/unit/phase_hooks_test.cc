#include "coordinator/hook/phase_hooks.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "coordinator/report/raw_files.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/conductor_run.h"

namespace iobench {
namespace {

using Catch::Contains;

// Hooks take real time while the workers' is simulated, so the run's clock follows the real one while they run.
struct RunWithHooks {
  Run run;
  const TempDir temporary;
  const std::string directory = temporary.path();
  HookCommands hooks;

  RunWithHooks() { run.out_directory = directory + "/out"; }
  int Go() {
    run.hooks = hooks;
    return run.Go();
  }
  std::string Text(const std::string& file) const { return temporary.Read(file); }
};

TEST_CASE("hooks run around each phase, know it, and are steps of its report") {
  RunWithHooks with;
  with.hooks = {.before_phase = "echo before $IOBENCH_INDEX $IOBENCH_PHASE",
                .after_phase = "echo after $IOBENCH_INDEX $IOBENCH_STATUS $IOBENCH_BYTES_PER_S $IOBENCH_OUT",
                .timeout_s = 1e6};
  REQUIRE(with.Go() == kExitOk);
  REQUIRE(with.run.phases.size() == 2);
  for (const v1::PhaseReport& phase : with.run.phases) {
    REQUIRE(phase.steps_size() >= 2);
    CHECK(phase.steps(0).name() == "before-phase");
    CHECK(phase.steps(0).outcome() == with.hooks.before_phase);
    CHECK(phase.steps(phase.steps_size() - 1).name() == "after-phase");
  }
  CHECK_THAT(with.Text("out/hooks/phase-001-before.log"), Contains("before 1 "));
  CHECK_THAT(with.Text("out/hooks/phase-001-after.log"),
             Contains("after 1 ok ") && Contains(with.directory + "/out"));
  // Three workers moved 4 KiB each in 1 ms.
  CHECK_THAT(with.Text("out/hooks/phase-000-after.log"), Contains(" 12288000 "));
}

TEST_CASE("a hook that fails before a phase ends the run without that phase") {
  RunWithHooks with;
  with.hooks = {.before_phase = "test $IOBENCH_INDEX != 1", .after_phase = "", .timeout_s = 1e6};
  CHECK(with.Go() == kExitIo);
  CHECK(with.run.phases.size() == 1);
  REQUIRE(with.run.conductor->report().run().problems_size() == 1);
  CHECK_THAT(with.run.conductor->report().run().problems(0).message(),
             Contains("--before-phase") && Contains("exit code 1") && Contains("phase-001-before.log"));
}

TEST_CASE("a hook that fails after a phase ends the run, and the phase is saved with it") {
  RunWithHooks with;
  with.hooks = {.before_phase = "", .after_phase = "exit 9", .timeout_s = 1e6};
  CHECK(with.Go() == kExitIo);
  REQUIRE(with.run.phases.size() == 1);
  const auto& steps = with.run.phases[0].steps();
  CHECK(steps.Get(steps.size() - 1).outcome() == "exit 9: exit code 9");
}

TEST_CASE("a hook that hangs is killed after its time, which ends the run") {
  RunWithHooks with;
  with.hooks = {.before_phase = "sleep 1000", .after_phase = "", .timeout_s = 0.5};  // of simulated time
  CHECK(with.Go() == kExitIo);
  CHECK(with.run.phases.empty());
  CHECK_THAT(with.run.conductor->report().run().problems(0).message(), Contains("killed after 500 ms"));
}

TEST_CASE("the command after an interrupted phase runs to its end") {
  RunWithHooks with;
  with.run.interrupts_when_running = true;
  with.run.perfect.instead = [&](WorkerId id, const v1::WorkerRequest& request,
                                 std::vector<v1::WorkerEvent>& events) {
    if (request.has_arm()) {  // its lanes run on until they are told to quit
      with.run.perfect.start_ns[id] = request.arm().start_worker_ns();
      events = {ArmedInTime()};
      return true;
    }
    if (request.has_poll()) return true;
    if (!request.has_adjust()) return false;
    events = {Done()};
    return true;
  };
  with.hooks = {
      .before_phase = "", .after_phase = "echo after $IOBENCH_INDEX $IOBENCH_STATUS", .timeout_s = 1e6};
  CHECK(with.Go() == kExitInterrupted);
  REQUIRE(with.run.phases.size() == 1);
  CHECK(with.Text("out/hooks/phase-000-after.log") == "after 0 interrupted\n");
  const auto& steps = with.run.phases[0].steps();
  CHECK(steps.Get(steps.size() - 1).outcome() == with.hooks.after_phase);
}

TEST_CASE("a phase is saved before the command after it runs and again with that step") {
  RunWithHooks with;
  with.hooks = {.before_phase = "", .after_phase = "ls $IOBENCH_OUT/raw", .timeout_s = 1e6};
  REQUIRE(with.Go() == kExitOk);
  CHECK_THAT(with.Text("out/hooks/phase-000-after.log"), Contains("phase-000.pb"));
  v1::PhaseRecord saved;
  REQUIRE(LoadRawPhase(RawPhasePath(with.run.out_directory, 0), 7, saved).ok());
  REQUIRE(saved.hooks_size() == 1);
  CHECK(saved.hooks(0).name() == "after-phase");
}

TEST_CASE("a phase that every worker refused has failed for the command after it") {
  RunWithHooks with;
  with.run.perfect.instead = [](WorkerId, const v1::WorkerRequest& request,
                                std::vector<v1::WorkerEvent>& events) {
    if (!request.has_prepare()) return false;
    v1::WorkerEvent refusal;
    *refusal.mutable_problem() = ToProblem(absl::FailedPreconditionError("no thread can be started"));
    events.push_back(refusal);
    return true;
  };
  with.hooks = {.before_phase = "", .after_phase = "echo $IOBENCH_STATUS", .timeout_s = 1e6};
  CHECK(with.Go() == kExitIo);
  CHECK(with.Text("out/hooks/phase-000-after.log") == "failed\n");
}

TEST_CASE("a phase with failed ops that its lanes survived has failed for the command after it") {
  v1::PhaseReport report;
  report.add_failed_ops()->set_count(1);
  CHECK(VariablesOf(report).at("IOBENCH_STATUS") == "failed");
}

TEST_CASE("a phase of which a worker's results were refused has failed for the command after it") {
  v1::PhaseReport report;
  report.add_marks()->set_code("refused_result");
  CHECK(VariablesOf(report).at("IOBENCH_STATUS") == "failed");
}

TEST_CASE("a phase that is not whole is partial for the command after it") {
  v1::PhaseReport report;
  CHECK(VariablesOf(report).at("IOBENCH_STATUS") == "ok");
  report.set_not_whole("1 worker lost");
  CHECK(VariablesOf(report).at("IOBENCH_STATUS") == "partial");
  report.set_lanes_failed(1);
  CHECK(VariablesOf(report).at("IOBENCH_STATUS") == "failed");
  report.set_interrupted(true);
  CHECK(VariablesOf(report).at("IOBENCH_STATUS") == "interrupted");
}

TEST_CASE("a command is told the paths that its phase uses") {
  v1::Plan plan;
  plan.add_targets()->set_path("/a");
  plan.add_targets()->set_path("/b");
  v1::PhaseRecord record;
  record.mutable_phase()->add_assignments()->mutable_operation()->set_name("write");
  CHECK(VariablesOf(plan, record, "/out").at("IOBENCH_PATHS") == "/a\n/b");
  record.mutable_phase()->set_only_target(2);
  CHECK(VariablesOf(plan, record, "/out").at("IOBENCH_PATHS") == "/b");
  CHECK(VariablesOf(plan, record, "/out").at("IOBENCH_OPERATION") == "write");
}

}  // namespace
}  // namespace iobench
