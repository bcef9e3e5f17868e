// The traversal of find and remove-tree through a lane's part of a tree: lists one directory after the other and stats, or
// removes, every file in the order of the listing.
#ifndef WORKER_METADATA_TREE_WALK_H_
#define WORKER_METADATA_TREE_WALK_H_

#include <fnmatch.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "iobench/v1/plan.pb.h"
#include "worker/metadata/item_calls.h"
#include "worker/metadata/lane_tree.h"

namespace iobench {

// Size of the buffer for the entries of one getdents64() call. The readdir operation uses the same.
inline constexpr size_t kListingBytes = 64 << 10;

// The format of getdents64 (linux_dirent64 in its manual page). The next entry begins record_bytes after this one.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t record_bytes;
  uint8_t type;
  char name[1];  // continues, null-terminated
};

// Keeps its place between ops, because one listing serves many of them: each call of Next is one op, which
// includes the listing if a new piece is needed. Allocates only in the constructor and when it enters a directory. The
// lane's thread uses it; not thread-safe.
class TreeWalk {
 public:
  // Visits the first `item_count` items with names of `kind`. Skips links, empty directories and, in a shared tree,
  // other lanes' items.
  TreeWalk(const LaneTree& names, NameKind kind, const v1::Find& wanted, uint64_t item_count,
           item::Calls calls = {});

  // Examines the next file of `directory`. Returns 0 or -errno; -ENODATA: the listing ended before all items were seen.
  // Starts a new listing for another directory, and for one whose items have all been examined. REQUIRES: the directory
  // holds an item.
  int64_t Next(int root_fd, uint32_t directory);
  // The same, but calls `visit(directory_fd, name)` in place of looking at the file: a function that returns 0 or -errno.
  template <typename Visit>
  int64_t Next(int root_fd, uint32_t directory, Visit visit);
  // After -ENODATA: lists the directory from its beginning, because names may be skipped while others are removed. Returns 0
  // or -errno. The item that was not found is due again.
  int64_t ListAgain();

  // The number of items that met the criteria, over all calls of Next; an item found in several passes counts each
  // time.
  uint64_t found_items() const { return found_items_; }
  // Returns the path, from the root, of the item that Next examined last; if the listing ended too early, of its
  // directory.
  std::string place() const;
  // For a listing that ended too early: how many items of the directory were seen, and how many there should be.
  uint64_t seen_in_directory() const { return seen_; }
  uint64_t expected_in_directory() const { return expected_; }

 private:
  static constexpr size_t kDigitCount = 8;

  // Opens the directory and starts its listing. Returns 0 or -errno.
  int64_t Enter(int root_fd, uint32_t directory);
  int64_t List();  // reads the next piece: its bytes, 0 at the end, or -errno
  int64_t Leave();
  // True for the name of an item of this lane and kind. Compares bytes only, because it runs for every entry.
  bool IsOurs(const DirectoryEntry& entry) const;
  bool IsWanted(const char* name, uint64_t bytes) const;

  const LaneTree names_;
  const uint64_t item_count_;
  const std::string prefix_;  // of our names
  const std::string pattern_;
  const std::optional<uint64_t> wanted_bytes_;
  const item::Calls calls_;
  uint64_t found_items_ = 0;

  UniqueFd fd_;
  uint32_t directory_ = UINT32_MAX;
  // Items in the directory, and those for which Next was not yet called, whether the calls succeed or not.
  uint64_t expected_ = 0, left_ = 0;
  uint64_t seen_ = 0;  // items that were examined
  std::vector<std::byte> listing_;
  int64_t at_ = 0, end_ = 0;  // positions in the listing
  const char* name_ = nullptr;
};

// Inlined into the loop, so that an op costs little more than its fstatat().
inline bool TreeWalk::IsOurs(const DirectoryEntry& entry) const {
  const size_t name_bytes = prefix_.size() + kDigitCount;
  return entry.record_bytes > offsetof(DirectoryEntry, name) + name_bytes &&
         std::memcmp(entry.name, prefix_.data(), prefix_.size()) == 0 && entry.name[name_bytes] == 0;
}

inline bool TreeWalk::IsWanted(const char* name, uint64_t bytes) const {
  return (!wanted_bytes_.has_value() || bytes == *wanted_bytes_) &&
         (pattern_.empty() || ::fnmatch(pattern_.c_str(), name, 0) == 0);
}

inline int64_t TreeWalk::Next(int root_fd, uint32_t directory) {
  return Next(root_fd, directory, [this](int directory_fd, const char* name) {
    struct stat facts;
    if (const int64_t looked = item::Stat(directory_fd, name, &facts); looked < 0) return looked;
    if (IsWanted(name, static_cast<uint64_t>(facts.st_size))) ++found_items_;
    return int64_t{0};
  });
}

template <typename Visit>
inline int64_t TreeWalk::Next(int root_fd, uint32_t directory, Visit visit) {
  name_ = nullptr;
  if (directory != directory_ || left_ == 0) {
    if (const int64_t entered = Enter(root_fd, directory); entered < 0) return entered;
  }
  for (;;) {
    if (at_ >= end_) {
      const int64_t listed = List();
      if (listed <= 0) {
        --left_;
        return listed == 0 ? -int64_t{ENODATA} : listed;
      }
    }
    const auto* const entry = reinterpret_cast<const DirectoryEntry*>(listing_.data() + at_);
    at_ += entry->record_bytes;
    if (!IsOurs(*entry)) continue;
    name_ = entry->name;
    if (const int64_t visited = visit(fd_.get(), name_); visited < 0) {
      --left_;
      return visited;
    }
    ++seen_;
    return --left_ == 0 ? Leave() : 0;
  }
}

}  // namespace iobench

#endif  // WORKER_METADATA_TREE_WALK_H_
