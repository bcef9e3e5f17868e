#include "worker/metadata/tree_keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/metadata/item_calls.h"
#include "worker/metadata/item_places.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

// Nothing here is timed, and a preloaded library may want to see it.
item::Calls CallsOfThisWorker() {
  return {.of_libc = true, .confined = !RightsOfThisWorker().paths.are_all()};
}
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

absl::Status NotOneOfOurs(const std::string& name, const std::string& where) {
  return absl::FailedPreconditionError(
      absl::StrCat(where, "/", name, " is not one of our directories: remove it"));
}

// An existing directory is no error; a symbolic link in its place is.
absl::Status MakeDirectory(int parent_fd, const std::string& name, const std::string& where) {
  if (::mkdirat(parent_fd, name.c_str(), 0755) == 0) return absl::OkStatus();
  if (errno != EEXIST) return ErrnoStatus(absl::StrCat("create directory ", where, "/", name), errno);
  struct stat found {};
  if (::fstatat(parent_fd, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    return ErrnoStatus(absl::StrCat("look at ", where, "/", name), errno);
  }
  return S_ISDIR(found.st_mode) ? absl::OkStatus() : NotOneOfOurs(name, where);
}

absl::StatusOr<UniqueFd> OpenDirectory(int parent_fd, const std::string& name, const std::string& where) {
  UniqueFd fd(::openat(parent_fd, name.c_str(), kDirectoryFlags));
  if (fd.valid()) return fd;
  if (errno == ELOOP || errno == ENOTDIR) return NotOneOfOurs(name, where);
  return ErrnoStatus(absl::StrCat("open directory ", where, "/", name), errno);
}

// One lane's part, opened for preparation.
class Preparing {
 public:
  // Where items are: in their own directories, or where an interrupted `move` left them.
  enum class Place { kOwn, kNext };

  Preparing(const MetadataWork& work, int root_fd, std::string root_path, Payload* payload,
            const StopCell& quit)
      : work_(work), root_fd_(root_fd), root_path_(std::move(root_path)), payload_(payload), quit_(quit) {}

  // From the top down, so that the path of a directory leads only through those that were made or checked before it.
  absl::Status MakeDirectories() {
    if (work_.names.depth() == 0) return absl::OkStatus();
    std::string previous;
    for (uint32_t i = 0; i < work_.names.directory_count(); ++i) {
      const std::string path = absl::StrCat(work_.names.PathOfDirectory(i), "/");
      for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        // Most share their upper levels with the previous one.
        if (previous.compare(0, slash + 1, path, 0, slash + 1) == 0) continue;
        IOBENCH_RETURN_IF_ERROR(MakeDirectoryOfTree(path.substr(0, slash)));
      }
      previous = path;
    }
    return absl::OkStatus();
  }

  // Missing names are not an error. `place`: see ForEach.
  absl::Status Remove(NameKind kind, Place place = Place::kOwn) {
    const bool leaves = kind == NameKind::kLeaf;
    return ForEach(kind, work_.names.item_count(), [&](uint64_t, int fd, const char* path) {
      const int64_t removed = leaves ? item::Rmdir(fd, path) : item::Unlink(fd, path);
      return removed == -ENOENT ? 0 : removed;
    }, place);
  }

  // Existing items come from a cancelled attempt to start; creating them again does no harm.
  absl::Status Make(TreePart part) {
    const uint64_t count = part == TreePart::kLeaves ? work_.names.item_count() : work_.item_count;
    switch (part) {
      case TreePart::kFiles:
        return ForEach(work_.file_names(), count, [&](uint64_t item, int fd, const char* path) {
          const uint32_t bytes = work_.sizes.Of(item);
          const int64_t written =
              item::Create(calls_, fd, path, O_TRUNC, work_.DataBeginOf(item), bytes, payload_);
          if (written >= 0) bytes_ += static_cast<uint64_t>(written);
          return written >= 0 && written < bytes ? -int64_t{ENOSPC} : written;
        });
      case TreePart::kXattrs: {
        const std::vector<std::byte> value(work_.tree.xattr_bytes(), std::byte{'p'});
        return ForEach(work_.file_names(), count, [&](uint64_t, int fd, const char* path) {
          const std::string absolute = absl::StrCat("/proc/thread-self/fd/", fd, "/", path);
          return item::SetXattr(absolute.c_str(), value.data(), static_cast<uint32_t>(value.size()));
        });
      }
      case TreePart::kLeaves:
        return ForEach(NameKind::kLeaf, count, [&](uint64_t, int fd, const char* path) {
          const int64_t made = item::Mkdir(fd, path);
          return made == -EEXIST ? 0 : made;
        });
      case TreePart::kSymlinks: {
        // Targets in the same directory. A link whose file is renamed leads nowhere, which readlink does not mind.
        const std::string target = work_.names.PrefixOf(work_.file_names());
        return ForEach(NameKind::kSymlink, count, [&](uint64_t item, int fd, const char* path) {
          const int64_t made = item::Symlink(fd, absl::StrCat(target, absl::Dec(item, absl::kZeroPad8)).c_str(), path);
          return made == -EEXIST ? 0 : made;
        });
      }
      case TreePart::kLinks:
        break;  // no operation needs them
    }
    return absl::OkStatus();
  }

  uint64_t bytes() const { return bytes_; }

 private:
  absl::Status MakeDirectoryOfTree(const std::string& path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return MakeDirectory(root_fd_, path, root_path_);
    const std::string parent = path.substr(0, slash), where = absl::StrCat(root_path_, "/", parent);
    const UniqueFd parent_fd(static_cast<int>(calls_.OpenDirectory(root_fd_, parent.c_str())));
    if (!parent_fd.valid()) return ErrnoStatus(absl::StrCat("open directory ", where), errno);
    return MakeDirectory(parent_fd.get(), path.substr(slash + 1), where);
  }

  absl::Status ForEach(NameKind kind, uint64_t count,
                       const std::function<int64_t(uint64_t item, int fd, const char* path)>& call,
                       Place place = Place::kOwn) {
    ItemPlaces places(work_.names, kind, root_fd_, calls_.confined);
    for (uint64_t item = 0; item < count; ++item) {
      if (quit_.stop.load(std::memory_order_relaxed)) {
        return absl::CancelledError("stopped while preparing the tree");
      }
      const uint32_t own = work_.names.DirectoryOf(item);
      const int64_t result = places.At(place == Place::kOwn ? own : work_.names.NextDirectory(own), item,
                                       [&](int fd, const char* path) { return call(item, fd, path); });
      if (result < 0) {
        return ErrnoStatus(absl::StrCat("prepare ", root_path_, "/", work_.names.PathOf(kind, item)),
                           static_cast<int>(-result));
      }
    }
    return absl::OkStatus();
  }

  const MetadataWork& work_;
  const item::Calls calls_ = CallsOfThisWorker();
  const int root_fd_;
  const std::string root_path_;
  Payload* const payload_;
  const StopCell& quit_;
  uint64_t bytes_ = 0;
};

std::vector<NameKind> NamesOf(TreePart part, const MetadataWork& work) {
  switch (part) {
    case TreePart::kFiles:
      return {work.state.renamed() ? NameKind::kMoved : NameKind::kItem};
    case TreePart::kLinks:
      return {NameKind::kLink};
    case TreePart::kSymlinks:
      return {NameKind::kSymlink};
    case TreePart::kLeaves:
      return {NameKind::kLeaf};
    case TreePart::kXattrs:
      break;  // removed with their files
  }
  return {};
}

}  // namespace

bool PreparesData(const MetadataWork& work) {
  const v1::TreeState state = work.state.unknown() ? v1::TreeState() : work.state;
  return work.tree.file_bytes() > 0 && PartsMissing(state, work.effect, work.tree).Has(TreePart::kFiles);
}

absl::StatusOr<TreePrepared> PrepareTree(int data_fd, const std::string& directory, const MetadataWork& work,
                                         Payload* payload, const StopCell& quit) {
  const std::string root = work.names.root_name();
  const v1::TreeState state = work.state.unknown() ? v1::TreeState() : work.state;
  const bool is_new = PartsThere(state).empty();
  if (is_new) IOBENCH_RETURN_IF_ERROR(MakeDirectory(data_fd, root, directory));
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd root_fd, OpenDirectory(data_fd, root, directory));
  Preparing preparing(work, root_fd.get(), absl::StrCat(directory, "/", root), payload, quit);
  if (is_new) IOBENCH_RETURN_IF_ERROR(preparing.MakeDirectories());

  TreePrepared prepared;
  if (work.state.unknown()) {
    for (const NameKind kind :
         {NameKind::kItem, NameKind::kMoved, NameKind::kLink, NameKind::kSymlink, NameKind::kLeaf}) {
      IOBENCH_RETURN_IF_ERROR(preparing.Remove(kind));
    }
    for (const NameKind kind : {NameKind::kItem, NameKind::kMoved}) {
      if (work.names.directory_count() > 1) IOBENCH_RETURN_IF_ERROR(preparing.Remove(kind, Preparing::Place::kNext));
    }
    prepared.removed = work.names.item_count();
  }
  const TreeParts in_the_way = PartsInTheWay(state, work.effect, work.tree);
  const TreeParts missing = PartsMissing(state, work.effect, work.tree);
  for (const TreePart part : kTreeParts) {
    if (!in_the_way.Has(part)) continue;
    for (const NameKind kind : NamesOf(part, work)) IOBENCH_RETURN_IF_ERROR(preparing.Remove(kind));
    prepared.removed = work.names.item_count();
  }
  for (const TreePart part : kTreeParts) {
    if (!missing.Has(part)) continue;
    IOBENCH_RETURN_IF_ERROR(preparing.Make(part));
    prepared.made = work.item_count;
  }
  prepared.bytes = preparing.bytes();
  // Prevents written data from being written back while something is measured.
  if (prepared.bytes > 0 && ::syncfs(root_fd.get()) != 0) {
    return ErrnoStatus(absl::StrCat("syncfs ", directory, "/", root), errno);
  }
  return prepared;
}

namespace {

class Removing {
 public:
  Removing(size_t max_foreign, std::vector<std::string>& foreign)
      : max_foreign_(max_foreign), foreign_(foreign) {}

  // Removes everything below `name`, then `name`. `below`: its path below the data directory; `where`: full path, for
  // messages.
  absl::Status Directory(int parent_fd, const std::string& name, const std::string& below,
                         const std::string& where) {
    auto directory = OpenDirectory(parent_fd, name, where.substr(0, where.size() - name.size() - 1));
    if (absl::IsNotFound(directory.status())) return absl::OkStatus();
    if (!directory.ok()) return directory.status();
    const int fd = directory->get();
    DIR* const opened = ::fdopendir(fd);
    if (opened == nullptr) return ErrnoStatus(absl::StrCat("list ", where), errno);
    directory->Release();
    const std::unique_ptr<DIR, int (*)(DIR*)> closer(opened, ::closedir);
    absl::Status first_error;
    // A directory that changes while it is listed may skip names, so it is listed again until nothing more is found.
    uint64_t changes_before = 0;
    do {
      changes_before = changes_;
      ::rewinddir(opened);
      for (;;) {
        errno = 0;
        const dirent* const entry = ::readdir(opened);
        if (entry == nullptr) {
          if (errno != 0) first_error.Update(ErrnoStatus(absl::StrCat("list ", where), errno));
          break;
        }
        const std::string child = entry->d_name;
        if (child == "." || child == "..") continue;
        first_error.Update(
            Child(fd, child, absl::StrCat(below, "/", child), absl::StrCat(where, "/", child)));
      }
    } while (changes_ > changes_before && first_error.ok());
    if (::unlinkat(parent_fd, name.c_str(), AT_REMOVEDIR) == 0) {
      ++changes_;
    } else if (errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST) {
      first_error.Update(ErrnoStatus(absl::StrCat("remove directory ", where), errno));
    }
    return first_error;
  }

  uint64_t removed() const { return removed_; }

 private:
  absl::Status Child(int fd, const std::string& name, const std::string& below, const std::string& where) {
    if (name.starts_with(".nfs")) return absl::OkStatus();  // disappears on its own
    struct stat facts {};
    if (::fstatat(fd, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      return errno == ENOENT ? absl::OkStatus() : ErrnoStatus(absl::StrCat("look at ", where), errno);
    }
    if (S_ISDIR(facts.st_mode) && IsTreeDirectoryName(name)) return Directory(fd, name, below, where);
    const bool leaf = S_ISDIR(facts.st_mode) && IsItemName(NameKind::kLeaf, name);
    const bool link = S_ISLNK(facts.st_mode) && IsItemName(NameKind::kSymlink, name);
    const bool file =
        S_ISREG(facts.st_mode) && (IsItemName(NameKind::kItem, name) || IsItemName(NameKind::kMoved, name) ||
                                   IsItemName(NameKind::kLink, name) || IsItemName(NameKind::kLock, name));
    if (!leaf && !link && !file) {
      AddForeign(below);
      return absl::OkStatus();
    }
    if (::unlinkat(fd, name.c_str(), leaf ? AT_REMOVEDIR : 0) == 0) {
      ++removed_;
      ++changes_;
    } else if (leaf && (errno == ENOTEMPTY || errno == EEXIST)) {
      AddForeign(absl::StrCat(below, "/…"));
    } else if (errno != ENOENT) {
      return ErrnoStatus(absl::StrCat("remove ", where), errno);
    }
    return absl::OkStatus();
  }

  // Adds a name once, however often it is listed.
  void AddForeign(const std::string& name) {
    if (foreign_.size() >= max_foreign_ ||
        std::find(foreign_.begin(), foreign_.end(), name) != foreign_.end())
      return;
    foreign_.push_back(name);
  }

  const size_t max_foreign_;
  std::vector<std::string>& foreign_;
  uint64_t removed_ = 0;  // items
  uint64_t changes_ = 0;  // directories too
};

}  // namespace

absl::StatusOr<uint64_t> RemoveTree(int data_fd, const std::string& directory, const std::string& name,
                                    size_t max_foreign, std::vector<std::string>& foreign) {
  Removing removing(max_foreign, foreign);
  IOBENCH_RETURN_IF_ERROR(removing.Directory(data_fd, name, name, absl::StrCat(directory, "/", name)));
  return removing.removed();
}

}  // namespace iobench
