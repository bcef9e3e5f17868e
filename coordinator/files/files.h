// The coordinator's calls on files: on targets, results and whatever the user names. Any of them may hang with its mount, so
// each waits as FilePatience says (file_patience.h), and says on stderr what it waits for. tests/structure/test_patience.py
// forbids others.
#ifndef COORDINATOR_FILES_FILES_H_
#define COORDINATOR_FILES_FILES_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/own_files/own_file.h"

namespace iobench {

class FileHelper;

namespace files {

// Owns an open file, perhaps one of another process. The destructor ignores the result of closing it. One thread at a time
// may use an object.
class HeldFile {
 public:
  HeldFile() = default;
  HeldFile(std::string path, int descriptor, std::shared_ptr<FileHelper> helper)
      : path_(std::move(path)), descriptor_(descriptor), helper_(std::move(helper)) {}
  HeldFile(HeldFile&& other) noexcept { *this = std::move(other); }
  HeldFile& operator=(HeldFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(helper_, other.helper_);
    return *this;
  }
  ~HeldFile();

  bool valid() const { return descriptor_ >= 0; }
  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  const std::shared_ptr<FileHelper>& helper() const { return helper_; }
  void Forget() { descriptor_ = -1; }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::shared_ptr<FileHelper> helper_;
};

// As the system calls of these names: the int is 0, or -1 with errno, which may also be kErrnoNoAnswer or
// kErrnoStoppedWaiting. Thread-safe.
HeldFile Open(const std::string& path, int flags);  // one that exists; not valid(): errno
int Close(HeldFile file);
int WriteAll(const HeldFile& file, std::string_view bytes);
int WriteAt(const HeldFile& file, std::string_view bytes, uint64_t offset);  // all of them
ssize_t ReadAt(const HeldFile& file, char* into, size_t bytes, uint64_t offset);
int Sync(const HeldFile& file);
int BeginSync(const HeldFile& file);                 // starts to write it back
int Truncate(const HeldFile& file, uint64_t bytes);  // and continues there
int64_t Position(const HeldFile& file);
int Access(const std::string& path, int mode);
int Remove(const std::string& path);  // a file or an empty directory
int Rename(const std::string& from, const std::string& to);
// New files of ours, and directories with their parents, which may exist: see common/own_files. Errors have its words.
absl::StatusOr<HeldFile> CreateNew(const std::string& path, int flags = 0, mode_t mode = kResultMode);
absl::Status MakeDirectories(const std::string& path);
// A directory for files of ours, if it is there: whose it is (OwnDirectory::Check). OK if it cannot be looked at.
absl::Status CheckOwnDirectory(const std::string& path);
int RemoveAll(const std::string& path);

enum class Links { kFollow, kShow };
std::optional<struct stat> Stat(const std::string& path, Links links = Links::kFollow);  // nullopt: errno
std::optional<struct stat> StatOpen(const HeldFile& file);
int Lock(const HeldFile& file);  // flock for this process alone; EWOULDBLOCK: another has it
bool Exists(const std::string& path);
bool IsDirectory(const std::string& path);

// The names in a directory, in no order; as many as could be read.
std::vector<std::string> NamesIn(const std::string& directory);
// The path without links; its end need not exist. Empty: errno.
std::string Canonical(const std::string& path);
// As ReadSmallFile (common/small_file.h).
absl::StatusOr<std::string> ReadWhole(const std::string& what, const std::string& path, uint64_t max_bytes);
// The first bytes of a regular file; nullopt: errno.
std::optional<std::string> Head(const std::string& path, size_t max_bytes);
// For code that opens the file itself: whether its mount answers now. OK if the file does not exist. `what`: for the message.
absl::Status MountAnswers(const std::string& what, const std::string& path);
absl::Status TargetAnswers(const std::string& directory);

// OK unless errno is one of the two above. A target's status is Unavailable, as for a worker that is lost.
absl::Status UnansweredCall(const std::string& context, int errno_value);
absl::Status UnansweredTarget(const std::string& path, int errno_value);

}  // namespace files
}  // namespace iobench

#endif  // COORDINATOR_FILES_FILES_H_
