#include "worker/data_directory/orphaned_data.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/data_ownership.h"
#include "worker/data_directory/data_removal.h"

namespace iobench {
namespace {

// A data directory of run 7 with two lanes of two workers.
struct Claimed {
  std::string path;
  v1::DataClaim claim;

  Claimed() {
    char name[] = "/tmp/iobench-orphaned-XXXXXX";
    path = mkdtemp(name);
    v1::Manifest manifest;
    manifest.set_program("cluster-iobench");
    manifest.set_format(1);
    manifest.set_run_id(7);
    manifest.set_state(v1::Manifest::ACTIVE);
    manifest.set_workers(2);
    manifest.set_lanes_per_worker(1);
    manifest.mutable_names()->set_lanes(2);
    manifest.mutable_names()->set_files_per_lane(1);
    const auto claimed = ClaimData(path, manifest);
    REQUIRE(claimed.ok());
    claim = claimed->second;
    claim.set_users(2);
    for (const char* lane : {"lane-000000.0", "lane-000001.0"}) std::ofstream(Data() + "/" + lane) << "data";
  }
  ~Claimed() { std::filesystem::remove_all(path); }
  std::string Data() const { return path + "/cluster-iobench.data"; }
  bool exists() const { return std::filesystem::exists(Data()); }
};

TEST_CASE("the last worker that leaves removes the data, and a single one only puts down its mark") {
  const Claimed data;
  REQUIRE(LeaveOrphanedData(data.path, data.claim, 1).ok());
  CHECK(std::filesystem::exists(data.Data() + "/left-000001"));
  CHECK(std::filesystem::exists(data.Data() + "/lane-000000.0"));
  REQUIRE(LeaveOrphanedData(data.path, data.claim, 1).ok());  // the same one again
  CHECK(data.exists());
  REQUIRE(LeaveOrphanedData(data.path, data.claim, 0).ok());
  CHECK_FALSE(data.exists());
  CHECK(LeaveOrphanedData(data.path, data.claim, 0).ok());  // gone already
}

TEST_CASE("data to be kept, kept data and those of another run stay as they are") {
  const Claimed data;
  v1::DataClaim claim = data.claim;
  claim.set_users(0);
  REQUIRE(LeaveOrphanedData(data.path, claim, 0).ok());
  claim.set_users(1);
  claim.set_run_id(8);
  REQUIRE(LeaveOrphanedData(data.path, claim, 0).ok());
  CHECK(std::filesystem::exists(data.Data() + "/lane-000000.0"));
  CHECK_FALSE(std::filesystem::exists(data.Data() + "/left-000000"));
  REQUIRE(MarkDataKept(data.path, {}, data.claim).ok());
  claim = data.claim;
  claim.set_users(1);
  REQUIRE(LeaveOrphanedData(data.path, claim, 0).ok());
  CHECK(std::filesystem::exists(data.Data() + "/lane-000000.0"));
}

TEST_CASE("a run that goes on removes the marks of workers that were cut off") {
  const Claimed data;
  REQUIRE(LeaveOrphanedData(data.path, data.claim, 1).ok());
  const auto removed = RemoveData(data.path, data.claim);
  REQUIRE(removed.ok());
  CHECK(removed->foreign_files.empty());
  CHECK_FALSE(data.exists());
}

TEST_CASE("nothing stays of data that are removed while workers still put down their marks") {
  for (int round = 0; round < 200; ++round) {
    const Claimed data;
    std::atomic<bool> removed = false;
    std::thread late([&] {
      while (!removed) LeaveOrphanedData(data.path, data.claim, 0).IgnoreError();
    });
    const absl::Status removal = RemoveData(data.path, data.claim).status();
    removed = true;
    late.join();
    INFO("round " << round);
    REQUIRE(removal.ok());
    REQUIRE_FALSE(data.exists());
  }
}

TEST_CASE("of data that are kept the last worker that leaves removes only the files of --fill") {
  for (const bool used_again : {false, true}) {
    INFO(used_again);
    const Claimed data;
    // A run that uses kept data finds them marked as such, one that is to keep its own does not.
    if (used_again) REQUIRE(MarkDataKept(data.path, {}, data.claim).ok());
    REQUIRE(AccountForFillFiles(data.path, data.claim, 2).ok());
    for (const char* lane : {"fill-000000.0", "fill-000001.0"})
      std::ofstream(data.Data() + "/" + lane) << "data";
    v1::DataClaim claim = data.claim;
    claim.set_only_fill(true);
    REQUIRE(LeaveOrphanedData(data.path, claim, 1).ok());
    CHECK(std::filesystem::exists(data.Data() + "/left-000001"));
    CHECK(std::filesystem::exists(data.Data() + "/fill-000000.0"));
    REQUIRE(LeaveOrphanedData(data.path, claim, 0).ok());
    for (const char* gone : {"fill-000000.0", "fill-000001.0", "left-000000", "left-000001"})
      CHECK_FALSE(std::filesystem::exists(data.Data() + "/" + gone));
    CHECK(std::filesystem::exists(data.Data() + "/lane-000000.0"));
    const v1::Manifest manifest = *InspectData(data.path)->manifest;
    CHECK(manifest.names().fill_lanes() == 0);
    CHECK((manifest.state() == v1::Manifest::KEPT) == used_again);
  }
}

}  // namespace
}  // namespace iobench
