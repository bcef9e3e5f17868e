#include "coordinator/conduct/data/broken_files.h"

#include <catch2/catch.hpp>
#include <vector>

namespace iobench {
namespace {

// How a worker's one lane ended.
enum class Ended { kWell, kFailed, kLost, kRefused, kSatOut, kLostFinishing, kLostFinished };

// Two workers of one lane each on one target. Lane 0 is of worker 0, lane 1 of worker 1.
struct Faults {
  v1::Plan plan;
  std::vector<uint32_t> clients = {0, 1};
  Layout layout;
  BrokenFiles broken;

  Faults() : plan(TwoLanes()), layout(plan, clients), broken(plan, layout) {}
  static v1::Plan TwoLanes() {
    v1::Plan two;
    two.set_lanes_per_worker(1);
    two.mutable_files()->set_bytes_per_lane(1 << 20);
    two.mutable_files()->set_files_per_lane(1);
    two.add_targets()->set_path("/mnt");
    return two;
  }
  // A phase in which all workers execute `operation`.
  static v1::Phase Of(const char* operation, bool shared = false) {
    v1::Phase phase;
    phase.mutable_files()->set_shared_file(shared);
    v1::Operation& all = *phase.add_assignments()->mutable_operation();
    all.set_name(operation);
    all.set_engine("posix");
    all.set_record_bytes(4096);
    return phase;
  }
  void Note(const v1::Phase& phase, const std::vector<Ended>& ends) {
    v1::PhaseRecord record;
    *record.mutable_phase() = phase;
    for (uint32_t worker = 0; worker < ends.size(); ++worker) {
      v1::WorkerPhaseResult& result = *record.add_workers();
      result.set_worker(worker);
      const bool after_report = ends[worker] == Ended::kLostFinishing || ends[worker] == Ended::kLostFinished;
      if (ends[worker] == Ended::kLost || after_report) result.set_lost(true);
      if (ends[worker] == Ended::kRefused) result.set_refused_reason("impossible");
      if (ends[worker] == Ended::kLost || ends[worker] == Ended::kRefused) continue;
      v1::LaneResult& lane = *result.add_lanes();
      lane.set_lane(worker);
      lane.set_bytes(ends[worker] == Ended::kLostFinishing ? 4096 : 1 << 20);
      lane.set_sat_out(ends[worker] == Ended::kSatOut);
      if (ends[worker] == Ended::kFailed) lane.mutable_problem()->set_code(13);
    }
    broken.Note(record);
  }
  bool OwnIsBroken(uint32_t owner) const {
    return broken.Contains({.target = 0, .shared = false, .owner = owner});
  }
  bool SharedIsBroken(uint32_t owner) const {
    return broken.Contains({.target = 0, .shared = true, .owner = owner});
  }
};

TEST_CASE("files are broken from a failure on until a phase creates them again") {
  for (const Ended ended : {Ended::kFailed, Ended::kLost, Ended::kRefused}) {
    Faults run;
    run.Note(Faults::Of("rewrite"), {Ended::kWell, ended});
    CHECK_FALSE(run.OwnIsBroken(0));
    CHECK(run.OwnIsBroken(1));
    run.Note(Faults::Of("read"), {Ended::kWell, Ended::kSatOut});
    CHECK(run.OwnIsBroken(1));
    run.Note(Faults::Of("write"), {Ended::kWell, Ended::kWell});
    CHECK_FALSE(run.OwnIsBroken(1));
  }
}

TEST_CASE("a worker that was lost when it had reported its lanes may have left files unfinished") {
  Faults run;
  run.Note(Faults::Of("write"), {Ended::kLostFinishing, Ended::kLostFinished});
  CHECK(run.OwnIsBroken(0));
  CHECK_FALSE(run.OwnIsBroken(1));
}

TEST_CASE("a worker that was lost while it read has broken nothing") {
  Faults run;
  run.Note(Faults::Of("read"), {Ended::kLost, Ended::kRefused});
  CHECK_FALSE(run.OwnIsBroken(0));
  CHECK_FALSE(run.OwnIsBroken(1));
}

TEST_CASE("with rotated clients the files are those of the owner") {
  Faults run;
  v1::Phase rotated = Faults::Of("rewrite");
  rotated.mutable_assignments(0)->mutable_operation()->set_rotate_clients(true);
  run.Note(rotated, {Ended::kLost, Ended::kWell});
  CHECK_FALSE(run.OwnIsBroken(0));
  CHECK(run.OwnIsBroken(1));
}

TEST_CASE("a broken shared file says nothing about the lanes' own files, and the reverse") {
  Faults run;
  run.Note(Faults::Of("rewrite", /*shared=*/true), {Ended::kWell, Ended::kFailed});
  CHECK(run.SharedIsBroken(1));
  CHECK_FALSE(run.OwnIsBroken(1));
  run.Note(Faults::Of("rewrite"), {Ended::kFailed, Ended::kWell});
  run.Note(Faults::Of("write", /*shared=*/true), {Ended::kWell, Ended::kSatOut});
  CHECK(run.OwnIsBroken(0));  // only its part of the shared file has been written
  CHECK(run.SharedIsBroken(1));
}

TEST_CASE("nothing is broken in a shared file that has been removed") {
  Faults run;
  run.Note(Faults::Of("rewrite", /*shared=*/true), {Ended::kFailed, Ended::kFailed});
  run.Note(Faults::Of("rewrite"), {Ended::kFailed, Ended::kWell});
  run.broken.ForgetShared({1});  // of another target
  CHECK(run.SharedIsBroken(0));
  run.broken.ForgetShared({0});
  CHECK_FALSE(run.SharedIsBroken(0));
  CHECK_FALSE(run.SharedIsBroken(1));
  CHECK(run.OwnIsBroken(0));
}

TEST_CASE("where lanes share files, one that has failed leaves them broken") {
  Faults run;
  v1::Phase same_files = Faults::Of("write");
  same_files.mutable_assignments(0)->mutable_operation()->set_rotate_clients(true);
  same_files.mutable_assignments(0)->mutable_who()->add_workers(0);  // on the files of lane 1
  *same_files.add_assignments() = Faults::Of("write").assignments(0);
  for (const bool first_fails : {false, true}) {
    run.Note(Faults::Of("write"), {Ended::kWell, Ended::kWell});
    CHECK_FALSE(run.OwnIsBroken(1));
    const Ended first = first_fails ? Ended::kFailed : Ended::kWell;
    const Ended second = first_fails ? Ended::kWell : Ended::kFailed;
    run.Note(same_files, {first, second});
    CHECK(run.OwnIsBroken(1));
  }
}

TEST_CASE("in a soak a failed lane tries again with files that are there") {
  Faults run;
  run.plan.set_soak_s(60);
  run.Note(Faults::Of("rewrite"), {Ended::kFailed, Ended::kLost});
  CHECK_FALSE(run.OwnIsBroken(0));
  CHECK(run.OwnIsBroken(1));
  run.Note(Faults::Of("write"), {Ended::kFailed, Ended::kWell});
  CHECK(run.OwnIsBroken(0));
  CHECK_FALSE(run.OwnIsBroken(1));
}

}  // namespace
}  // namespace iobench
