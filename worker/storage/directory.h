// What the worker does with directories and the files in them outside the timed region, whatever they are on: a file
// system that is mounted here, or an NFS export that is not.
#ifndef WORKER_STORAGE_DIRECTORY_H_
#define WORKER_STORAGE_DIRECTORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

enum class NodeKind { kFile, kDirectory, kSymlink, kOther };

struct NodeFacts {
  NodeKind kind = NodeKind::kOther;
  uint64_t bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t link_count = 0;
};

// Which directory it is, as far as its file system tells: for every client that sees it, and also after it has been
// moved.
struct DirectoryIdentity {
  uint64_t number = 0;     // inode number, fileid; 0: the file system gives none that lasts
  int64_t changed_ns = 0;  // its ctime, by the clock of who keeps it
};

// An open regular file, closed with the object; used by one thread at a time. Errors name its path.
class File {
 public:
  explicit File(std::string path) : path_(std::move(path)) {}
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }  // for messages

  virtual absl::StatusOr<NodeFacts> Facts() = 0;
  // Fewer bytes than asked for: the file ends there.
  virtual absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<std::byte> into) = 0;
  // All of it, or an error: the rest of a short write is written, so that a full disk says so.
  virtual absl::Status WriteAt(uint64_t offset, std::span<const std::byte> data) = 0;
  virtual absl::Status Sync() = 0;

  // Whether some of these bytes are known never to have been written.
  virtual absl::StatusOr<bool> HasHole(uint64_t begin, uint64_t end) = 0;
  // Blocks for these bytes, which belong to the file from then on. Unimplemented: there is no such thing here.
  virtual absl::Status Allocate(uint64_t offset, uint64_t bytes) = 0;

  // What concerns caches of this host; nothing where it keeps none.
  virtual void ExpectScatteredReads() {}                           // nothing beside them is worth reading
  virtual absl::Status ForgetPages() { return absl::OkStatus(); }  // dirty ones are written first
  // Of these bytes, so many are in this host's memory, in whole pages. Unimplemented: not known.
  virtual absl::StatusOr<uint64_t> ResidentBytes(uint64_t begin, uint64_t end);

 private:
  const std::string path_;
};

enum class OpenFor {
  kReading,
  kWriting,     // made where it is missing
  kWritingNew,  // AlreadyExists where there is one
};

// An open directory. `name` is always one name in it, and never followed where it is a symbolic link. Statuses are
// those of ErrnoStatus (NotFound, AlreadyExists, PermissionDenied …) and name the path, except where something else
// is said.
//
// A directory with a file descriptor may be used by any thread at any time, others by one thread only.
class Directory {
 public:
  explicit Directory(std::string path) : path_(std::move(path)) {}
  virtual ~Directory() = default;
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::string& path() const { return path_; }  // for messages
  std::string PathOf(std::string_view name) const;

  // For calls that only a mounted file system has; -1: it is not mounted.
  virtual int fd() const { return -1; }

  virtual absl::StatusOr<DirectoryIdentity> Identity() const = 0;
  virtual absl::StatusOr<std::vector<std::string>> Names() const = 0;  // without "." and ".."
  virtual absl::StatusOr<NodeFacts> Look(const std::string& name) const = 0;

  // FailedPrecondition: a symbolic link, or not a directory.
  virtual absl::StatusOr<std::unique_ptr<Directory>> OpenDirectory(const std::string& name) const = 0;
  virtual absl::Status MakeDirectory(const std::string& name) const = 0;
  virtual absl::Status RemoveDirectory(const std::string& name) const = 0;  // FailedPrecondition: not empty

  // New files have mode 0640. FailedPrecondition: a symbolic link, or something else that is no regular file; it has
  // not been waited for (a FIFO), nor written to.
  virtual absl::StatusOr<std::unique_ptr<File>> OpenFile(const std::string& name, OpenFor use) const = 0;
  virtual absl::Status Remove(const std::string& name) const = 0;  // what is not a directory
  virtual absl::Status Rename(const std::string& from, const std::string& to) const = 0;
  // A second name for a file, unless there is one already. Unimplemented: the file system has no hard links.
  virtual absl::Status Link(const std::string& from, const std::string& to) const = 0;

 private:
  const std::string path_;
};

// A file of at most `most_bytes`; of a longer one, so many.
absl::StatusOr<std::string> ReadSmallFile(const Directory& directory, const std::string& name,
                                          size_t most_bytes);

// A new file that is on the disk when this returns; where that fails there is none.
absl::Status WriteNewFile(const Directory& directory, const std::string& name, std::string_view text);

}  // namespace iobench

#endif  // WORKER_STORAGE_DIRECTORY_H_
