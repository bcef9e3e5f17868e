#include "coordinator/files/file_request.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "common/own_files/own_file.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

FileAnswer Of(int64_t result) {
  return {.result = result, .error = result < 0 ? errno : 0};
}

FileAnswer Of(const std::error_code& error) {
  return {.result = error ? -1 : 0, .error = error.value()};
}

// `offset`: nullopt: where the file's position is.
FileAnswer WriteAllOf(int descriptor, const std::string& text, std::optional<int64_t> offset) {
  for (size_t done = 0; done < text.size();) {
    const char* const rest = text.data() + done;
    const ssize_t written = offset.has_value() ? ::pwrite(descriptor, rest, text.size() - done, *offset + static_cast<off_t>(done))
                                               : ::write(descriptor, rest, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Of(-1);
    done += static_cast<size_t>(written);
  }
  return {};
}

FileAnswer Read(int descriptor, int64_t bytes, int64_t offset) {
  FileAnswer answer;
  answer.text.resize(static_cast<size_t>(bytes));
  ssize_t got = -1;
  do {
    got = ::pread(descriptor, answer.text.data(), answer.text.size(), static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return Of(-1);
  answer.text.resize(static_cast<size_t>(got));
  answer.result = got;
  return answer;
}

FileAnswer Head(const std::string& path, int64_t bytes) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat facts {};
  if (!file.valid() || ::fstat(file.get(), &facts) != 0) return Of(-1);
  if (!S_ISREG(facts.st_mode)) return {.result = -1, .error = EINVAL};
  FileAnswer head;
  while (head.text.size() < static_cast<size_t>(bytes)) {
    const auto have = static_cast<int64_t>(head.text.size());
    const FileAnswer part = Read(file.get(), bytes - have, have);
    if (part.error != 0) return part;
    if (part.text.empty()) break;
    head.text += part.text;
  }
  return head;
}

FileAnswer Facts(int64_t result, const struct stat& facts) {
  FileAnswer answer = Of(result);
  answer.text.assign(reinterpret_cast<const char*>(&facts), sizeof facts);
  return answer;
}

FileAnswer Stat(const std::string& path, bool follow) {
  struct stat facts {};
  const int result = follow ? ::stat(path.c_str(), &facts) : ::lstat(path.c_str(), &facts);
  return Facts(result, facts);
}

FileAnswer StatOpen(int descriptor) {
  struct stat facts {};
  const int result = ::fstat(descriptor, &facts);
  return Facts(result, facts);
}

FileAnswer List(const std::string& path) {
  std::error_code error;
  FileAnswer answer;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    answer.text += entry->path().filename().string();
    answer.text += '\0';
  }
  answer.error = error.value();
  return answer;
}

FileAnswer Canonical(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  FileAnswer answer = Of(error);
  answer.text = real.string();
  return answer;
}

FileAnswer Of(const absl::Status& status) {
  if (status.ok()) return {};
  return {.result = -1,
          .error = ErrnoOf(status),
          .code = static_cast<uint32_t>(status.code()),
          .text = std::string(status.message())};
}

FileAnswer ReadWhole(const FileRequest& request) {
  const auto text = ReadSmallFile(request.text, request.path, static_cast<uint64_t>(request.a));
  return text.ok() ? FileAnswer{.text = *text} : Of(text.status());
}

// A refusal has no errno. What asks for an errno alone then says that it is not permitted; the words came from kCheckOwn.
FileAnswer OfOwn(const absl::Status& status) {
  FileAnswer answer = Of(status);
  if (!status.ok() && answer.error == 0) answer.error = EPERM;
  return answer;
}

FileAnswer Create(const FileRequest& request) {
  const absl::StatusOr<OwnFile> place = OwnFile::At(request.path);
  if (!place.ok()) return OfOwn(place.status());
  absl::StatusOr<UniqueFd> file = place->CreateNew(static_cast<mode_t>(request.b), static_cast<int>(request.a));
  return file.ok() ? Of(int64_t{file->Release()}) : OfOwn(file.status());
}

FileAnswer Rename(const std::string& from, const std::string& to) {
  const absl::StatusOr<OwnFile> old_place = OwnFile::At(from), new_place = OwnFile::At(to);
  if (!old_place.ok()) return OfOwn(old_place.status());
  if (!new_place.ok()) return OfOwn(new_place.status());
  return Of(::renameat(old_place->directory().fd(), old_place->name().c_str(), new_place->directory().fd(),
                       new_place->name().c_str()));
}

FileAnswer CheckOwn(const std::string& path) {
  const absl::StatusOr<OwnDirectory> there = OwnDirectory::Open(path);
  return OfOwn(there.ok() ? there->Check() : there.status());
}

FileAnswer RemoveAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return Of(error);
}

FileAnswer Truncate(int descriptor, int64_t bytes) {
  if (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return Of(-1);
  return Of(::lseek(descriptor, static_cast<off_t>(bytes), SEEK_SET) < 0 ? -1 : 0);
}

FileAnswer StatFs(const std::string& path) {
  struct statfs facts {};
  return Of(::statfs(path.c_str(), &facts));
}

}  // namespace

const char* NameOf(FileCall call) {
  switch (call) {
    case FileCall::kOpen:
      return "open";
    case FileCall::kClose:
      return "close";
    case FileCall::kCreate:
      return "create";
    case FileCall::kWrite:
    case FileCall::kWriteAt:
      return "write";
    case FileCall::kReadAt:
    case FileCall::kReadWhole:
    case FileCall::kHead:
      return "read";
    case FileCall::kSync:
    case FileCall::kBeginSync:
      return "fsync";
    case FileCall::kTruncate:
      return "truncate";
    case FileCall::kEnd:
      return "seek in";
    case FileCall::kStat:
    case FileCall::kStatOpen:
    case FileCall::kCanonical:
      return "stat";
    case FileCall::kLock:
      return "lock";
    case FileCall::kAccess:
      return "access";
    case FileCall::kRemove:
    case FileCall::kRemoveAll:
      return "remove";
    case FileCall::kRename:
      return "rename";
    case FileCall::kMakeAll:
      return "create directory";
    case FileCall::kList:
      return "list";
    case FileCall::kStatFs:
      return "statfs";
    case FileCall::kCheckOwn:
      return "check";
  }
  return "use";
}

FileAnswer CarryOut(const FileRequest& request) {
  const char* const path = request.path.c_str();
  switch (request.call) {
    case FileCall::kOpen:
      return Of(::open(path, static_cast<int>(request.a), 0600));  // the mode is that of a file without a name (O_TMPFILE)
    case FileCall::kCreate:
      return Create(request);
    case FileCall::kClose:
      return Of(::close(request.descriptor));
    case FileCall::kWrite:
      return WriteAllOf(request.descriptor, request.text, std::nullopt);
    case FileCall::kWriteAt:
      return WriteAllOf(request.descriptor, request.text, request.b);
    case FileCall::kReadAt:
      return Read(request.descriptor, request.a, request.b);
    case FileCall::kSync:
      return Of(::fsync(request.descriptor));
    case FileCall::kBeginSync:
      return Of(::sync_file_range(request.descriptor, 0, 0, SYNC_FILE_RANGE_WRITE));
    case FileCall::kTruncate:
      return Truncate(request.descriptor, request.a);
    case FileCall::kEnd:
      return Of(::lseek(request.descriptor, 0, SEEK_CUR));
    case FileCall::kStat:
      return Stat(request.path, request.a != 0);
    case FileCall::kStatOpen:
      return StatOpen(request.descriptor);
    case FileCall::kLock:
      return Of(::flock(request.descriptor, LOCK_EX | LOCK_NB));
    case FileCall::kAccess:
      return Of(::access(path, static_cast<int>(request.a)));
    case FileCall::kRemove:
      return Of(::remove(path));
    case FileCall::kRename:
      return Rename(request.path, request.text);
    case FileCall::kMakeAll:
      return OfOwn(OwnDirectory::Make(request.path).status());
    case FileCall::kRemoveAll:
      return RemoveAll(request.path);
    case FileCall::kList:
      return List(request.path);
    case FileCall::kCanonical:
      return Canonical(request.path);
    case FileCall::kReadWhole:
      return ReadWhole(request);
    case FileCall::kHead:
      return Head(request.path, request.a);
    case FileCall::kCheckOwn:
      return CheckOwn(request.path);
    case FileCall::kStatFs:
      return StatFs(request.path);
  }
  return {.result = -1, .error = ENOSYS};
}

}  // namespace iobench
