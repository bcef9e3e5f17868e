#include "coordinator/plan/check/target_check.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

using Catch::Contains;
namespace fs = std::filesystem;

v1::Plan PlanOn(const std::string& path, const std::string& engine = "posix") {
  v1::Plan plan;
  plan.add_targets()->set_path(path);
  plan.mutable_files()->set_bytes_per_lane(65536);
  v1::Operation& operation = *plan.add_phases()->add_assignments()->mutable_operation();
  operation.set_name("write");
  operation.set_engine(engine);
  operation.set_record_bytes(4096);
  CompletePlan(plan);
  return plan;
}

// /tmp/target_check_test.XXXXXX with DIR/cluster-iobench.data and DIR/link to it.
class DirectoryWithData {
 public:
  DirectoryWithData() {
    char name[] = "/tmp/target_check_test.XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
    fs::create_directory(path_ + "/cluster-iobench.data");
    fs::create_directory_symlink("cluster-iobench.data", path_ + "/link");
  }
  ~DirectoryWithData() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TEST_CASE("a target in the data directory of a run is refused") {
  const DirectoryWithData directory;
  const std::string kData = directory / "cluster-iobench.data";
  CHECK(CheckPlan(PlanOn(directory / "")).ok());
  CHECK(CheckPlan(PlanOn("/mnt/cluster-iobench.data.old")).ok());
  for (const std::string& path :
       {kData, kData + "/below", directory / "link", std::string("nfs://nas/x/cluster-iobench.data?uid=1")}) {
    INFO(path);
    const absl::Status status = CheckTargets(PlanOn(path));
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()),
               Contains("--path " + path + " is in the data directory of a run"));
  }
  CHECK(CheckPlan(PlanOn(kData)) == CheckTargets(PlanOn(kData)));
  CHECK(CheckForWorkers(PlanOn(kData), 1) == CheckTargets(PlanOn(kData)));  // as workers may name it
  CHECK(CheckPlan(PlanOn(kData, "null")).ok());                             // nothing is made there
}

TEST_CASE("files of the user's own are read where they are, a kept run's, too") {
  v1::Plan plan = PlanOn("/mnt/cluster-iobench.data");
  plan.mutable_files()->add_existing_files("/mnt/cluster-iobench.data/lane-000000.0");
  CHECK(CheckTargets(plan).ok());
}

TEST_CASE("results do not go into the data directory of a run") {
  const DirectoryWithData directory;
  CHECK(CheckOutDirectory(directory / "out").ok());
  CHECK(CheckOutDirectory(directory / "cluster-iobench.data/../out").ok());
  for (const std::string& out :
       {directory / "cluster-iobench.data", directory / "cluster-iobench.data/results/1",
        directory / "link/results", directory / "none/cluster-iobench.data"}) {
    INFO(out);
    const absl::Status status = CheckOutDirectory(out);
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()), Contains("--out " + out + " is in the data directory"));
  }
}

v1::Plan PlanOnEach() {
  v1::Plan plan = PlanOn("/a");
  plan.add_targets()->set_path("/b");
  *plan.add_phases() = plan.phases(0);
  plan.mutable_phases(0)->set_only_target(1);
  plan.mutable_phases(1)->set_only_target(2);
  return plan;
}

std::string Refused(v1::Plan plan) {
  return std::string(CheckPlan(plan).message());
}

TEST_CASE("all phases select an existing target, and each target has phases, or none does") {
  CHECK(CheckPlan(PlanOnEach()).ok());
  CHECK(CheckForWorkers(PlanOnEach(), 1).ok());  // every target has all workers
  v1::Plan plan = PlanOnEach();
  plan.mutable_phases(1)->clear_only_target();
  CHECK_THAT(Refused(plan), Contains("has only_target 0: each phase needs a number from 1 to 2"));
  plan.mutable_phases(1)->set_only_target(3);
  CHECK_THAT(Refused(plan), Contains("has only_target 3"));
  plan.mutable_phases(1)->set_only_target(1);
  CHECK_THAT(Refused(plan), Contains("used by no phase"));
}

TEST_CASE("what belongs to one target of each worker cannot be combined with phases on every target") {
  v1::Plan plan = PlanOnEach();
  plan.mutable_targets(0)->mutable_who()->add_workers(0);
  CHECK_THAT(Refused(plan), Contains("cannot select workers"));
  plan = PlanOnEach();
  plan.set_keep_data(true);
  CHECK_THAT(Refused(plan), Contains("cannot keep"));
  plan = PlanOnEach();
  plan.mutable_phases(0)->set_score(v1::SCORE_BANDWIDTH);
  CHECK_THAT(Refused(plan), Contains("score"));
}

}  // namespace
}  // namespace iobench
