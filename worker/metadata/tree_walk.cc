#include "worker/metadata/tree_walk.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "worker/metadata/item_calls.h"

namespace iobench {
namespace {

constexpr size_t kDigitCount = 8;

}  // namespace

TreeWalk::TreeWalk(const LaneTree& names, NameKind kind, const v1::Find& wanted, uint64_t item_count)
    : names_(names),
      item_count_(item_count),
      prefix_(names.PrefixOf(kind)),
      pattern_(wanted.name()),
      wanted_bytes_(wanted.bytes()),
      listing_(kListingBytes) {}

std::string TreeWalk::place() const {
  const std::string directory = names_.PathOfDirectory(directory_);
  return name_ == nullptr ? directory : absl::StrCat(directory, "/", name_);
}

int64_t TreeWalk::Enter(int root_fd, uint32_t directory) {
  directory_ = directory;
  expected_ = left_ = names_.ItemsIn(directory, item_count_);
  at_ = end_ = 0;
  const int64_t fd = item::Call(SYS_openat, root_fd, names_.PathOfDirectory(directory).c_str(),
                                O_RDONLY | O_DIRECTORY | item::kOpenFlags, 0);
  if (fd < 0) return fd;
  fd_ = UniqueFd(static_cast<int>(fd));
  return 0;
}

int64_t TreeWalk::List() {
  at_ = 0;
  end_ = item::Call(SYS_getdents64, fd_.get(), listing_.data(), listing_.size());
  return end_;
}

// What is left of the listing is none of ours, and belongs to finding that out.
int64_t TreeWalk::Leave() {
  int64_t listed = 0;
  while ((listed = List()) > 0) {
  }
  return item::CloseAfter(fd_.Release(), listed);
}

bool TreeWalk::IsOurs(const DirectoryEntry& entry) const {
  const size_t name_bytes = prefix_.size() + kDigitCount;
  return entry.record_bytes > offsetof(DirectoryEntry, name) + name_bytes &&
         std::memcmp(entry.name, prefix_.data(), prefix_.size()) == 0 && entry.name[name_bytes] == 0;
}

bool TreeWalk::IsWanted(const char* name, uint64_t bytes) const {
  return (wanted_bytes_ == 0 || bytes == wanted_bytes_) &&
         (pattern_.empty() || ::fnmatch(pattern_.c_str(), name, 0) == 0);
}

int64_t TreeWalk::Next(int root_fd, uint32_t directory) {
  name_ = nullptr;
  if (directory != directory_ || left_ == 0) {
    if (const int64_t entered = Enter(root_fd, directory); entered < 0) return entered;
  }
  for (;;) {
    if (at_ >= end_) {
      const int64_t listed = List();
      if (listed <= 0) return listed == 0 ? -int64_t{ENODATA} : listed;
    }
    const auto* const entry = reinterpret_cast<const DirectoryEntry*>(listing_.data() + at_);
    at_ += entry->record_bytes;
    if (!IsOurs(*entry)) continue;
    name_ = entry->name;
    struct stat facts;
    if (const int64_t looked = item::Stat(fd_.get(), name_, &facts); looked < 0) return looked;
    if (IsWanted(name_, static_cast<uint64_t>(facts.st_size))) ++found_items_;
    return --left_ == 0 ? Leave() : 0;
  }
}

}  // namespace iobench
