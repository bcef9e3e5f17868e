#include "worker/data_directory/space_filler.h"

#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "common/text/units.h"
#include "tests/support/temp_dir.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/data_names.h"
#include "worker/data_directory/data_ownership.h"
#include "worker/data_directory/data_removal.h"
#include "worker/data_directory/manifest.h"

namespace iobench {
namespace {

using Catch::Contains;

// A directory that run 7 has claimed, for 2 workers with 2 lanes each.
struct Claimed : TempDir {
  v1::Manifest manifest;

  explicit Claimed(uint32_t fill_lanes = 4) {
    manifest.set_program("cluster-iobench");
    manifest.set_format(1);
    manifest.set_run_id(7);
    manifest.set_state(v1::Manifest::ACTIVE);
    manifest.set_created_at("now");
    manifest.set_created_by("here");
    manifest.set_workers(2);
    manifest.set_lanes_per_worker(2);
    manifest.mutable_names()->set_lanes(4);
    manifest.mutable_names()->set_files_per_lane(1);
    manifest.mutable_names()->set_fill_lanes(fill_lanes);
    REQUIRE(ClaimData(path(), manifest).ok());
  }
  // Of the worker with lanes 2 and 3.
  v1::FillSpace Request(uint64_t bytes) const {
    v1::FillSpace request;
    request.add_targets()->set_path(path());
    request.add_claims()->set_run_id(7);
    request.add_bytes(bytes);
    request.set_percent(100);
    request.set_first_lane(2);
    request.set_lane_count(2);
    request.set_run_lane_count(4);
    request.set_seed(1);
    return request;
  }
  std::string Data(const std::string& name) const { return "cluster-iobench.data/" + name; }
  uint32_t FillLanes() const { return InspectData(path())->manifest->names().fill_lanes(); }
};

TEST_CASE("lanes fill in equal parts, with data in which no block is like another") {
  const Claimed claimed;
  SpaceFiller filler;
  const auto filled = filler.Fill(claimed.Request(3_MiB + 1));
  REQUIRE(filled.ok());
  CHECK(filled->bytes(0) == 3_MiB + 1);
  CHECK(filler.written_bytes() == 3_MiB + 1);
  CHECK(claimed.SizeOf(claimed.Data("fill-000002.0")) == 3_MiB / 2 + 1);
  CHECK(claimed.SizeOf(claimed.Data("fill-000003.0")) == 3_MiB / 2);
  std::set<std::string> blocks;
  size_t count = 0;
  for (const char* const name : {"fill-000002.0", "fill-000003.0"}) {
    const std::string text = claimed.Read(claimed.Data(name));
    for (size_t at = 0; at + 4_KiB <= text.size(); at += 4_KiB, ++count)
      blocks.insert(text.substr(at, 4_KiB));
  }
  CHECK(count == 3_MiB / 4_KiB);
  CHECK(blocks.size() == count);
}

TEST_CASE("a second round adds files and leaves those of the first") {
  const Claimed claimed;
  REQUIRE(SpaceFiller().Fill(claimed.Request(2_MiB)).ok());
  REQUIRE(SpaceFiller().Fill(claimed.Request(4_MiB)).ok());
  CHECK(claimed.SizeOf(claimed.Data("fill-000002.0")) == 1_MiB);
  CHECK(claimed.SizeOf(claimed.Data("fill-000002.1")) == 2_MiB);
}

TEST_CASE("a lane stops when the file system is full enough, whoever filled it") {
  const Claimed claimed;
  v1::FillSpace request = claimed.Request(200_MiB);
  request.set_percent(0);  // every file system is that full
  const auto filled = SpaceFiller().Fill(request);
  REQUIRE(filled.ok());
  CHECK(filled->bytes(0) == 2 * 16_MiB);  // checked after each flush
}

TEST_CASE("filling can be cancelled, and what was written leaves with the run's data") {
  const Claimed claimed;
  SpaceFiller filler;
  std::atomic<bool> ended{false};
  std::thread canceller([&] {
    while (filler.written_bytes() == 0 && !ended) std::this_thread::yield();
    filler.Cancel();
  });
  const auto filled = filler.Fill(claimed.Request(100_GiB));
  ended = true;
  canceller.join();
  CHECK(absl::IsCancelled(filled.status()));
  CHECK(claimed.Has(claimed.Data("fill-000002.0")));
  v1::DataClaim claim;
  claim.set_run_id(7);
  const auto removed = RemoveData(claimed.path(), claim);
  REQUIRE(removed.ok());
  CHECK(removed->foreign_files.empty());
  CHECK_FALSE(claimed.Has("cluster-iobench.data"));
}

TEST_CASE("data that are kept lose the files that filled the file system") {
  const Claimed claimed;
  claimed.Write(claimed.Data("lane-000000.0"), "data");
  REQUIRE(SpaceFiller().Fill(claimed.Request(2_MiB)).ok());
  v1::DataClaim claim;
  claim.set_run_id(7);
  REQUIRE(MarkDataKept(claimed.path(), claimed.manifest, claim).ok());
  CHECK(claimed.Has(claimed.Data("lane-000000.0")));
  CHECK_FALSE(claimed.Has(claimed.Data("fill-000002.0")));
  CHECK(claimed.FillLanes() == 0);
}

TEST_CASE("the manifest of kept data accounts for the files before the first one is written") {
  const Claimed claimed(/*fill_lanes=*/0);
  REQUIRE(SpaceFiller().Fill(claimed.Request(2_MiB)).ok());
  CHECK(claimed.FillLanes() == 4);
  REQUIRE(CleanDataDirectory(claimed.path(), IfOutOfSight::kAccept).status().ok() ==
          false);  // this process is alive
  CHECK(claimed.Has(claimed.Data("fill-000002.0")));
}

TEST_CASE("nothing is written into data of another run") {
  const Claimed claimed;
  v1::FillSpace request = claimed.Request(2_MiB);
  request.mutable_claims(0)->set_run_id(8);
  const auto filled = SpaceFiller().Fill(request);
  CHECK(IsHeldByAnother(filled.status()));
  CHECK_FALSE(claimed.Has(claimed.Data("fill-000002.0")));
}

TEST_CASE("files of other names are foreign") {
  v1::Manifest manifest = Claimed().manifest;
  CHECK(HasDataFile(manifest, "fill-000003.17"));
  for (const char* const name :
       {"fill-000004.0", "fill-3.0", "fill-000003", "fill-000003.00", "fill-000003.x"}) {
    CAPTURE(name);
    CHECK_FALSE(HasDataFile(manifest, name));
  }
  manifest.mutable_names()->clear_fill_lanes();
  CHECK_FALSE(HasDataFile(manifest, "fill-000003.0"));
}

TEST_CASE("a request without lanes, or with sizes missing, is refused") {
  const Claimed claimed;
  v1::FillSpace request = claimed.Request(2_MiB);
  request.set_lane_count(0);
  CHECK(absl::IsInvalidArgument(SpaceFiller().Fill(request).status()));
  request = claimed.Request(2_MiB);
  request.clear_bytes();
  CHECK(absl::IsInvalidArgument(SpaceFiller().Fill(request).status()));
  request = claimed.Request(2_MiB);
  request.mutable_claims(0)->clear_run_id();
  CHECK(absl::IsInvalidArgument(SpaceFiller().Fill(request).status()));
  request = claimed.Request(2_MiB);
  request.set_lane_count(1'000'000'000);
  CHECK_THAT(std::string(SpaceFiller().Fill(request).status().message()), Contains("--max-lanes"));
}

TEST_CASE("a worker that fills kept data takes back the mark with which it left them before") {
  const Claimed claimed;
  for (const char* const mark : {"left-000000", "left-000002"}) claimed.Write(claimed.Data(mark), "");
  v1::FillSpace request = claimed.Request(2_MiB);
  request.mutable_claims(0)->set_only_fill(true);
  REQUIRE(SpaceFiller().Fill(request).ok());
  CHECK_FALSE(claimed.Has(claimed.Data("left-000002")));
  CHECK(claimed.Has(claimed.Data("left-000000")));  // another worker's
}

}  // namespace
}  // namespace iobench
