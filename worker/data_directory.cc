#include "worker/data_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/status_util.h"
#include "common/utf8.h"
#include "worker/manifest.h"
#include "worker/metadata/tree_keeper.h"

namespace iobench {
namespace {

constexpr char kManifestName[] = "manifest.json";
constexpr char kTemporaryPrefix[] = "manifest.json.tmp-";
constexpr size_t kMostForeignNames = 10;
constexpr size_t kMostManifestBytes = 64 * 1024;

std::string DataPath(const std::string& path) {
  return absl::StrCat(path, "/", kDataDirectoryName);
}

bool IsTemporaryName(std::string_view name) {
  return name.starts_with(kTemporaryPrefix);
}

// What an NFS client calls a file that was removed while something had it open; it goes away by itself.
bool IsSillyName(std::string_view name) {
  return name.starts_with(".nfs");
}

absl::StatusOr<UniqueFd> OpenTarget(const std::string& path) {
  // Opened for reading, an NFS client asks the server whether the directory has changed; by O_PATH alone it would go on
  // believing for up to acdirmax (60 s) that there are no data in it, though another client has kept some there.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() && errno == EACCES) fd = UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(absl::StrCat("open directory ", path), errno);
  return fd;
}

absl::StatusOr<UniqueFd> OpenDataIn(int target_fd, const std::string& path) {
  UniqueFd fd(::openat(target_fd, kDataDirectoryName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.valid()) return fd;
  const int error = errno;
  if (error != ELOOP && error != ENOTDIR)
    return ErrnoStatus(absl::StrCat("open directory ", DataPath(path)), error);
  return absl::FailedPreconditionError(
      absl::StrCat(DataPath(path),
                   " is not a directory (a symbolic link is not followed): it is not ours; move it "
                   "away or choose another --path"));
}

absl::StatusOr<std::vector<std::string>> NamesIn(int directory_fd, const std::string& where) {
  UniqueFd again(::openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* const stream = again.valid() ? ::fdopendir(again.get()) : nullptr;
  if (stream == nullptr) return ErrnoStatus(absl::StrCat("list ", where), errno);
  again.Release();
  const std::unique_ptr<DIR, int (*)(DIR*)> closer(stream, ::closedir);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream);
    if (entry == nullptr) {
      if (errno != 0) return ErrnoStatus(absl::StrCat("list ", where), errno);
      return names;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

// NotFound: there is no manifest. InvalidArgument, Unimplemented: not one of ours that we can read.
absl::StatusOr<v1::Manifest> ReadManifest(int data_fd, const std::string& path) {
  const std::string where = absl::StrCat(DataPath(path), "/", kManifestName);
  UniqueFd fd(::openat(data_fd, kManifestName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ELOOP) return absl::InvalidArgumentError(absl::StrCat(where, ": a symbolic link"));
    return ErrnoStatus(absl::StrCat("open ", where), errno);
  }
  std::string text(kMostManifestBytes, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t moved = ::read(fd.get(), text.data() + size, text.size() - size);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0 && errno == EISDIR) return absl::InvalidArgumentError(absl::StrCat(where, ": a directory"));
    if (moved < 0) return ErrnoStatus(absl::StrCat("read ", where), errno);
    if (moved == 0) break;
    size += static_cast<size_t>(moved);
  }
  text.resize(size);
  auto manifest = ManifestFromJson(text);
  if (!manifest.ok()) return Annotate(manifest.status(), where);
  return manifest;
}

bool IsUnreadable(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
}

absl::Status WriteAll(int fd, std::string_view text, const std::string& where) {
  while (!text.empty()) {
    const ssize_t moved = ::write(fd, text.data(), text.size());
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return ErrnoStatus(absl::StrCat("write ", where), errno);
    text.remove_prefix(static_cast<size_t>(moved));
  }
  if (::fsync(fd) != 0) return ErrnoStatus(absl::StrCat("fsync ", where), errno);
  return absl::OkStatus();
}

// The name of a new file with this text.
absl::StatusOr<std::string> WriteTemporary(int data_fd, const std::string& path, std::string_view text) {
  static std::atomic<uint32_t> counter{0};
  char host[65] = "";
  ::gethostname(host, sizeof(host) - 1);
  const std::string name = absl::StrCat(kTemporaryPrefix, host, "-", ::getpid(), "-",
                                        counter.fetch_add(1, std::memory_order_relaxed));
  const std::string where = absl::StrCat(DataPath(path), "/", name);
  UniqueFd fd(::openat(data_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640));
  if (!fd.valid()) return ErrnoStatus(absl::StrCat("create ", where), errno);
  const absl::Status written = WriteAll(fd.get(), text, where);
  if (!written.ok()) {
    ::unlinkat(data_fd, name.c_str(), 0);
    return written;
  }
  return name;
}

// AlreadyExists: another claimer was first. The manifest appears whole or not at all, and only once.
absl::Status CreateManifest(int data_fd, const std::string& path, const v1::Manifest& manifest) {
  const std::string json = ManifestToJson(manifest);
  const std::string where = absl::StrCat(DataPath(path), "/", kManifestName);
  IOBENCH_ASSIGN_OR_RETURN(const std::string temporary, WriteTemporary(data_fd, path, json));
  const int linked = ::linkat(data_fd, temporary.c_str(), data_fd, kManifestName, 0);
  const int error = errno;
  ::unlinkat(data_fd, temporary.c_str(), 0);
  if (linked == 0) return absl::OkStatus();
  if (error != EPERM && error != EOPNOTSUPP && error != ENOSYS && error != EMLINK) {
    return ErrnoStatus(absl::StrCat("create ", where), error);
  }
  // A file system without hard links.
  UniqueFd fd(::openat(data_fd, kManifestName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640));
  if (!fd.valid()) return ErrnoStatus(absl::StrCat("create ", where), errno);
  return WriteAll(fd.get(), json, where);
}

void NoteForeign(CleanReport& report, const std::string& path, const std::string& name) {
  if (report.foreign_files.size() < kMostForeignNames) {
    report.foreign_files.push_back(absl::StrCat(DataPath(path), "/", AsUtf8(name)));
  }
}

enum class Temporaries { kRemove, kLeave };

// Removes our data files. The manifest stays.
absl::Status RemoveFiles(int data_fd, const std::string& path, Temporaries temporaries, CleanReport& report) {
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(data_fd, DataPath(path)));
  absl::Status first_error;
  for (const std::string& name : names) {
    if (name == kManifestName || IsSillyName(name)) continue;
    if (IsTemporaryName(name) && temporaries == Temporaries::kLeave) continue;
    if (IsTreeName(name)) {
      std::vector<std::string> foreign;
      auto removed = RemoveTree(data_fd, DataPath(path), name, kMostForeignNames, foreign);
      for (const std::string& each : foreign) NoteForeign(report, path, each);
      if (removed.ok()) report.removed_files += *removed;
      // Something else of that name is not ours.
      if (absl::IsFailedPrecondition(removed.status())) {
        NoteForeign(report, path, name);
      } else {
        first_error.Update(removed.status());
      }
      continue;
    }
    struct stat facts {};
    const bool ours = (IsDataFileName(name) || IsTemporaryName(name)) &&
                      ::fstatat(data_fd, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
                      S_ISREG(facts.st_mode);
    if (!ours) {
      NoteForeign(report, path, name);
    } else if (::unlinkat(data_fd, name.c_str(), 0) == 0) {
      if (IsDataFileName(name)) ++report.removed_files;
    } else if (errno != ENOENT) {
      first_error.Update(ErrnoStatus(absl::StrCat("remove ", DataPath(path), "/", name), errno));
    }
  }
  return first_error;
}

absl::Status NotOurs(const std::string& path, std::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat(DataPath(path), " is not ours (", std::string(why),
                                                    "): move it away or choose another --path"));
}

absl::Status BelongsTo(const std::string& path, const v1::Manifest& other) {
  return absl::FailedPreconditionError(absl::StrCat(
      DataPath(path), " belongs to a run that ", other.created_by(), " began at ", other.created_at(),
      " and that is running or crashed: if it crashed, remove its data with `cluster-iobench clean ", path,
      "`, or use --force"));
}

}  // namespace

std::string LaneFileName(uint32_t lane, uint32_t file_index) {
  return absl::StrFormat("lane-%06u.%u", lane, file_index);
}

bool IsDataFileName(std::string_view name) {
  if (name == kSharedFileName) return true;
  unsigned lane = 0, file = 0;
  const std::string text(name);
  if (std::sscanf(text.c_str(), "lane-%u.%u", &lane, &file) != 2) return false;
  return text == LaneFileName(lane, file);
}

absl::StatusOr<UniqueFd> OpenDataDirectory(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd target, OpenTarget(path));
  return OpenDataIn(target.get(), path);
}

absl::StatusOr<UniqueFd> OpenClaimedDirectory(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd target, OpenTarget(path));
  auto data = OpenDataIn(target.get(), path);
  if (!absl::IsNotFound(data.status())) return data;
  // An NFS client that has looked before the claim remembers for up to acdirmax (60 s) that there was none. Only the
  // server can answer a mkdir; its EEXIST corrects the client's memory.
  if (::mkdirat(target.get(), kDataDirectoryName, 0755) == 0) {
    ::unlinkat(target.get(), kDataDirectoryName,
               AT_REMOVEDIR);  // there really was none, and there shall be none
    return data;
  }
  return OpenDataIn(target.get(), path);
}

absl::StatusOr<DataDirectoryLook> LookAtData(const std::string& path) {
  DataDirectoryLook look;
  auto data = OpenDataDirectory(path);
  if (absl::IsNotFound(data.status())) return look;
  if (!data.ok()) return data.status();
  auto manifest = ReadManifest(data->get(), path);
  if (manifest.ok()) {
    look.manifest = *std::move(manifest);
  } else if (IsUnreadable(manifest.status())) {
    look.foreign = true;
  } else if (absl::IsNotFound(manifest.status())) {
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(data->get(), DataPath(path)));
    look.foreign = !std::all_of(names.begin(), names.end(), [](const std::string& name) {
      return IsTemporaryName(name) || IsSillyName(name);
    });
  } else {
    return manifest.status();
  }
  return look;
}

absl::StatusOr<CleanReport> ClaimData(const std::string& path, const v1::Manifest& manifest) {
  CleanReport report;
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd target, OpenTarget(path));
  if (::mkdirat(target.get(), kDataDirectoryName, 0755) != 0 && errno != EEXIST) {
    return ErrnoStatus(absl::StrCat("make directory ", DataPath(path)), errno);
  }
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd data, OpenDataIn(target.get(), path));
  auto found = ReadManifest(data.get(), path);
  if (!found.ok()) {
    if (IsUnreadable(found.status())) return NotOurs(path, std::string(found.status().message()));
    if (!absl::IsNotFound(found.status())) return found.status();
    // Temporaries are left: another claimer of this run may be about to link its own.
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(data.get(), DataPath(path)));
    for (const std::string& name : names) {
      if (name != kManifestName && !IsTemporaryName(name) && !IsSillyName(name)) {
        return NotOurs(path, absl::StrCat("it holds ", AsUtf8(name), " and no manifest"));
      }
    }
  } else {
    if (found->run_id() == manifest.run_id()) return report;
    if (found->state() != v1::Manifest::KEPT) return BelongsTo(path, *found);
    report.found = true;
    IOBENCH_RETURN_IF_ERROR(RemoveFiles(data.get(), path, Temporaries::kLeave, report));
    if (::unlinkat(data.get(), kManifestName, 0) != 0 && errno != ENOENT) {
      return ErrnoStatus(absl::StrCat("remove ", DataPath(path), "/", kManifestName), errno);
    }
  }
  const absl::Status created = CreateManifest(data.get(), path, manifest);
  if (created.ok()) return report;
  if (!absl::IsAlreadyExists(created)) return created;
  auto first = ReadManifest(data.get(), path);
  if (!first.ok()) return first.status();
  if (first->run_id() != manifest.run_id()) return BelongsTo(path, *first);
  return report;
}

absl::Status MarkDataKept(const std::string& path, const v1::Manifest& ours) {
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd data, OpenDataDirectory(path));
  IOBENCH_ASSIGN_OR_RETURN(v1::Manifest manifest, ReadManifest(data.get(), path));
  // Kept data that a later run used stay those of the run that made them.
  const bool was_kept = manifest.state() == v1::Manifest::KEPT;
  if (!was_kept && manifest.run_id() != ours.run_id()) return BelongsTo(path, manifest);
  const std::string before = ManifestToJson(manifest);
  manifest.set_state(v1::Manifest::KEPT);
  *manifest.mutable_data() = ours.data();
  manifest.set_generation_low(ours.generation_low());
  manifest.set_generation_high(ours.generation_high());
  manifest.set_unit_bytes(ours.unit_bytes());
  if (ManifestToJson(manifest) == before) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const std::string temporary,
                           WriteTemporary(data.get(), path, ManifestToJson(manifest)));
  if (::renameat(data.get(), temporary.c_str(), data.get(), kManifestName) == 0) return absl::OkStatus();
  const int error = errno;
  ::unlinkat(data.get(), temporary.c_str(), 0);
  return ErrnoStatus(absl::StrCat("rename ", temporary, " to ", DataPath(path), "/", kManifestName), error);
}

absl::StatusOr<CleanReport> RemoveData(const std::string& path) {
  CleanReport report;
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd target, OpenTarget(path));
  auto data = OpenDataIn(target.get(), path);
  if (absl::IsNotFound(data.status())) return report;
  if (!data.ok()) return data.status();
  auto manifest = ReadManifest(data->get(), path);
  if (manifest.ok()) {
    report.found = true;
    // The manifest goes last: what a crash leaves between can still be seen to be ours.
    IOBENCH_RETURN_IF_ERROR(RemoveFiles(data->get(), path, Temporaries::kRemove, report));
    // What is not ours keeps the directory; without its manifest all of it would be foreign, and of no use to a `clean`
    // after the user has taken that away.
    if (!report.foreign_files.empty()) return report;
    if (::unlinkat(data->get(), kManifestName, 0) != 0 && errno != ENOENT) {
      return ErrnoStatus(absl::StrCat("remove ", DataPath(path), "/", kManifestName), errno);
    }
  } else if (absl::IsNotFound(manifest.status()) || IsUnreadable(manifest.status())) {
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(data->get(), DataPath(path)));
    for (const std::string& name : names) {
      if (IsTemporaryName(name)) {
        ::unlinkat(data->get(), name.c_str(), 0);
      } else if (!IsSillyName(name)) {
        NoteForeign(report, path, name);
      }
    }
    report.found = report.foreign_files.empty();
  } else {
    return manifest.status();
  }
  if (::unlinkat(target.get(), kDataDirectoryName, AT_REMOVEDIR) != 0 && errno != ENOTEMPTY &&
      errno != EEXIST && errno != ENOENT) {
    return ErrnoStatus(absl::StrCat("remove directory ", DataPath(path)), errno);
  }
  return report;
}

absl::StatusOr<CleanReport> RemoveSharedFile(const std::string& path) {
  CleanReport report;
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd data, OpenDataDirectory(path));
  auto manifest = ReadManifest(data.get(), path);
  if (!manifest.ok()) return NotOurs(path, std::string(manifest.status().message()));
  report.found = true;
  if (::unlinkat(data.get(), kSharedFileName, 0) == 0) {
    report.removed_files = 1;
  } else if (errno != ENOENT) {
    return ErrnoStatus(absl::StrCat("remove ", DataPath(path), "/", kSharedFileName), errno);
  }
  return report;
}

absl::StatusOr<CleanReport> CleanDataDirectory(const std::string& path) {
  std::string_view target = path;
  while (target.size() > 1 && target.ends_with('/')) target.remove_suffix(1);
  const std::string itself = absl::StrCat("/", kDataDirectoryName);
  if (target == kDataDirectoryName) return RemoveData(".");
  if (target.ends_with(itself)) {
    target.remove_suffix(itself.size());
    return RemoveData(target.empty() ? "/" : std::string(target));
  }
  return RemoveData(path);
}

}  // namespace iobench
