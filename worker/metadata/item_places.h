// Where the calls on the items of a tree are made.
#ifndef WORKER_METADATA_ITEM_PLACES_H_
#define WORKER_METADATA_ITEM_PLACES_H_

#include <cstdint>
#include <string>

#include "common/unique_fd.h"
#include "worker/metadata/lane_tree.h"

namespace iobench {

// Gives calls a descriptor and a path from there, for the items of one kind of name. A worker that may open all paths
// gives the root of the tree and the whole path. A worker with roots (worker --root) must not follow a link that somebody
// puts in the place of one of the tree's directories, and only open calls can refuse to: it holds the directory of the
// last item, and gives that and the item's name. As in a path, the directory is looked up when it changes; then this costs
// an openat2() and a close() more. Not thread-safe.
class ItemPlaces {
 public:
  // How calls name an item. kByProc: for calls without a descriptor, such as lsetxattr(): the path is absolute, below
  // /proc/thread-self/fd, so no directory above the tree is looked up by name.
  enum class Style { kFromDescriptor, kByProc };

  // `root_fd`: the root of the tree, open as long as this object is used. `confined`: the worker has roots.
  ItemPlaces(const LaneTree& tree, NameKind kind, int root_fd, bool confined,
             Style style = Style::kFromDescriptor);

  // Returns the result of `call(fd, path)` for an item, or -errno: its directory cannot be held; -ELOOP or -ENOTDIR:
  // something else is in its place. `directory`: the item's own, or where it was moved to.
  template <typename Call>
  int64_t At(uint32_t directory, uint64_t item, Call call) {
    if (directory != directory_) [[unlikely]] {
      if (const int64_t error = Enter(directory); error < 0) return error;
    }
    return call(fd_, paths_.Of(directory, item));
  }

 private:
  int64_t Enter(uint32_t directory);

  const LaneTree tree_;
  const NameKind kind_;
  const int root_fd_;
  const bool confined_;
  const Style style_;
  PathWriter paths_;
  int fd_;
  uint32_t directory_ = UINT32_MAX;
  UniqueFd held_;
};

}  // namespace iobench

#endif  // WORKER_METADATA_ITEM_PLACES_H_
