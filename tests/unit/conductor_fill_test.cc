// How a run fills the file systems of its targets (--fill), with workers whose storage is a number of bytes.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "coordinator/plan/plan_check.h"
#include "tests/unit/conductor_run.h"

namespace iobench {
namespace {

using Catch::Contains;

// Four workers on hosts a, b, c, d that write 4 KiB each, after a step that fills their storage to 80 %.
struct FillingRun : Run {
  std::map<std::string, v1::Space> spaces;  // by path
  std::function<v1::WorkerEvent(WorkerId, uint64_t bytes)>
      fill_step;  // what a worker does in place of writing all

  FillingRun() {
    hosts = {Facts("a"), Facts("b"), Facts("c"), Facts("d")};
    plan.Clear();
    plan.add_targets()->set_path("/mnt");
    plan.set_lanes_per_worker(2);
    plan.set_repetitions(1);
    plan.mutable_files()->set_bytes_per_lane(4_KiB);
    plan.mutable_files()->set_files_per_lane(1);
    v1::Phase& phase = *plan.add_phases();
    phase.add_before()->mutable_fill()->set_percent(80);
    v1::Operation& write = *phase.add_assignments()->mutable_operation();
    write.set_name("write");
    write.set_engine("posix");
    write.set_record_bytes(4_KiB);
    CompletePlan(plan);
    SetSpace("/mnt", 100_GiB, 90_GiB);
    perfect.instead = [this](WorkerId id, const v1::WorkerRequest& request,
                             std::vector<v1::WorkerEvent>& events) {
      if (request.has_inspect()) {
        v1::Inspected& inspected = *events.emplace_back().mutable_inspected();
        for (const v1::Target& target : request.inspect().targets()) {
          v1::TargetFacts& seen = *inspected.add_targets();
          seen.set_filesystem_id("storage of " + target.path());
          seen.set_network(true);
          *seen.mutable_space() = spaces[target.path()];
          seen.set_free_bytes(seen.space().available_bytes());
          seen.set_logical_block_bytes(512);
        }
        return true;
      }
      if (!request.has_fill_space()) return false;
      const uint64_t bytes = request.fill_space().bytes(0);
      events.push_back(fill_step ? fill_step(id, bytes) : Written(bytes));
      return true;
    };
  }
  // 10 % of it is reserved for root, as ext4 does with 5 %.
  void SetSpace(const std::string& path, uint64_t total, uint64_t available) {
    spaces[path].set_total_bytes(total);
    spaces[path].set_available_bytes(available);
    spaces[path].set_free_bytes(available + total / 10);
  }
  v1::WorkerEvent Written(uint64_t bytes) {  // at /mnt
    v1::Space& space = spaces["/mnt"];
    space.set_free_bytes(space.free_bytes() - bytes);
    space.set_available_bytes(space.available_bytes() - bytes);
    v1::WorkerEvent event;
    event.mutable_space_filled()->add_bytes(bytes);
    event.mutable_space_filled()->set_seconds(2);
    return event;
  }
  std::map<WorkerId, uint64_t> Asked() const {
    std::map<WorkerId, uint64_t> asked;
    for (const auto& sent : posted) {
      if (sent.request.has_fill_space()) asked[sent.worker] += sent.request.fill_space().bytes(0);
    }
    return asked;
  }
  const v1::StepResult& Step() const {
    REQUIRE(!phases.empty());
    const auto& steps = phases[0].steps();
    REQUIRE(steps.size() > 0);
    REQUIRE(steps.Get(0).name() == "fill");
    return steps.Get(0);
  }
};

TEST_CASE("clients that see one file system fill it once, in equal parts") {
  FillingRun run;
  REQUIRE(run.Go() == kExitOk);
  // df shows 0 of 90 GiB in use: what is reserved for root does not count.
  REQUIRE(run.Asked().size() == 4);
  for (const auto& [worker, bytes] : run.Asked()) CHECK(bytes == 18_GiB + 1);
  CHECK(run.Step().bytes() == 4 * (18_GiB + 1));
  CHECK(run.Step().seconds() == 2);
  CHECK(run.Step().outcome() == "80 % of 100 GiB in use");
  for (const auto& sent : run.posted) {
    if (!sent.request.has_fill_space()) continue;
    const v1::FillSpace& fill = sent.request.fill_space();
    CHECK(fill.first_lane() == 2 * sent.worker);
    CHECK(fill.lane_count() == 2);
    CHECK(fill.run_lane_count() == 8);
    CHECK(fill.claims(0).run_id() != 0);
  }
}

TEST_CASE("each file system is filled by those that use it, and one that is fuller is left") {
  FillingRun run;
  run.plan.add_targets()->set_path("/other");  // of workers 1 and 3
  run.SetSpace("/other", 10_GiB, 1_GiB);
  REQUIRE(run.Go() == kExitOk);
  CHECK(run.Asked() == std::map<WorkerId, uint64_t>{{0, 36_GiB + 1}, {2, 36_GiB + 1}});
  CHECK_THAT(run.Step().outcome(), Contains("80 % of 100 GiB in use (2 workers)") &&
                                       Contains("89 % were in use already: nothing was written (1 worker)"));
}

TEST_CASE("what is still missing is written in another round, and a file system that takes nothing is said") {
  FillingRun run;
  bool first = true;
  // Half of the first one's bytes do not count, as with compression.
  run.fill_step = [&](WorkerId, uint64_t bytes) {
    return run.Written(std::exchange(first, false) ? bytes / 2 : bytes);
  };
  REQUIRE(run.Go() == kExitOk);
  CHECK(run.Asked().at(0) == 18_GiB + 1 + 9_GiB / 4);
  CHECK(run.Step().outcome() == "80 % of 100 GiB in use");

  FillingRun stubborn;
  stubborn.fill_step = [&](WorkerId, uint64_t) { return stubborn.Written(1_GiB); };
  REQUIRE(stubborn.Go() == kExitOk);
  CHECK(stubborn.Step().outcome() == "only 17.8 % of 100 GiB in use instead of 80 %");  // 16 of 90 GiB
}

TEST_CASE("a quota ends the run before its first phase, all workers stop filling, and the data are removed") {
  FillingRun run;
  run.fill_step = [&](WorkerId id, uint64_t bytes) {
    if (id != 1) return run.Written(bytes);
    v1::WorkerEvent event;
    *event.mutable_problem() = ToProblem(ErrnoStatus("write /mnt/x/fill-000002.0 at offset 4096", EDQUOT));
    return event;
  };
  CHECK(run.Go() == kExitIo);
  REQUIRE(run.conductor->report().run().problems_size() == 1);
  CHECK_THAT(run.conductor->report().run().problems(0).message(),
             Contains("worker 1 on b: write /mnt/x/fill-000002.0") && Contains("EDQUOT") &&
                 Contains("--fill 80 needs more room") && Contains("raise the quota"));
  CHECK(run.Count(v1::WorkerRequest::kPrepare) == 0);
  int disarmed = 0, removed = 0;
  for (const auto& sent : run.posted) {
    disarmed += sent.request.adjust().disarm() ? 1 : 0;
    removed += sent.request.data_step().action() == v1::DataStep::REMOVE ? 1 : 0;
  }
  CHECK(disarmed >= 4);
  CHECK(removed == 1);
}

TEST_CASE("a worker that is lost while it fills leaves its part to the others") {
  FillingRun run;
  run.fill_step = [&](WorkerId id, uint64_t bytes) {
    return id == 2 ? Lost("its host is gone") : run.Written(bytes);
  };
  CHECK(run.Go() == kExitPartial);
  CHECK(run.Step().outcome() == "80 % of 100 GiB in use");
  CHECK(run.Asked().at(0) == 18_GiB + 1 + 6_GiB);
}

TEST_CASE("later phases find it filled") {
  FillingRun run;
  run.plan.set_repetitions(2);
  REQUIRE(run.Go() == kExitOk);
  REQUIRE(run.phases.size() == 2);
  CHECK(run.Count(v1::WorkerRequest::kFillSpace) == 4);
  CHECK(run.phases[1].steps(0).outcome() == "80 % were in use already: nothing was written");
}

TEST_CASE("space that filling takes is missing for the lanes") {
  FillingRun run;
  run.plan.mutable_files()->set_bytes_per_lane(3_GiB);  // 24 GiB in all, and 18 are left
  CHECK(run.Go() == kExitUsage);
  CHECK_THAT(std::string(run.conductor->refusal().message()),
             Contains("need 96 GiB, 72 GiB of it for --fill, but only 90 GiB are free") &&
                 Contains("a smaller --fill"));
  CHECK(run.Count(v1::WorkerRequest::kFillSpace) == 0);
}

TEST_CASE("a worker that fills one path is told all its paths because it leaves them if it is abandoned") {
  FillingRun run;
  run.plan.add_targets()->set_path("/other");  // which is fuller
  run.SetSpace("/other", 10_GiB, 1_GiB);
  run.plan.mutable_phases(0)->set_only_target(1);
  *run.plan.add_phases() = run.plan.phases(0);
  run.plan.mutable_phases(1)->set_only_target(2);
  REQUIRE(run.Go() == kExitOk);
  CHECK(run.Asked().at(0) == 18_GiB + 1);
  REQUIRE(run.Count(v1::WorkerRequest::kFillSpace) == 4);
  for (const auto& sent : run.posted) {
    if (!sent.request.has_fill_space()) continue;
    const v1::FillSpace& fill = sent.request.fill_space();
    REQUIRE(fill.targets_size() == 2);
    CHECK(fill.targets(0).path() == "/mnt");
    CHECK(fill.targets(1).path() == "/other");
    REQUIRE(fill.bytes_size() == 2);
    CHECK(fill.bytes(1) == 0);
    for (const v1::DataClaim& claim : fill.claims()) {
      CHECK(claim.run_id() == 7);
      CHECK(claim.users() == 4);
      CHECK_FALSE(claim.only_fill());
    }
  }
}

TEST_CASE("workers that are abandoned remove the files of --fill also from data that are to be kept") {
  FillingRun run;
  run.plan.set_keep_data(true);
  REQUIRE(run.Go() == kExitOk);
  int claims = 0;
  for (const auto& sent : run.posted) {
    if (!sent.request.has_fill_space() && !sent.request.has_prepare()) continue;
    const v1::DataClaim& claim =
        sent.request.has_prepare() ? sent.request.prepare().claims(0) : sent.request.fill_space().claims(0);
    CHECK(claim.users() == 4);
    CHECK(claim.only_fill());
    ++claims;
  }
  CHECK(claims == 8);
}

}  // namespace
}  // namespace iobench
