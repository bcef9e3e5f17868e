// find's way through a lane's part of a tree: directory after directory is listed, and every file that the listing names
// is looked at, in the listing's order.
#ifndef WORKER_METADATA_TREE_WALK_H_
#define WORKER_METADATA_TREE_WALK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "iobench/v1/plan.pb.h"
#include "worker/metadata/lane_tree.h"
#include "worker/unique_fd.h"

namespace iobench {

inline constexpr size_t kListingBytes = 64 << 10;

// As getdents64 fills it in.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t record_bytes;
  uint8_t type;
  char name[1];  // and more, ends with a zero
};

// One thread.
class TreeWalk {
 public:
  // Of the first `item_count` items under the names of `kind`. Links, empty directories and, in a shared tree, what other
  // lanes have made are passed over.
  TreeWalk(const LaneTree& names, NameKind kind, const v1::Find& wanted, uint64_t item_count);

  // Looks at the next file of `directory`: 0, or -errno; -ENODATA: the listing has no more, and should have. A directory
  // whose items have all been looked at, and another one than before, is listed from its beginning. REQUIRES: it holds
  // an item.
  int64_t Next(int root_fd, uint32_t directory);

  uint64_t found_items() const { return found_items_; }
  // Of the item that Next looked at last, from the root; where the listing ended too soon, of its directory.
  std::string place() const;
  // Of a listing that ended too soon.
  uint64_t seen_in_directory() const { return expected_ - left_; }
  uint64_t expected_in_directory() const { return expected_; }

 private:
  int64_t Enter(int root_fd, uint32_t directory);
  int64_t List();  // the next piece: its bytes, 0 at the end, or -errno
  int64_t Leave();
  bool IsOurs(const DirectoryEntry& entry) const;
  bool IsWanted(const char* name, uint64_t bytes) const;

  const LaneTree names_;
  const uint64_t item_count_;
  const std::string prefix_;  // of our names
  const std::string pattern_;
  const uint64_t wanted_bytes_;
  uint64_t found_items_ = 0;

  UniqueFd fd_;
  uint32_t directory_ = UINT32_MAX;
  uint64_t expected_ = 0, left_ = 0;  // items in it, and of those, still to be looked at
  std::vector<std::byte> listing_;
  int64_t at_ = 0, end_ = 0;  // in the listing
  const char* name_ = nullptr;
};

}  // namespace iobench

#endif  // WORKER_METADATA_TREE_WALK_H_
