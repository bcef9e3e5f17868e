// A data directory with a lane's part of a tree, for tests of operations on it.
#ifndef TESTS_UNIT_TREE_TEST_SUPPORT_H_
#define TESTS_UNIT_TREE_TEST_SUPPORT_H_

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"
#include "worker/metadata/metadata_engine.h"
#include "worker/metadata/metadata_stream.h"
#include "worker/metadata/tree_keeper.h"

namespace iobench {

inline v1::Tree TreeOf(uint64_t items, uint32_t depth = 0, uint32_t branching = 1) {
  v1::Tree tree;
  tree.set_items_per_lane(items);
  tree.set_depth(depth);
  tree.set_branching(branching);
  tree.set_xattr_bytes(16);
  return tree;
}

// A TempDir on a disk, opened.
class DataDirectory {
 public:
  DataDirectory() { REQUIRE(fd_ >= 0); }
  ~DataDirectory() { close(fd_); }
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return directory_.path(); }
  std::filesystem::path At(const std::string& name) const { return directory_ / name; }
  bool Has(const std::string& name) const { return directory_.Has(name); }
  std::string ContentOf(const std::string& name) const { return directory_.Read(name); }
  void Put(const std::string& name, const std::string& text = "") const { directory_.Write(name, text); }
  // Returns all names below, sorted, without directories that contain others.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      if (entry.is_directory() && !entry.is_symlink() && !std::filesystem::is_empty(entry.path())) continue;
      names.push_back(std::filesystem::relative(entry.path().parent_path(), path()) /
                      entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // Returns how many of the names start with `prefix`.
  int64_t CountOf(const std::string& prefix) const {
    const std::vector<std::string> names = Names();
    return std::count_if(names.begin(), names.end(), [&](const std::string& name) {
      return std::filesystem::path(name).filename().string().starts_with(prefix);
    });
  }

 private:
  const TempDir directory_{ParentOnDisk()};
  const int fd_ = open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
};

// One lane that runs one operation after the other on its part, as the phases of a run would.
class TreeLane {
 public:
  TreeLane(const DataDirectory& directory, const v1::Tree& tree, uint32_t lane = 0)
      : directory_(directory), tree_(tree), lane_(lane) {}

  v1::Tree& tree() { return tree_; }
  v1::TreeState& state() { return state_; }
  absl::StatusOr<TreePrepared> Prepares(const char* operation) {
    work_.emplace(**FindOperation(operation), tree_, state_, lane_, phase_++, kSeed);
    work_->lane = works_as.value_or(lane_);
    auto payload = Payload::Create(1, lane_, 0, kLargestPieceBytes);
    REQUIRE(payload.ok());
    payload_.emplace(*std::move(payload));
    return PrepareTree(directory_.fd(), directory_.path(), *work_, &*payload_, quit);
  }
  // REQUIRES: Prepares was called.
  LoopEnd Runs(const LoopRules& rules = {}) {
    engine_ = MakeMetadataEngine({.call = Call::kMetadata, .ticks = ChosenTickSource()}, *work_);
    stream_ = MakeMetadataStream(*work_->operation, work_->names,
                                 {.item_count = work_->item_count,
                                  .sizes = work_->sizes,
                                  .random_order = tree_.random_order(),
                                  .seed = kSeed,
                                  .lane = lane_,
                                  .phase = work_->phase});
    recorder_ = std::make_unique<LaneRecorder>(work_->operation->kinds, CurrentTickScale());
    LaneContext context{.stream = *stream_,
                        .payload = &*payload_,
                        .read_buffer = nullptr,
                        .stop = stop,
                        .recorder = *recorder_,
                        .rules = rules};
    REQUIRE(engine_->MakeReady(context).ok());
    files_ = {.directory_fd = directory_.fd(), .directory = directory_.path(), .files = {}};
    files_.files.push_back({.name = work_->names.root_name()});
    REQUIRE(engine_->Open(files_, {}).ok());
    if (before_ops) before_ops();
    const LoopEnd end = engine_->Run(context);
    recorder_->Finish();
    REQUIRE(engine_->Flush().ok());
    REQUIRE(engine_->Close().ok());
    return end;
  }
  // Prepares, runs to the end and continues from there; the tree must have been in the expected state.
  void Does(const char* operation) {
    INFO(operation);
    const auto prepared = Prepares(operation);
    REQUIRE(prepared.ok());
    REQUIRE(prepared->made == 0);
    REQUIRE(prepared->removed == 0);
    const LoopEnd end = Runs();
    if (end.reason == LoopEnd::Reason::kFailed) FAIL(std::string(engine_->Explain(end)->status.message()));
    REQUIRE(end.reason == LoopEnd::Reason::kDone);
    REQUIRE(recorder_->ops() == stream_->ops_per_pass());
    state_ = StateAfter(state_, work_->effect, tree_);
  }

  IoEngine& engine() { return *engine_; }
  const LaneRecorder& recorder() const { return *recorder_; }
  StopCell stop, quit;
  std::optional<uint32_t> works_as;  // the lane that works on the items of `lane`, if another one does
  std::function<void()> before_ops;  // what others do when the tree is prepared and open
  static constexpr uint64_t kSeed = 1;

 private:
  const DataDirectory& directory_;
  v1::Tree tree_;
  const uint32_t lane_;
  uint32_t phase_ = 0;
  v1::TreeState state_;
  std::optional<MetadataWork> work_;
  std::optional<Payload> payload_;
  FileSet files_;
  std::unique_ptr<IoEngine> engine_;
  std::unique_ptr<OpStream> stream_;
  std::unique_ptr<LaneRecorder> recorder_;
};

}  // namespace iobench

#endif  // TESTS_UNIT_TREE_TEST_SUPPORT_H_
