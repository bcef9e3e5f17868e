// The interface for directories and files outside the timed region. Implementations exist for mounted file systems and
// for NFS exports that are accessed without a mount.
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
#include "iobench/v1/result.pb.h"

namespace iobench {

enum class NodeKind { kFile, kDirectory, kSymlink, kOther };

// What stat() or GETATTR tell about a name, without following a symbolic link. Sizes are in bytes.
struct NodeFacts {
  NodeKind kind = NodeKind::kOther;
  uint64_t bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t link_count = 0;
  uint64_t number = 0;  // inode number or fileid; see DirectoryIdentity for whether it lasts
};

// Identifies a directory as far as its file system permits: the same for every client, and also after the directory has
// been moved.
struct DirectoryIdentity {
  uint64_t number = 0;     // inode number or fileid; 0: the file system has no persistent one
  int64_t changed_ns = 0;  // ctime, by the clock of the server or host that stores it
};

// What is known about holes, bytes that have never been written.
enum class Holes {
  kNone,
  kSome,
  // The file has fewer blocks than bytes: it has a hole somewhere, or the server compresses it, or it allocates blocks
  // later.
  kUnknown,
};

enum class WrittenBy { kUs, kUser };

// What a file holds besides data that are stored as they are.
struct Unstored {
  uint64_t hole_bytes = 0;        // never written: holes, and extents that are only allocated
  uint64_t compressed_bytes = 0;  // stored in fewer blocks, as far as the file system tells
};

// An open regular file, closed by the destructor. Not thread-safe. Errors name its path.
class File {
 public:
  explicit File(std::string path) : path_(std::move(path)) {}
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }  // for messages

  virtual absl::StatusOr<NodeFacts> Facts() = 0;
  // Returns the number of bytes read; fewer than requested only at the end of the file. REQUIRES: opened for reading.
  virtual absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<std::byte> into) = 0;
  // Writes all of `data` or returns an error. A short write is continued, so that a full disk is reported.
  virtual absl::Status WriteAt(uint64_t offset, std::span<const std::byte> data) = 0;
  // Returns when everything written is on stable storage (fsync or COMMIT).
  virtual absl::Status Sync() = 0;
  // A part of what Sync does, so that a caller can end in between: begins to write these bytes from this host's memory to
  // the storage, or waits until they are written. Without a cache it does nothing.
  enum class WriteBack { kBegin, kWait };
  virtual absl::Status WriteBackPart(WriteBack, uint64_t /*offset*/, uint64_t /*bytes*/) {
    return absl::OkStatus();
  }

  virtual absl::StatusOr<Holes> HolesIn(uint64_t begin, uint64_t end) = 0;
  // Counts the bytes of this range that are not stored as they are. Unimplemented: unknown.
  virtual absl::StatusOr<Unstored> UnstoredIn(uint64_t begin, uint64_t end, WrittenBy writer);
  // Returns the names of the storage targets that hold these bytes, each once. Empty: the file system does not say.
  virtual std::vector<std::string> StorageTargets(uint64_t /*begin*/, uint64_t /*end*/) { return {}; }
  // Allocates blocks for these bytes and extends the file to include them. Unimplemented: not supported here.
  virtual absl::Status Allocate(uint64_t offset, uint64_t bytes) = 0;

  // Calls that concern this host's page cache. Without a cache they do nothing.
  //
  // Turns off read-ahead, so that a read of one byte does not load more.
  virtual void ExpectScatteredReads() {}
  // Drops the cached pages of the file, after flushing dirty ones, which could not be dropped.
  virtual absl::Status ForgetPages() { return absl::OkStatus(); }
  // Returns how many of these bytes are in this host's memory, in whole pages. Unimplemented: unknown.
  virtual absl::StatusOr<uint64_t> ResidentBytes(uint64_t begin, uint64_t end);

 private:
  const std::string path_;
};

enum class OpenFor {
  kReading,
  kWriting,     // creates the file if it is missing
  kWritingNew,  // AlreadyExists if there is one
  kWritingOld,  // NotFound if there is none
};

// An open directory. `name` is always a single name in it; a symbolic link is never followed. Unless stated otherwise,
// statuses are those of ErrnoStatus (NotFound, AlreadyExists, PermissionDenied …) and name the path.
//
// A directory with a file descriptor may be used from any thread at any time, any other by only one thread.
class Directory {
 public:
  explicit Directory(std::string path) : path_(std::move(path)) {}
  virtual ~Directory() = default;
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::string& path() const { return path_; }  // for messages
  std::string PathOf(std::string_view name) const;

  // How long its calls have waited because a server asked to try again later.
  virtual int64_t deferred_ns() const { return 0; }

  // For calls that only mounted file systems support; -1: not mounted.
  virtual int fd() const { return -1; }

  virtual absl::StatusOr<DirectoryIdentity> Identity() const = 0;
  // Asks for the space of the file system. On NFS, the request always goes to the server.
  virtual absl::StatusOr<v1::Space> Space() const = 0;
  // Returns the names of all entries, in no particular order, without "." and "..".
  virtual absl::StatusOr<std::vector<std::string>> Names() const = 0;
  virtual absl::StatusOr<NodeFacts> Look(const std::string& name) const = 0;

  // FailedPrecondition: a symbolic link or not a directory.
  virtual absl::StatusOr<std::unique_ptr<Directory>> OpenDirectory(const std::string& name) const = 0;
  virtual absl::Status MakeDirectory(const std::string& name) const = 0;
  virtual absl::Status RemoveDirectory(const std::string& name) const = 0;  // FailedPrecondition: not empty

  // Opens a file; new files have mode 0640. FailedPrecondition: a symbolic link or not a regular file; in this case,
  // nothing was written and the call did not wait (for a FIFO).
  virtual absl::StatusOr<std::unique_ptr<File>> OpenFile(const std::string& name, OpenFor use) const = 0;
  virtual absl::Status Remove(const std::string& name) const = 0;  // anything that is not a directory
  virtual absl::Status Rename(const std::string& from, const std::string& to) const = 0;
  // Adds a second name to a file, unless that name exists. Unimplemented: the file system has no hard links.
  virtual absl::Status Link(const std::string& from, const std::string& to) const = 0;

 private:
  const std::string path_;
};

// Reads a file, at most its first `max_bytes`.
absl::StatusOr<std::string> ReadSmallFile(const Directory& directory, const std::string& name,
                                          size_t max_bytes);

// Creates a new file that is on disk when this returns. On failure, the file does not exist.
absl::Status WriteNewFile(const Directory& directory, const std::string& name, std::string_view text);

}  // namespace iobench

#endif  // WORKER_STORAGE_DIRECTORY_H_
