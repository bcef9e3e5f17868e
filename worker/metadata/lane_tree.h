// The names in a lane's part of a tree: the directories, the items in each, and what they are called. Pure.
//
// Example: PATH/cluster-iobench.data/tree-000003.0/d1/d0/item-00000042 is the 43rd item, in the first subdirectory of
// the second directory of the first level. Items are in the directories of the lowest level, in blocks of consecutive
// numbers. In a shared tree (tree-shared.0), all lanes use the same directories, and names include the lane:
// item-000003-00000042.
#ifndef WORKER_METADATA_LANE_TREE_H_
#define WORKER_METADATA_LANE_TREE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "iobench/v1/plan.pb.h"
#include "worker/pattern/record_grid.h"

namespace iobench {

// The names that an item can have: its file before and after a rename, its links, and its empty directory; and the file, in
// the root, that lanes lock. The names begin with "item", "moved", "link", "symlink", "dir" and "lock".
enum class NameKind { kItem, kMoved, kLink, kSymlink, kLeaf, kLock };

// A plain value, without I/O: the names follow from the plan alone, so that every worker knows those of every lane.
class LaneTree {
 public:
  // `number`: of the tree within the plan. `lane`: the owner of the items, which may be another lane than the one that
  // works on them. REQUIRES: a tree that CheckPlan accepts.
  LaneTree(const v1::Tree& tree, uint32_t number, uint32_t lane);

  // Returns the name of the root in the data directory: "tree-000003.0".
  std::string root_name() const;
  uint64_t item_count() const { return item_count_; }
  // The number of directories on the lowest level that hold items.
  uint64_t directory_count() const { return directory_count_; }
  // Returns the number of the lowest-level directory that holds the item, counted from 0.
  uint32_t DirectoryOf(uint64_t item) const {
    return static_cast<uint32_t>(by_directory_.Divide(item).quotient);
  }
  // Returns where `move` puts the files of a directory for a while: the directory after it, or the first one.
  uint32_t NextDirectory(uint32_t directory) const { return directory + 1 < directory_count_ ? directory + 1 : 0; }
  // Returns how many directories, of all levels, hold nothing once this one and those before it are gone: itself, and those
  // above it that it is the last one of. 0 with depth 0.
  uint32_t LevelsEndingAt(uint32_t directory) const;
  // Returns how many of the first `item_count` items are in a directory.
  uint64_t ItemsIn(uint32_t directory, uint64_t item_count) const;

  uint32_t depth() const { return depth_; }
  // Returns the path from the root, such as "d1/d0"; "." with depth 0.
  std::string PathOfDirectory(uint32_t directory) const;
  // Returns the name in the root of the file that lanes lock in a phase: "lock-00000002".
  std::string LockName(uint32_t phase) const;
  // Returns a path such as "d1/d0/item-00000042".
  std::string PathOf(NameKind kind, uint64_t item) const;
  // Returns what precedes the eight digits: "item-000003-" or "item-".
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

// Writes paths of one kind of name into a reused buffer: 3 ns per item within a directory, which is the part that the
// op's latency includes. Allocates only when the directory changes. Not thread-safe.
class PathWriter {
 public:
  // What is written: the path from the root, or the item's name alone.
  enum class Part { kPath, kName };

  // `before`: prefix of every path.
  PathWriter(const LaneTree& tree, NameKind kind, std::string_view before = "", Part part = Part::kPath);

  // Returns a null-terminated path, valid until the next call, of an item in any directory of the tree.
  const char* Of(uint32_t directory, uint64_t item) {
    if (directory != directory_) [[unlikely]]
      SetDirectory(directory);
    WriteDigits(item, path_.data() + digits_at_);
    return path_.data();
  }

 private:
  static void WriteDigits(uint64_t number, char* at);
  void SetDirectory(uint32_t directory);

  LaneTree tree_;
  Part part_;
  std::string before_, prefix_;
  uint32_t directory_ = UINT32_MAX;
  std::string path_;
  size_t digits_at_ = 0;
};

// True for our names in the data directory: "tree-000003.0", "tree-shared.0".
bool IsTreeName(std::string_view name);
// The same below a tree: "d12" is a directory of the tree; the other names are those of NameKind.
bool IsTreeDirectoryName(std::string_view name);
bool IsItemName(NameKind kind, std::string_view name);

}  // namespace iobench

#endif  // WORKER_METADATA_LANE_TREE_H_
