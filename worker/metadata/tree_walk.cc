#include "worker/metadata/tree_walk.h"

#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "worker/metadata/item_calls.h"

namespace iobench {
TreeWalk::TreeWalk(const LaneTree& names, NameKind kind, const v1::Find& wanted, uint64_t item_count,
                   item::Calls calls)
    : names_(names),
      item_count_(item_count),
      prefix_(names.PrefixOf(kind)),
      pattern_(wanted.name()),
      wanted_bytes_(wanted.has_bytes() ? std::optional(wanted.bytes()) : std::nullopt),
      calls_(calls),
      listing_(kListingBytes) {}

std::string TreeWalk::place() const {
  const std::string directory = names_.PathOfDirectory(directory_);
  return name_ == nullptr ? directory : absl::StrCat(directory, "/", name_);
}

int64_t TreeWalk::Enter(int root_fd, uint32_t directory) {
  directory_ = directory;
  expected_ = left_ = names_.ItemsIn(directory, item_count_);
  seen_ = 0;
  at_ = end_ = 0;
  const int64_t fd = calls_.OpenDirectory(root_fd, names_.PathOfDirectory(directory).c_str());
  if (fd < 0) {
    left_ = 0;  // the next item tries again
    return fd;
  }
  fd_ = UniqueFd(static_cast<int>(fd));
  return 0;
}

int64_t TreeWalk::List() {
  at_ = 0;
  end_ = calls_.List(fd_.get(), listing_.data(), listing_.size());
  return end_;
}

int64_t TreeWalk::ListAgain() {
  if (::lseek(fd_.get(), 0, SEEK_SET) != 0) return -int64_t{errno};
  at_ = end_ = 0;
  ++left_;
  return 0;
}

// Reads the rest of the listing, which contains none of our items, as part of the op; then closes the directory.
int64_t TreeWalk::Leave() {
  name_ = nullptr;  // it was in the listing that is replaced
  int64_t listed = 0;
  while ((listed = List()) > 0) {
  }
  return calls_.CloseAfter(fd_.Release(), listed);
}

}  // namespace iobench
