#include "coordinator/conduct/data/tree_ledger.h"

#include <catch2/catch.hpp>
#include <optional>

#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

// Two workers of one lane on a client each; phases are reported as run one by one.
class Run {
 public:
  Run() {
    plan_.set_lanes_per_worker(1);
    plan_.add_targets()->set_path("/x");
    plan_.add_targets()->set_path("/y");
  }
  v1::Operation& Has(const char* operation, uint64_t items = 100) {
    v1::Operation& added = *plan_.add_phases()->add_assignments()->mutable_operation();
    added.set_name(operation);
    added.mutable_tree()->set_items_per_lane(items);
    return added;
  }
  void IsPlanned() {
    CompletePlan(plan_);
    ledger_.emplace(plan_);
  }
  const v1::Operation& OperationOf(int phase) const { return plan_.phases(phase).assignments(0).operation(); }

  // `ops`: how many each lane of the phase did; negative: the lane failed.
  // `failed_ops`: how many each lane skipped with --max-errors.
  void Ran(int phase, std::vector<int> ops, bool begun_before = false, uint64_t failed_ops = 0) {
    v1::PhaseRecord record;
    record.set_begun_before(begun_before);
    *record.mutable_phase() = plan_.phases(phase);
    const Layout layout = LayoutOf();
    for (uint32_t worker = 0; worker < 2; ++worker) {
      v1::WorkerPhaseResult& result = *record.add_workers();
      result.set_worker(worker);
      v1::LaneResult& lane = *result.add_lanes();
      lane.set_lane(worker);
      lane.set_file_owner(layout.LanesOf(worker, OperationOf(phase))[0].file_owner());
      if (ops[worker] < 0) lane.mutable_problem()->set_code(13);
      if (failed_ops > 0) lane.add_errors()->set_count(failed_ops);
      lane.set_ops(static_cast<uint64_t>(std::max(0, ops[worker])));
    }
    ledger_->Note(record, layout);
  }
  void LosesWorkerOne(int phase) {
    v1::PhaseRecord record;
    *record.mutable_phase() = plan_.phases(phase);
    v1::WorkerPhaseResult& result = *record.add_workers();
    result.set_worker(1);
    result.set_lost(true);
    ledger_->Note(record, LayoutOf());
  }
  v1::TreeState StateFor(uint32_t owner, int phase) const {
    return ledger_->StateFor(plan_.phases(phase).only_target(), owner, OperationOf(phase));
  }
  bool IsBroken(uint32_t owner, int phase) const {
    return ledger_->IsBroken(plan_.phases(phase).only_target(), owner, OperationOf(phase));
  }
  void IsOnlyOn(int phase, uint32_t target) { plan_.mutable_phases(phase)->set_only_target(target); }

 private:
  Layout LayoutOf() const { return Layout(plan_, std::vector<uint32_t>{0, 1}); }

  v1::Plan plan_;
  std::optional<TreeLedger> ledger_;
};

TEST_CASE("a lane finds what the phases before have left, and at first nothing") {
  Run run;
  run.Has("create");
  run.Has("rename");
  run.Has("stat");
  run.IsPlanned();
  REQUIRE_FALSE(run.StateFor(0, 2).files());
  REQUIRE(run.StateFor(0, 2).items() == 100);
  run.Ran(0, {100, 100});
  REQUIRE(run.StateFor(1, 1).files());
  REQUIRE_FALSE(run.StateFor(1, 1).renamed());
  run.Ran(1, {100, 100});
  REQUIRE(run.StateFor(0, 2).renamed());
}

TEST_CASE("trees of other shapes are other trees, whatever is done with them") {
  Run run;
  run.Has("create", 100);
  run.Has("create", 200);
  run.Has("stat", 100).mutable_tree()->set_random_order(true);
  run.Has("create", 100).mutable_tree()->set_shared_directory(true);
  run.IsPlanned();
  REQUIRE(run.StateFor(0, 0).number() == 0);
  REQUIRE(run.StateFor(0, 1).number() == 1);
  REQUIRE(run.StateFor(0, 2).number() == 0);
  REQUIRE(run.StateFor(0, 3).number() == 2);
  run.Ran(0, {100, 100});
  REQUIRE(run.StateFor(0, 2).files());
  REQUIRE_FALSE(run.StateFor(0, 1).files());
}

TEST_CASE("rotated lanes change what belongs to the next client") {
  Run run;
  run.Has("create");
  run.Has("unlink").set_rotate_clients(true);
  run.Has("stat");
  run.IsPlanned();
  run.Ran(0, {100, 100});
  run.Ran(1, {100, -1});  // lane 1 works on lane 0's part
  REQUIRE_FALSE(run.StateFor(1, 2).files());
  REQUIRE_FALSE(run.StateFor(1, 2).unknown());
  REQUIRE(run.StateFor(0, 2).unknown());
}

TEST_CASE("items that lanes share exist once any lane has made them, and are never broken") {
  Run run;
  run.Has("create");
  run.Has("open-many");
  run.IsPlanned();
  run.Ran(0, {-1, 100});
  REQUIRE(run.IsBroken(0, 0) == false);
  REQUIRE(run.StateFor(0, 1).unknown());
  REQUIRE_FALSE(run.IsBroken(0, 1));
  run.Ran(1, {100, 100});
  REQUIRE(run.StateFor(0, 1).files());
  REQUIRE_FALSE(run.StateFor(0, 1).unknown());
}

TEST_CASE("files that a deadline cut short are all that later phases work on") {
  Run run;
  run.Has("create");
  run.Has("mkdir");
  run.Has("stat");
  run.Has("unlink");
  run.IsPlanned();
  run.Ran(0, {40, 0});
  REQUIRE(run.StateFor(0, 2).items() == 40);
  REQUIRE_FALSE(run.StateFor(1, 2).files());  // none at all: they are prepared
  REQUIRE(run.StateFor(1, 2).items() == 100);
  REQUIRE(run.StateFor(0, 1).items() == 100);  // directories have nothing to do with it
  run.Ran(1, {100, 100});
  run.Ran(2, {40, 100});
  REQUIRE(run.StateFor(0, 3).items() == 40);
  REQUIRE(run.StateFor(1, 3).items() == 100);
  run.Ran(3, {40, 100});
  REQUIRE(run.StateFor(0, 0).items() == 100);
}

TEST_CASE("a part that was left half changed is broken until something makes it anew") {
  Run run;
  run.Has("create");
  run.Has("stat");
  run.Has("unlink");
  run.IsPlanned();
  run.Ran(0, {100, 100});
  run.Ran(1, {-1, 100});  // a stat that fails changes nothing
  REQUIRE_FALSE(run.IsBroken(0, 1));
  run.Ran(2, {-1, 100});
  REQUIRE(run.IsBroken(0, 1));
  REQUIRE_FALSE(run.IsBroken(1, 1));
  REQUIRE_FALSE(run.IsBroken(0, 0));
  REQUIRE(run.StateFor(0, 0).unknown());
  run.Ran(0, {100, 100});
  REQUIRE_FALSE(run.IsBroken(0, 1));
  REQUIRE(run.StateFor(0, 1).files());
}

TEST_CASE("failed ops that a lane skipped leave unknown names, but only if they change names") {
  Run run;
  run.Has("create");
  run.Has("stat");
  run.Has("unlink");
  run.IsPlanned();
  run.Ran(0, {100, 100});
  run.Ran(1, {99, 99}, false, 1);
  REQUIRE(run.StateFor(0, 2).files());
  REQUIRE_FALSE(run.StateFor(0, 2).unknown());
  run.Ran(2, {99, 99}, false, 1);
  REQUIRE(run.StateFor(0, 0).unknown());
  REQUIRE_FALSE(run.IsBroken(0, 0));  // create makes them anew
}

TEST_CASE("a file system without attributes leaves names as they are") {
  Run run;
  run.Has("create");
  run.Has("set-xattr");
  run.Has("stat");
  run.IsPlanned();
  run.Ran(0, {100, 100});
  run.Ran(1, {-1, -1});
  REQUIRE_FALSE(run.IsBroken(0, 2));
  REQUIRE(run.StateFor(0, 2).files());
  REQUIRE(run.StateFor(0, 2).xattr_bytes() == 0);
}

TEST_CASE("a start that was called off and repeated cleared the part, so that later phases prepare theirs") {
  Run run;
  run.Has("mkdir");
  run.Has("create");
  run.Has("stat");
  run.Has("unlink");
  run.Has("rmdir");
  run.IsPlanned();
  run.Ran(0, {100, 100});
  run.Ran(1, {100, 100});
  run.Ran(2, {100, 100}, /*begun_before=*/true);  // changes nothing: nothing was cleared
  REQUIRE(run.StateFor(0, 4).leaves());
  run.Ran(3, {100, 100}, /*begun_before=*/true);
  REQUIRE_FALSE(run.StateFor(0, 4).leaves());
  REQUIRE_FALSE(run.StateFor(0, 4).files());
  REQUIRE_FALSE(run.IsBroken(0, 4));
}

TEST_CASE("nobody knows how far a lost worker got") {
  Run run;
  run.Has("create");
  run.Has("stat");
  run.IsPlanned();
  run.Ran(0, {100, 100});
  run.LosesWorkerOne(1);
  REQUIRE_FALSE(run.IsBroken(1, 1));  // a stat changes nothing
  run.LosesWorkerOne(0);
  REQUIRE(run.IsBroken(1, 1));
  REQUIRE_FALSE(run.IsBroken(0, 1));
}

TEST_CASE("each target has trees of its own in phases that select their target") {
  Run run;
  for (const uint32_t target : {1u, 2u}) {
    run.Has("create");
    run.Has("stat");
    run.IsOnlyOn(static_cast<int>(2 * target - 2), target);
    run.IsOnlyOn(static_cast<int>(2 * target - 1), target);
  }
  run.IsPlanned();
  run.Ran(0, {100, -1});
  REQUIRE(run.StateFor(0, 1).files());
  REQUIRE(run.IsBroken(1, 1));
  REQUIRE_FALSE(run.StateFor(0, 3).files());
  REQUIRE_FALSE(run.IsBroken(1, 3));
  run.Ran(2, {100, 100});
  REQUIRE(run.StateFor(1, 3).files());
  REQUIRE(run.IsBroken(1, 1));
}

}  // namespace
}  // namespace iobench
