#include "coordinator/validate/checks/side_by_side.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/clock.h"
#include "coordinator/validate/checks/file_calls.h"
#include "tests/unit/validated.h"

namespace iobench {
namespace {

using Works = std::vector<std::function<absl::Status()>>;

// Works on two workers whose answers come when the cluster's thread waits for them.
struct TwoWorkers {
  TempDir directory{FastParent()};
  HonestWorkers workers{2};
  Interrupt interrupt;
  Cluster cluster{workers, HonestWorkers::kRunId, interrupt, {}, [this] { return CoordTime{workers.Now()}; }};
  ClockSync clocks{cluster, "boot 0", ClockSync::Measured::kOtherClocks};
  std::string trace;

  TwoWorkers() {
    REQUIRE(cluster.Gather(2, cluster.Now() + kNanosPerSecond, "1.0", [](uint32_t) {}).ok());
    REQUIRE(clocks.Verify().ok());
    REQUIRE(clocks.Burst().ok());
  }
  FileCalls Calls() {
    v1::Target target;
    target.set_path(directory.path());
    return {cluster, clocks, target};
  }
  // Makes two directories, one after the other, and notes when it goes on.
  std::function<absl::Status()> MakesTwo(FileCalls& files, const std::string& name, uint32_t worker) {
    return [this, &files, name, worker] {
      for (const char* const step : {"1 ", "2 "}) {
        trace += name + step;
        IOBENCH_RETURN_IF_ERROR(files.NewDirectory(worker).status());
      }
      trace += name + "3 ";
      return absl::OkStatus();
    };
  }
};

TEST_CASE("works wait for workers at the same time, and one of them runs at a time") {
  TwoWorkers two;
  FileCalls files = two.Calls();
  CHECK(files.side_by_side().Run(Works{two.MakesTwo(files, "a", 0), two.MakesTwo(files, "b", 1)}).ok());
  CHECK(two.trace.starts_with("a1 b1 "));
  CHECK(two.trace.size() == 6 * 3);
  CHECK(files.side_by_side().current() == nullptr);
  CHECK(files.RemoveAll(std::vector<uint32_t>{0}).ok());
}

TEST_CASE("the parts of a work run side by side, and the work goes on when all have ended") {
  TwoWorkers two;
  FileCalls files = two.Calls();
  const void* whole = nullptr;
  const Works works{[&] {
    whole = files.side_by_side().current();
    const auto part = [&](const char* name) -> std::function<absl::Status()> {
      return [&, name] {
        CHECK(files.side_by_side().current() == whole);
        return two.MakesTwo(files, name, 0)();
      };
    };
    IOBENCH_RETURN_IF_ERROR(files.side_by_side().Run(Works{part("p"), part("q")}));
    two.trace += "end ";
    return absl::OkStatus();
  }};
  CHECK(files.side_by_side().Run(works).ok());
  CHECK(two.trace.starts_with("p1 q1 "));
  CHECK(two.trace.ends_with("3 end "));
  CHECK(files.RemoveAll(std::vector<uint32_t>{0}).ok());
}

TEST_CASE("a worker makes the calls of works side by side, and others in their order") {
  TwoWorkers two;
  FileCalls files = two.Calls();
  std::vector<uint32_t>
      lanes;  // a request of lane 0 alone waits for those before it, and those after it wait for it
  two.workers.tamper = [&](WorkerId, const v1::FileAction& action, v1::FileActionResult&) {
    lanes.push_back(action.lane());
  };
  CHECK(files.NewDirectory(0).ok());
  CHECK(lanes == std::vector<uint32_t>{0});
  CHECK(files.side_by_side().Run(Works{two.MakesTwo(files, "a", 0)}).ok());
  CHECK(lanes == std::vector<uint32_t>{0, 1, 1});
  CHECK(files.RemoveAll(std::vector<uint32_t>{0}).ok());
}

TEST_CASE("the first error in the order of the works counts, and all works end") {
  TwoWorkers two;
  FileCalls files = two.Calls();
  const absl::Status ran =
      files.side_by_side().Run(Works{two.MakesTwo(files, "a", 0),
                                     [&] {
                                       IOBENCH_RETURN_IF_ERROR(files.NewDirectory(1).status());
                                       return absl::InternalError("second");
                                     },
                                     [] { return absl::InternalError("third"); }});
  CHECK(ran.message() == "second");
  CHECK(two.trace == "a1 a2 a3 ");
}

TEST_CASE("a lost worker ends the calls to it, an interrupt all of them") {
  TwoWorkers two;
  FileCalls files = two.Calls();
  two.workers.requests_until_loss = 1;
  CHECK(absl::IsUnavailable(files.side_by_side().Run(Works{two.MakesTwo(files, "a", 0)})));
  CHECK(two.trace == "a1 ");
  two.interrupt.Raise();
  CHECK(absl::IsCancelled(files.side_by_side().Run(
      Works{two.MakesTwo(files, "b", 1), [&] { return files.Wait(kNanosPerSecond * 1000); }})));
  CHECK(two.trace == "a1 b1 ");
}

}  // namespace
}  // namespace iobench
