
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/host_identity.h"
#include "common/model/plan_traits.h"
#include "tests/unit/worker_harness.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/data_names.h"
#include "worker/data_directory/data_ownership.h"
#include "worker/data_directory/data_removal.h"
#include "worker/data_directory/manifest.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

v1::Manifest ManifestOf(uint64_t run_id, v1::Manifest::State state = v1::Manifest::ACTIVE) {
  v1::Manifest manifest;
  manifest.set_program("cluster-iobench");
  manifest.set_format(1);
  manifest.set_run_id(run_id);
  manifest.set_state(state);
  manifest.set_created_at("2026-01-02T03:04:05.678Z");
  manifest.set_created_by("client-a");
  manifest.set_workers(3);
  manifest.set_lanes_per_worker(2);
  manifest.set_targets(1);
  manifest.mutable_files()->set_bytes_per_lane(uint64_t{1} << 40);
  manifest.mutable_files()->set_files_per_lane(4);
  manifest.mutable_files()->set_shared_file(true);
  manifest.mutable_files()->set_interleaved(true);
  manifest.mutable_names()->set_lanes(6);
  manifest.mutable_names()->set_files_per_lane(4);
  manifest.mutable_names()->set_shared_file(true);
  manifest.mutable_names()->set_trees(2);
  manifest.set_seed(std::numeric_limits<uint64_t>::max());
  manifest.mutable_data()->set_kind(v1::DataContent::INCOMPRESSIBLE);
  manifest.mutable_data()->set_verify(true);
  manifest.set_generation_low(2);
  manifest.set_generation_high(5);
  manifest.set_unit_bytes(512);
  return manifest;
}

v1::DataClaim Of(uint64_t run_id) {
  v1::DataClaim claim;
  claim.set_run_id(run_id);
  return claim;
}

// Data of run 1, with two lanes' files.
struct Claimed : TempDir {
  explicit Claimed(v1::Manifest::State state = v1::Manifest::ACTIVE) {
    REQUIRE(ClaimData(path(), ManifestOf(1, state)).ok());
    Write("cluster-iobench.data/lane-000000.0", "zero");
    Write("cluster-iobench.data/lane-000001.0", "one");
  }
  bool HasFiles() const {
    return Has("cluster-iobench.data/lane-000000.0") && Has("cluster-iobench.data/lane-000001.0");
  }
};

TEST_CASE("a manifest comes back from JSON as it was") {
  for (const auto state : {v1::Manifest::ACTIVE, v1::Manifest::KEPT}) {
    const v1::Manifest manifest = ManifestOf(uint64_t{1} << 63, state);
    const auto again = ManifestFromJson(ManifestToJson(manifest));
    REQUIRE(again.ok());
    REQUIRE(MeaningOf(*again) == MeaningOf(manifest));
  }
}

TEST_CASE("what is not a manifest of ours is not read as one") {
  const std::string good = ManifestToJson(ManifestOf(1));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return ManifestFromJson(text.replace(at, from.size(), to)).status();
  };
  REQUIRE(absl::IsInvalidArgument(ManifestFromJson("").status()));
  REQUIRE(absl::IsInvalidArgument(ManifestFromJson("[]").status()));
  REQUIRE(absl::IsInvalidArgument(ManifestFromJson("{}").status()));
  REQUIRE(absl::IsInvalidArgument(ManifestFromJson(good.substr(0, good.size() / 2)).status()));
  REQUIRE(absl::IsInvalidArgument(with("\"cluster-iobench\"", "\"other\"")));
  REQUIRE(absl::IsInvalidArgument(with("\"workers\": 3", "\"workers\": \"3\"")));
  REQUIRE(absl::IsInvalidArgument(with("\"workers\": 3", "\"wrkers\": 3")));
  REQUIRE(absl::IsUnimplemented(with("\"format\": 1", "\"format\": 2")));
}

// The manifest without the process that has claimed the data.
v1::Manifest Unsigned(v1::Manifest manifest) {
  manifest.clear_boot_id();
  manifest.clear_pid();
  manifest.clear_process_start_ticks();
  return manifest;
}

TEST_CASE("only our own pattern is a data file's name") {
  v1::Manifest manifest;
  manifest.mutable_names()->set_lanes(2'000'000);
  manifest.mutable_names()->set_files_per_lane(11);
  manifest.mutable_names()->set_shared_file(true);
  for (const char* const name : {"lane-000000.0", "lane-000012.3", "lane-1234567.10", "shared"}) {
    INFO(name);
    REQUIRE(HasDataFile(manifest, name));
  }
  for (const char* const name :
       {"lane-0.0", "lane-000001", "lane-000001.", "lane-000001.01", "lane-+00001.0", "lane-000001.0.bak",
        "xlane-000001.0", "shared2", "manifest.json", "", "lane- 00001.0"}) {
    INFO(name);
    REQUIRE_FALSE(HasDataFile(manifest, name));
  }
  REQUIRE(LaneFileName(12, 3) == "lane-000012.3");
}

TEST_CASE("a manifest accounts for the names that its run can give, and for no other") {
  const v1::Manifest manifest = ManifestOf(1);  // 6 lanes of 4 files, a shared one, 2 trees
  for (const char* const name : {"lane-000005.3", "shared"}) CHECK(HasDataFile(manifest, name));
  for (const char* const name : {"lane-000006.0", "lane-000099.0", "lane-000000.4"}) {
    CHECK_FALSE(HasDataFile(manifest, name));
  }
  for (const char* const name : {"tree-000005.1", "tree-shared.1"}) CHECK(HasTree(manifest, name));
  for (const char* const name : {"tree-000006.0", "tree-000000.2", "tree-shared.2", "tree-0000005.0"}) {
    CHECK_FALSE(HasTree(manifest, name));
  }
  v1::Manifest of_lanes = manifest;
  of_lanes.mutable_names()->set_shared_file(false);
  CHECK_FALSE(HasDataFile(of_lanes, "shared"));
  v1::Manifest earlier = manifest;  // as earlier versions wrote it: the number of lanes, but no names
  earlier.clear_names();
  CHECK(HasDataFile(earlier, "lane-000005.9"));
  CHECK(HasTree(earlier, "tree-000005.9"));
  CHECK_FALSE(HasDataFile(earlier, "lane-000006.0"));
}

TEST_CASE("temporaries are called by host, process and number") {
  CHECK(IsTemporaryName(NewTemporaryName()));
  CHECK(IsTemporaryName("manifest.json.tmp-node-1.example-4711-0"));
  for (const char* const name : {"manifest.json.tmp-", "manifest.json.tmp-mine", "manifest.json.tmp-mine-1",
                                 "manifest.json.tmp-mine-1-b"}) {
    INFO(name);
    CHECK_FALSE(IsTemporaryName(name));
  }
}

TEST_CASE("a claim makes the directory with its manifest and nothing else") {
  const TempDir directory;
  REQUIRE(ClaimData(directory.path(), ManifestOf(1)).ok());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory.data())) names.push_back(entry.path().filename());
  REQUIRE(names == std::vector<std::string>{"manifest.json"});
  const auto look = InspectData(directory.path());
  REQUIRE(look.ok());
  REQUIRE_FALSE(look->foreign);
  REQUIRE(look->manifest->pid() == ::getpid());
  REQUIRE(MeaningOf(Unsigned(*look->manifest)) == MeaningOf(ManifestOf(1)));
}

TEST_CASE("claimers of the same run do not mind each other, also at the same time") {
  const TempDir directory;
  std::vector<std::thread> claimers;
  std::atomic<int> successes = 0;
  for (int i = 0; i < 8; ++i) {
    claimers.emplace_back([&] { successes += ClaimData(directory.path(), ManifestOf(1)).ok() ? 1 : 0; });
  }
  for (std::thread& claimer : claimers) claimer.join();
  REQUIRE(successes == 8);
  REQUIRE(ClaimData(directory.path(), ManifestOf(1)).ok());
}

TEST_CASE("of claimers of different runs at the same time exactly one has the directory") {
  for (int round = 0; round < 20; ++round) {
    const TempDir directory;
    std::vector<std::thread> claimers;
    std::atomic<int> successes = 0;
    for (uint64_t run = 1; run <= 4; ++run) {
      claimers.emplace_back(
          [&, run] { successes += ClaimData(directory.path(), ManifestOf(run)).ok() ? 1 : 0; });
    }
    for (std::thread& claimer : claimers) claimer.join();
    REQUIRE(successes == 1);
  }
}

TEST_CASE("the data of an active run are refused to another, with whose they are and what to do") {
  const Claimed directory;
  const absl::Status in_use = ClaimData(directory.path(), ManifestOf(2)).status();
  REQUIRE(absl::IsFailedPrecondition(in_use));
  REQUIRE_THAT(std::string(in_use.message()), Catch::Contains("client-a") && Catch::Contains("is alive"));
  directory.Write("cluster-iobench.data/manifest.json",
                  ManifestToJson(ManifestOf(1)));  // its owner cannot be seen from here
  const absl::Status status = ClaimData(directory.path(), ManifestOf(2)).status();
  REQUIRE(absl::IsFailedPrecondition(status));
  for (const std::string& part : {std::string("client-a"), std::string("2026-01-02T03:04:05.678Z"),
                                  "cluster-iobench clean " + directory.path(), std::string("--force")}) {
    REQUIRE_THAT(std::string(status.message()), Catch::Contains(part));
  }
  REQUIRE(directory.HasFiles());
  REQUIRE(InspectData(directory.path())->manifest->run_id() == 1);
}

TEST_CASE("kept data of another run make room for a claim") {
  const Claimed directory;
  REQUIRE(MarkDataKept(directory.path(), ManifestOf(1), Of(1)).ok());
  REQUIRE(InspectData(directory.path())->manifest->state() == v1::Manifest::KEPT);
  const absl::Status unseen = ClaimData(directory.path(), ManifestOf(2)).status();  // of data unknown to it
  REQUIRE(IsHeldByAnother(unseen));
  REQUIRE(IsHeldByAnother(ClaimData(directory.path(), ManifestOf(2), Of(3)).status()));
  REQUIRE(directory.HasFiles());
  const auto claimed = ClaimData(directory.path(), ManifestOf(2), Of(1));
  REQUIRE(claimed.ok());
  REQUIRE(claimed->first.removed_files == 2);
  REQUIRE(claimed->second.run_id() == 2);
  REQUIRE_FALSE(directory.Has("cluster-iobench.data/lane-000000.0"));
  REQUIRE(InspectData(directory.path())->manifest->run_id() == 2);
}

TEST_CASE("data are kept by the run that has them; kept already is kept") {
  const Claimed directory;
  REQUIRE(IsHeldByAnother(MarkDataKept(directory.path(), ManifestOf(2), Of(2))));
  REQUIRE(MarkDataKept(directory.path(), ManifestOf(1), Of(1)).ok());
  REQUIRE(IsHeldByAnother(MarkDataKept(directory.path(), ManifestOf(2), Of(2))));
  REQUIRE(MarkDataKept(directory.path(), ManifestOf(2), Of(1)).ok());  // the data that run 2 has taken over
  REQUIRE(InspectData(directory.path())->manifest->run_id() == 1);
  REQUIRE(directory.HasFiles());
}

TEST_CASE("data that are kept once more say what the last run made of them") {
  const Claimed directory;
  REQUIRE(MarkDataKept(directory.path(), ManifestOf(1), Of(1)).ok());
  v1::Manifest later = ManifestOf(2);
  later.set_generation_low(3);
  later.set_generation_high(9);
  REQUIRE(MarkDataKept(directory.path(), later, Of(1)).ok());
  v1::Manifest expected = ManifestOf(1, v1::Manifest::KEPT);
  expected.set_generation_low(3);
  expected.set_generation_high(9);
  const v1::Manifest found = *InspectData(directory.path())->manifest;
  REQUIRE(found.pid() == ::getpid());  // who claimed them
  REQUIRE(MeaningOf(Unsigned(found)) == MeaningOf(expected));
}

TEST_CASE("a manifest without a word on its data is one of data that cannot be verified") {
  std::string text = ManifestToJson(ManifestOf(1));
  const size_t data = text.find(",\n  \"data\"");
  REQUIRE(data != std::string::npos);
  text = text.substr(0, data) + "\n}\n";
  const auto manifest = ManifestFromJson(text);
  REQUIRE(manifest.ok());
  REQUIRE_FALSE(manifest->data().verify());
}

TEST_CASE("a directory with foreign files and no manifest is neither claimed nor removed") {
  const TempDir directory;
  REQUIRE(::mkdir(directory.data().c_str(), 0755) == 0);
  directory.Write("cluster-iobench.data/lane-000000.0", "whose?");
  REQUIRE(InspectData(directory.path())->foreign);
  REQUIRE(absl::IsFailedPrecondition(ClaimData(directory.path(), ManifestOf(1)).status()));
  const auto report = RemoveData(directory.path());
  REQUIRE(report.ok());
  REQUIRE_FALSE(report->found);
  REQUIRE(report->removed_files == 0);
  REQUIRE(report->foreign_files == std::vector<std::string>{directory.data() + "/lane-000000.0"});
  REQUIRE(directory.Read("cluster-iobench.data/lane-000000.0") == "whose?");
}

TEST_CASE(
    "a mark that a worker left in a directory without a manifest is nobody's, and goes with the directory") {
  const TempDir directory;
  REQUIRE(::mkdir(directory.data().c_str(), 0755) == 0);
  directory.Write("cluster-iobench.data/left-000003", "");
  REQUIRE_FALSE(InspectData(directory.path())->foreign);
  REQUIRE(ClaimData(directory.path(), ManifestOf(1)).ok());
  REQUIRE_FALSE(directory.Has("cluster-iobench.data/left-000003"));  // it would count as one of this run's
  REQUIRE(RemoveData(directory.path()).ok());
  REQUIRE(::mkdir(directory.data().c_str(), 0755) == 0);
  directory.Write("cluster-iobench.data/left-000003", "");
  const auto report = RemoveData(directory.path());
  REQUIRE(report.ok());
  REQUIRE(report->found);
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

TEST_CASE("a manifest that cannot be read makes the data foreign") {
  for (const char* const text : {"", "{\"program\": \"other\"}", "not JSON"}) {
    const TempDir directory;
    REQUIRE(::mkdir(directory.data().c_str(), 0755) == 0);
    directory.Write("cluster-iobench.data/manifest.json", text);
    REQUIRE(InspectData(directory.path())->foreign);
    REQUIRE(absl::IsFailedPrecondition(ClaimData(directory.path(), ManifestOf(1)).status()));
    REQUIRE(RemoveData(directory.path())->foreign_files.size() == 1);
    REQUIRE(directory.Read("cluster-iobench.data/manifest.json") == text);
  }
}

TEST_CASE("an empty directory that a crash left is claimed and removed") {
  const TempDir directory;
  REQUIRE(::mkdir(directory.data().c_str(), 0755) == 0);
  directory.Write("cluster-iobench.data/manifest.json.tmp-client-b-1-2", "half a mani");
  REQUIRE_FALSE(InspectData(directory.path())->foreign);
  SECTION("claimed") {
    REQUIRE(ClaimData(directory.path(), ManifestOf(1)).ok());
  }
  SECTION("removed") {}
  REQUIRE(RemoveData(directory.path()).ok());
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

TEST_CASE("our files go, foreign ones stay with the directory, each told with its path") {
  const Claimed directory;
  directory.Write("cluster-iobench.data/results.txt", "precious");
  directory.Write("cluster-iobench.data/shared", "ours");
  directory.Write("outside", "not in there");
  REQUIRE(::symlink("../outside", (directory.data() + "/lane-000007.0").c_str()) == 0);
  REQUIRE(::mkdir((directory.data() + "/lane-000008.0").c_str(), 0755) == 0);
  const auto report = RemoveData(directory.path());
  REQUIRE(report.ok());
  REQUIRE(report->removed_files == 3);
  std::vector<std::string> foreign = report->foreign_files;
  std::sort(foreign.begin(), foreign.end());
  REQUIRE(foreign == std::vector<std::string>{directory.data() + "/lane-000007.0",
                                              directory.data() + "/lane-000008.0",
                                              directory.data() + "/results.txt"});
  REQUIRE(directory.Read("cluster-iobench.data/results.txt") == "precious");
  REQUIRE(directory.Read("outside") == "not in there");
  REQUIRE_FALSE(directory.Has("cluster-iobench.data/shared"));
  REQUIRE(directory.Has("cluster-iobench.data/lane-000007.0"));
  // The directory is still known as ours, and is removed once the foreign entries are gone.
  REQUIRE_FALSE(InspectData(directory.path())->foreign);
  for (const char* const name : {"results.txt", "lane-000007.0", "lane-000008.0"})
    fs::remove(directory.data() + "/" + name);
  REQUIRE(RemoveData(directory.path())->foreign_files.empty());
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

TEST_CASE("trees go with the data, and what is foreign in them stays and is told with its path") {
  const TempDir directory;
  REQUIRE(ClaimData(directory.path(), ManifestOf(1)).ok());
  fs::create_directories(directory.data() + "/tree-000000.0/d0/d1/dir-00000003");
  fs::create_directories(directory.data() + "/tree-shared.1");
  fs::create_directories(directory.data() + "/tree-7");  // not one of ours
  for (const char* const name : {"tree-000000.0/d0/d1/item-00000000", "tree-000000.0/d0/d1/moved-00000001",
                                 "tree-shared.1/link-000004-00000002", "tree-000000.0/d0/notes"}) {
    directory.Write("cluster-iobench.data/" + std::string(name), "x");
  }
  directory.Write("cluster-iobench.data/tree-000005.0", "a file");
  const auto removed = RemoveData(directory.path());
  REQUIRE(removed.ok());
  REQUIRE(removed->removed_files == 4);
  std::vector<std::string> foreign = removed->foreign_files;
  std::sort(foreign.begin(), foreign.end());
  REQUIRE(foreign == std::vector<std::string>{directory.data() + "/tree-000000.0/d0/notes",
                                              directory.data() + "/tree-000005.0",
                                              directory.data() + "/tree-7"});
  REQUIRE_FALSE(directory.Has("cluster-iobench.data/tree-shared.1"));
  REQUIRE_FALSE(directory.Has("cluster-iobench.data/tree-000000.0/d0/d1"));
  REQUIRE(directory.Read("cluster-iobench.data/tree-000000.0/d0/notes") == "x");
  REQUIRE(directory.Read("cluster-iobench.data/tree-000005.0") == "a file");
}

TEST_CASE("a data directory that is a symbolic link is an error, and what it points to is left") {
  const TempDir directory, elsewhere;
  REQUIRE(ClaimData(elsewhere.path(), ManifestOf(1)).ok());
  REQUIRE(::symlink(elsewhere.data().c_str(), directory.data().c_str()) == 0);
  REQUIRE(absl::IsFailedPrecondition(InspectData(directory.path()).status()));
  REQUIRE(absl::IsFailedPrecondition(OpenDataDirectory(directory.path()).status()));
  REQUIRE(absl::IsFailedPrecondition(ClaimData(directory.path(), ManifestOf(1)).status()));
  REQUIRE(absl::IsFailedPrecondition(RemoveData(directory.path()).status()));
  REQUIRE(absl::IsFailedPrecondition(CleanDataDirectory(directory.data(), IfOutOfSight::kAccept).status()));
  REQUIRE(elsewhere.Has("cluster-iobench.data/manifest.json"));
}

TEST_CASE("a manifest that is a symbolic link is not followed") {
  const TempDir directory;
  REQUIRE(::mkdir(directory.data().c_str(), 0755) == 0);
  directory.Write("elsewhere.json", ManifestToJson(ManifestOf(1)));
  REQUIRE(::symlink("../elsewhere.json", (directory.data() + "/manifest.json").c_str()) == 0);
  REQUIRE(InspectData(directory.path())->foreign);
  const auto removed = RemoveData(directory.path());
  REQUIRE(removed.ok());
  REQUIRE_FALSE(removed->found);
  REQUIRE_THAT(removed->why_not_ours, Catch::Contains("manifest.json"));
  REQUIRE(directory.Has("elsewhere.json"));
  REQUIRE(directory.Has("cluster-iobench.data/manifest.json"));
}

TEST_CASE("the shared file is removed alone, and only where the data are ours") {
  const Claimed directory;
  directory.Write("cluster-iobench.data/shared", "ours");
  REQUIRE(RemoveSharedFile(directory.path(), Of(1))->removed_files == 1);
  REQUIRE(RemoveSharedFile(directory.path(), Of(1))->removed_files == 0);
  REQUIRE(directory.HasFiles());
  const TempDir foreign;
  REQUIRE(::mkdir(foreign.data().c_str(), 0755) == 0);
  foreign.Write("cluster-iobench.data/shared", "theirs");
  REQUIRE(absl::IsFailedPrecondition(RemoveSharedFile(foreign.path(), Of(1)).status()));
  REQUIRE(foreign.Read("cluster-iobench.data/shared") == "theirs");
}

TEST_CASE("the data of a run that lives here are removed by nobody else") {
  const Claimed directory;  // by this process
  for (const IfOutOfSight choice : {IfOutOfSight::kRefuse, IfOutOfSight::kAccept}) {
    const absl::Status refused = CleanDataDirectory(directory.path(), choice).status();
    REQUIRE(absl::IsFailedPrecondition(refused));
    REQUIRE_THAT(std::string(refused.message()), Catch::Contains("is alive"));
  }
  REQUIRE(directory.HasFiles());
  REQUIRE(absl::IsFailedPrecondition(CheckAbandoned(directory.path(), 2, IfOutOfSight::kAccept)));
  REQUIRE(CheckAbandoned(directory.path(), 1, IfOutOfSight::kRefuse).ok());  // its own
}

TEST_CASE("the data of a run that cannot be seen from here are cleaned only by force") {
  const Claimed directory;
  directory.Write("cluster-iobench.data/manifest.json", ManifestToJson(ManifestOf(1)));  // names no owner
  const absl::Status refused = CleanDataDirectory(directory.path(), IfOutOfSight::kRefuse).status();
  REQUIRE(absl::IsFailedPrecondition(refused));
  REQUIRE_THAT(std::string(refused.message()), Catch::Contains("clean --force"));
  REQUIRE(directory.HasFiles());
  REQUIRE(CleanDataDirectory(directory.path(), IfOutOfSight::kAccept)->removed_files == 2);
}

TEST_CASE(
    "what is foreign keeps neither a manifest nor a directory from the run that is to replace another") {
  const Claimed directory;
  directory.Write("cluster-iobench.data/notes", "mine");
  // Its owner cannot be seen from here.
  directory.Write("cluster-iobench.data/manifest.json", ManifestToJson(ManifestOf(1)));
  REQUIRE(RemoveData(directory.path(), Of(1))->foreign_files.size() == 1);
  REQUIRE(absl::IsFailedPrecondition(ClaimData(directory.path(), ManifestOf(2)).status()));
  REQUIRE(absl::IsFailedPrecondition(ClaimData(directory.path(), ManifestOf(2), Of(3)).status()));
  REQUIRE(ClaimData(directory.path(), ManifestOf(2), Of(1)).ok());
  REQUIRE(InspectData(directory.path())->manifest->run_id() == 2);
  REQUIRE(directory.Read("cluster-iobench.data/notes") == "mine");
}

TEST_CASE("what is another run's by now is touched by nobody, and its owner is named") {
  const Claimed directory;
  directory.Write("cluster-iobench.data/shared", "one's");
  const std::vector<absl::Status> refused = {RemoveData(directory.path(), Of(2)).status(),
                                             RemoveSharedFile(directory.path(), Of(2)).status(),
                                             MarkDataKept(directory.path(), ManifestOf(2), Of(2)),
                                             OpenClaimedDirectory(directory.path(), Of(2)).status()};
  for (const absl::Status& status : refused) {
    CHECK(IsHeldByAnother(status));
    CHECK_THAT(std::string(status.message()),
               Catch::Contains("client-a began at 2026-01-02T03:04:05.678Z") && Catch::Contains("touched"));
  }
  REQUIRE(directory.HasFiles());
  REQUIRE(directory.Read("cluster-iobench.data/shared") == "one's");
  REQUIRE(InspectData(directory.path())->manifest->state() == v1::Manifest::ACTIVE);
  REQUIRE(OpenClaimedDirectory(directory.path(), Of(1)).ok());
  REQUIRE(RemoveData(directory.path(), Of(1)).ok());
  REQUIRE(IsHeldByAnother(OpenClaimedDirectory(directory.path(), Of(1)).status()));  // it is gone
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

TEST_CASE("a directory that took the place of the claimed one is not it, even with a copy of its manifest") {
  const TempDir directory;
  const auto claimed = ClaimData(directory.path(), ManifestOf(1));
  REQUIRE(claimed.ok());
  const v1::DataClaim& claim = claimed->second;
  if (claim.directory_number() == 0) return;  // a file system without usable inode numbers
  REQUIRE(InspectData(directory.path())->number == claim.directory_number());
  const std::string aside = directory.path() + "/aside";
  fs::rename(directory.data(), aside);
  fs::copy(aside, directory.data(), fs::copy_options::recursive);
  directory.Write("cluster-iobench.data/lane-000000.0", "swapped in");
  CHECK(IsHeldByAnother(OpenClaimedDirectory(directory.path(), claim).status()));
  const absl::Status removed = RemoveData(directory.path(), claim).status();
  CHECK(IsHeldByAnother(removed));
  CHECK_THAT(std::string(removed.message()), Catch::Contains("replaced by another directory"));
  REQUIRE(directory.Read("cluster-iobench.data/lane-000000.0") == "swapped in");
  fs::remove_all(directory.data());
  fs::rename(aside, directory.data());
  CHECK(OpenClaimedDirectory(directory.path(), claim).ok());
  CHECK(RemoveData(directory.path(), claim).ok());
}

TEST_CASE("what only looks like ours stays, and is told") {
  const Claimed directory;
  for (const char* const name : {"lane-000099.0", "lane-000000.4", "manifest.json.tmp-mine"}) {
    directory.Write(std::string("cluster-iobench.data/") + name, "precious");
  }
  fs::create_directories(directory.data() + "/tree-000006.0");
  directory.Write("cluster-iobench.data/tree-000006.0/item-00000000", "precious");
  const auto report = RemoveData(directory.path());
  REQUIRE(report.ok());
  REQUIRE(report->removed_files == 2);
  REQUIRE(report->foreign_files.size() == 4);
  for (const char* const name :
       {"lane-000099.0", "lane-000000.4", "manifest.json.tmp-mine", "tree-000006.0/item-00000000"}) {
    INFO(name);
    REQUIRE(directory.Read(std::string("cluster-iobench.data/") + name) == "precious");
  }
}

TEST_CASE("a claim that would write to a file which is not its own is refused") {
  const Claimed directory(v1::Manifest::KEPT);
  directory.Write("cluster-iobench.data/lane-000099.0", "precious");
  v1::Manifest larger = ManifestOf(2);
  larger.mutable_names()->set_lanes(100);
  const absl::Status refused = ClaimData(directory.path(), larger, Of(1)).status();
  REQUIRE(absl::IsFailedPrecondition(refused));
  REQUIRE_THAT(std::string(refused.message()), Catch::Contains("lane-000099.0"));
  REQUIRE(InspectData(directory.path())->manifest->run_id() == 1);
  REQUIRE(ClaimData(directory.path(), ManifestOf(2), Of(1)).ok());
  REQUIRE(directory.Read("cluster-iobench.data/lane-000099.0") == "precious");
}

TEST_CASE("clean takes the target or the data directory itself, and nothing there is success") {
  for (const char* const ending : {"", "/", "/cluster-iobench.data", "/cluster-iobench.data/"}) {
    INFO(ending);
    const Claimed directory;
    REQUIRE(MarkDataKept(directory.path(), ManifestOf(1), Of(1)).ok());
    const auto report = CleanDataDirectory(directory.path() + ending, IfOutOfSight::kRefuse);
    REQUIRE(report.ok());
    REQUIRE(report->found);
    REQUIRE(report->removed_files == 2);
    REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
    const auto again = CleanDataDirectory(directory.path() + ending, IfOutOfSight::kRefuse);
    REQUIRE(again.ok());
    REQUIRE_FALSE(again->found);
  }
  REQUIRE_FALSE(CleanDataDirectory("/nowhere/at/all", IfOutOfSight::kAccept).ok());
}

TEST_CASE("a claim that would work in a tree which is not its own is refused") {
  const Claimed directory(v1::Manifest::KEPT);  // 2 trees of 6 lanes
  for (const char* const tree : {"tree-000099.0", "tree-000000.2"}) {
    INFO(tree);
    const std::string item = absl::StrCat("cluster-iobench.data/", tree, "/item-00000000");
    fs::create_directories(directory / absl::StrCat("cluster-iobench.data/", tree));
    directory.Write(item, "precious");
    v1::Manifest larger = ManifestOf(2);
    larger.mutable_names()->set_lanes(100);
    larger.mutable_names()->set_trees(3);
    const absl::Status refused = ClaimData(directory.path(), larger, Of(1)).status();
    REQUIRE(absl::IsFailedPrecondition(refused));
    REQUIRE_THAT(std::string(refused.message()), Catch::Contains(tree));
    REQUIRE(InspectData(directory.path())->manifest->run_id() == 1);
    REQUIRE(directory.Read(item) == "precious");
    fs::remove_all(directory / absl::StrCat("cluster-iobench.data/", tree));
  }
  // In a tree of the replaced run, only what this run does not use can be left.
  fs::create_directories(directory.data() + "/tree-000000.0");
  directory.Write("cluster-iobench.data/tree-000000.0/item-00000000", "of run 1");
  directory.Write("cluster-iobench.data/tree-000000.0/notes", "mine");
  REQUIRE(ClaimData(directory.path(), ManifestOf(2), Of(1)).ok());
  REQUIRE_FALSE(directory.Has("cluster-iobench.data/tree-000000.0/item-00000000"));
  REQUIRE(directory.Read("cluster-iobench.data/tree-000000.0/notes") == "mine");
}

// Data of run 1 whose claimant has ended; this process is its coordinator.
struct WithoutClaimant : TempDir {
  v1::Manifest manifest;

  WithoutClaimant() {
    const ProcessIdentity self = *OwnIdentity();
    manifest = ManifestOf(1);
    manifest.set_coordinator_boot_id(self.place);
    manifest.set_coordinator_pid(self.pid);
    manifest.set_coordinator_start_ticks(self.start_ticks);
    REQUIRE(ClaimData(path(), manifest).ok());
    manifest = *InspectData(path())->manifest;
    manifest.set_process_start_ticks(manifest.process_start_ticks() + 1);
    Save();
  }
  void Save() const { Write("cluster-iobench.data/manifest.json", ManifestToJson(manifest)); }
};

TEST_CASE("the data of a run stay while its coordinator lives although their claimant has ended") {
  WithoutClaimant directory;
  for (const IfOutOfSight choice : {IfOutOfSight::kRefuse, IfOutOfSight::kAccept}) {
    const absl::Status refused = CleanDataDirectory(directory.path(), choice).status();
    REQUIRE(absl::IsFailedPrecondition(refused));
    REQUIRE_THAT(std::string(refused.message()),
                 Catch::Contains(absl::StrCat("pid ", ::getpid())) && Catch::Contains("is alive"));
  }
  REQUIRE(absl::IsFailedPrecondition(ClaimData(directory.path(), ManifestOf(2), Of(1)).status()));
  directory.manifest.set_coordinator_start_ticks(directory.manifest.coordinator_start_ticks() + 1);
  directory.Save();
  REQUIRE(CleanDataDirectory(directory.path(), IfOutOfSight::kRefuse).ok());
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

TEST_CASE("a process gives up only data that it has claimed and not kept") {
  const Claimed directory;
  REQUIRE(DisownData(directory.path(), Of(2)).ok());  // of another run
  REQUIRE_FALSE(CleanDataDirectory(directory.path(), IfOutOfSight::kAccept).ok());
  REQUIRE(DisownData(directory.path(), Of(1)).ok());
  REQUIRE(directory.HasFiles());
  REQUIRE(CleanDataDirectory(directory.path(), IfOutOfSight::kRefuse).ok());
  REQUIRE(DisownData(directory.path(), Of(1)).ok());  // gone
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));

  const Claimed of_another;
  const v1::Manifest unsigned_manifest = ManifestOf(1);
  of_another.Write("cluster-iobench.data/manifest.json", ManifestToJson(unsigned_manifest));
  REQUIRE(DisownData(of_another.path(), Of(1)).ok());
  REQUIRE(MeaningOf(*InspectData(of_another.path())->manifest) == MeaningOf(unsigned_manifest));

  const Claimed kept(v1::Manifest::KEPT);
  const std::string before = kept.Read("cluster-iobench.data/manifest.json");
  REQUIRE(DisownData(kept.path(), Of(1)).ok());
  REQUIRE(kept.Read("cluster-iobench.data/manifest.json") == before);
}

TEST_CASE("what was seen to be nobody's is not removed once a run has claimed it") {
  const TempDir directory;
  const auto nothing = InspectData(directory.path());
  REQUIRE(nothing.ok());
  REQUIRE(ClaimData(directory.path(), ManifestOf(1)).ok());
  const absl::Status refused = RemoveSeenData(directory.path(), *nothing).status();
  REQUIRE(IsHeldByAnother(refused));
  REQUIRE_THAT(std::string(refused.message()), Catch::Contains("client-a"));
  REQUIRE(directory.Has("cluster-iobench.data/manifest.json"));
  REQUIRE(RemoveSeenData(directory.path(), *InspectData(directory.path())).ok());
  REQUIRE_FALSE(directory.Has("cluster-iobench.data"));
}

}  // namespace
}  // namespace iobench
