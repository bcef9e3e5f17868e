// A call on a file as data, so that another process can make it.
#ifndef COORDINATOR_FILES_FILE_REQUEST_H_
#define COORDINATOR_FILES_FILE_REQUEST_H_

#include <cstdint>
#include <string>

namespace iobench {

enum class FileCall : uint32_t {
  kOpen,         // path, a: flags without O_CREAT; the result is the descriptor
  kCreate,       // path, a: further flags, b: mode; the same for a new file of ours (common/own_files)
  kClose,        // descriptor
  kWrite,        // descriptor, text: all of it
  kWriteAt,      // descriptor, text, b: offset; the same
  kReadAt,       // descriptor, a: at most as many bytes, b: offset
  kSync,         // descriptor
  kBeginSync,    // descriptor: starts to write it back
  kTruncate,     // descriptor, a: bytes; then the position is the end
  kEnd,          // descriptor; the result is its position
  kStat,         // path, a: follow a link; the answer's text is a struct stat
  kStatOpen,     // descriptor; the same
  kLock,         // descriptor: flock for this process alone, without waiting
  kAccess,       // path, a: mode
  kRemove,       // path of a file or an empty directory
  kRename,       // path, text: the new path
  kMakeAll,      // path of a directory and its parents
  kRemoveAll,    // path
  kList,         // path of a directory; the answer's text has the names, each with a 0 after it
  kCanonical,    // path, whose end need not exist; the answer's text is the path without links
  kReadWhole,    // path, a: at most as many bytes, text: what it is; see ReadSmallFile
  kHead,         // path of a regular file, a: at most as many bytes
  kStatFs,       // path
  kCheckOwn,     // path of a directory for files of ours: OwnDirectory::Check
};

struct FileRequest {
  FileCall call = FileCall::kStat;
  int descriptor = -1;  // in the process that makes the call
  int64_t a = 0, b = 0;
  std::string path = {};
  std::string text = {};
};

struct FileAnswer {
  int64_t result = 0;
  int error = 0;          // errno; 0: none
  uint32_t code = 0;      // of an absl::Status without errno, whose message is `text`; then `error` is EPERM
  std::string text = {};
};

// "open", as in "open /mnt/x".
const char* NameOf(FileCall call);

// Makes the call here, however long it takes.
FileAnswer CarryOut(const FileRequest& request);

}  // namespace iobench

#endif  // COORDINATOR_FILES_FILE_REQUEST_H_
