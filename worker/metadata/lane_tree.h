// The names of a lane's part of a tree: which directories, which item in which of them, what things are called. Pure.
//
// PATH/cluster-iobench.data/tree-000003.0/d1/d0/item-00000042: the second directory of the first level, the first one
// in it, the 43rd item. Items stand in the directories of the lowest level, in blocks of consecutive numbers. In a
// shared tree (tree-shared.0) all lanes use the same directories, and names say whose they are: item-000003-00000042.
#ifndef WORKER_METADATA_LANE_TREE_H_
#define WORKER_METADATA_LANE_TREE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "iobench/v1/plan.pb.h"
#include "worker/pattern/record_grid.h"

namespace iobench {

enum class NameKind { kItem, kMoved, kLink, kSymlink, kLeaf };  // "item", "moved", "link", "symlink", "dir"

inline constexpr uint64_t kMostItemsPerLane = 100'000'000;  // numbers have eight digits

// Values only. `lane` is the owner's.
class LaneTree {
 public:
  LaneTree(const v1::Tree& tree, uint32_t number, uint32_t lane);  // REQUIRES: a tree that CheckPlan allows

  std::string root_name() const;  // "tree-000003.0"
  uint64_t item_count() const { return item_count_; }
  uint64_t directory_count() const { return directory_count_; }  // those of the lowest level that hold items
  uint32_t DirectoryOf(uint64_t item) const {
    return static_cast<uint32_t>(by_directory_.Divide(item).quotient);
  }
  // How many of the first `item_count` items are in a directory.
  uint64_t ItemsIn(uint32_t directory, uint64_t item_count) const;

  uint32_t depth() const { return depth_; }
  // "d1/d0", from the root; "." with depth 0.
  std::string PathOfDirectory(uint32_t directory) const;
  // "d1/d0/item-00000042"
  std::string PathOf(NameKind kind, uint64_t item) const;
  // "item-000003-" or "item-": what stands before the eight digits.
  std::string PrefixOf(NameKind kind) const;

 private:
  uint32_t lane_;
  uint32_t number_;
  bool shared_;
  uint32_t depth_;
  uint32_t branching_;
  uint64_t item_count_;
  uint64_t items_per_directory_;
  uint64_t directory_count_;
  Divisor by_directory_;
};

// Writes the paths of one kind of name, one after the other, into the same place: 3 ns an item within a directory. One
// thread.
class PathWriter {
 public:
  // `before` stands before every path.
  PathWriter(const LaneTree& tree, NameKind kind, std::string_view before = "");

  // Ends with a zero; valid until the next call. REQUIRES: directory == tree.DirectoryOf(item).
  const char* Of(uint32_t directory, uint64_t item) {
    if (directory != directory_) [[unlikely]]
      SetDirectory(directory);
    PutDigits(item, path_.data() + digits_at_);
    return path_.data();
  }

 private:
  static void PutDigits(uint64_t number, char* at);
  void SetDirectory(uint32_t directory);

  LaneTree tree_;
  std::string before_, prefix_;
  uint32_t directory_ = UINT32_MAX;
  std::string path_;
  size_t digits_at_ = 0;
};

// Names below the data directory that are ours: "tree-000003.0", "tree-shared.0".
bool IsTreeName(std::string_view name);
// And below a tree: "d12" is a directory of it; the others are what NameKind says.
bool IsTreeDirectoryName(std::string_view name);
bool IsItemName(NameKind kind, std::string_view name);

}  // namespace iobench

#endif  // WORKER_METADATA_LANE_TREE_H_
