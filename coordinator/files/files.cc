#include "coordinator/files/files.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/files/file_helper.h"
#include "coordinator/files/file_request.h"
#include "coordinator/files/file_patience.h"

namespace iobench::files {
namespace {

FileAnswer OnPath(FileRequest request) {
  const std::string path = request.path;
  FileAnswer answer = CallPatiently(std::move(request), path, nullptr).answer;
  errno = answer.error;
  return answer;
}

FileAnswer On(const HeldFile& file, FileRequest request) {
  request.descriptor = file.descriptor();
  FileAnswer answer = CallPatiently(std::move(request), file.path(), file.helper()).answer;
  errno = answer.error;
  return answer;
}

int Outcome(const FileAnswer& answer) {
  return answer.error == 0 ? 0 : -1;
}

void CopyPayloads(const absl::Status& from, absl::Status& to) {
  from.ForEachPayload([&to](absl::string_view type, const absl::Cord& payload) { to.SetPayload(type, payload); });
}

// Of a call whose answer may have the words of a status.
absl::Status StatusOf(const std::string& context, const FileAnswer& answer) {
  if (answer.code == 0) return answer.error == 0 ? absl::OkStatus() : ErrnoStatus(context, answer.error);
  absl::Status status(static_cast<absl::StatusCode>(answer.code), answer.text);
  if (answer.error != 0) CopyPayloads(ErrnoStatus(context, answer.error), status);
  return status;
}

std::optional<struct stat> FactsIn(const FileAnswer& answer) {
  if (answer.error != 0) return std::nullopt;
  struct stat facts {};
  std::memcpy(&facts, answer.text.data(), sizeof facts);
  return facts;
}

}  // namespace

HeldFile::~HeldFile() {
  if (!valid()) return;
  const int kept = errno;
  On(*this, {.call = FileCall::kClose});
  errno = kept;
}

HeldFile Open(const std::string& path, int flags) {
  HelpedAnswer helped = CallPatiently({.call = FileCall::kOpen, .a = flags, .path = path}, path, nullptr);
  errno = helped.answer.error;
  if (helped.answer.error != 0) return {};
  return {path, static_cast<int>(helped.answer.result), std::move(helped.helper)};
}

absl::StatusOr<HeldFile> CreateNew(const std::string& path, int flags, mode_t mode) {
  HelpedAnswer helped =
      CallPatiently({.call = FileCall::kCreate, .a = flags, .b = mode, .path = path}, path, nullptr);
  IOBENCH_RETURN_IF_ERROR(StatusOf(absl::StrCat("create ", path), helped.answer));
  return HeldFile(path, static_cast<int>(helped.answer.result), std::move(helped.helper));
}

int Close(HeldFile file) {
  const int outcome = Outcome(On(file, {.call = FileCall::kClose}));
  file.Forget();
  return outcome;
}

int WriteAll(const HeldFile& file, std::string_view bytes) {
  return Outcome(On(file, {.call = FileCall::kWrite, .text = std::string(bytes)}));
}

int WriteAt(const HeldFile& file, std::string_view bytes, uint64_t offset) {
  return Outcome(On(file, {.call = FileCall::kWriteAt, .b = static_cast<int64_t>(offset), .text = std::string(bytes)}));
}

ssize_t ReadAt(const HeldFile& file, char* into, size_t bytes, uint64_t offset) {
  const FileAnswer answer =
      On(file, {.call = FileCall::kReadAt, .a = static_cast<int64_t>(bytes), .b = static_cast<int64_t>(offset)});
  if (answer.error != 0) return -1;
  std::memcpy(into, answer.text.data(), answer.text.size());
  return static_cast<ssize_t>(answer.text.size());
}

int Sync(const HeldFile& file) {
  return Outcome(On(file, {.call = FileCall::kSync}));
}

int BeginSync(const HeldFile& file) {
  return Outcome(On(file, {.call = FileCall::kBeginSync}));
}

int Truncate(const HeldFile& file, uint64_t bytes) {
  return Outcome(On(file, {.call = FileCall::kTruncate, .a = static_cast<int64_t>(bytes)}));
}

int64_t Position(const HeldFile& file) {
  const FileAnswer answer = On(file, {.call = FileCall::kEnd});
  return answer.error == 0 ? answer.result : -1;
}

int Access(const std::string& path, int mode) {
  return Outcome(OnPath({.call = FileCall::kAccess, .a = mode, .path = path}));
}

int Remove(const std::string& path) {
  return Outcome(OnPath({.call = FileCall::kRemove, .path = path}));
}

int Rename(const std::string& from, const std::string& to) {
  return Outcome(OnPath({.call = FileCall::kRename, .path = from, .text = to}));
}

absl::Status MakeDirectories(const std::string& path) {
  return StatusOf(absl::StrCat("create directory ", path), OnPath({.call = FileCall::kMakeAll, .path = path}));
}

absl::Status CheckOwnDirectory(const std::string& path) {
  const FileAnswer answer = OnPath({.call = FileCall::kCheckOwn, .path = path});
  const absl::Status status = StatusOf(path, answer);
  const bool is_judged = absl::IsPermissionDenied(status) && answer.error == EPERM;
  return is_judged ? status : UnansweredCall(path, answer.error);
}

int RemoveAll(const std::string& path) {
  return Outcome(OnPath({.call = FileCall::kRemoveAll, .path = path}));
}

std::optional<struct stat> Stat(const std::string& path, Links links) {
  return FactsIn(OnPath({.call = FileCall::kStat, .a = links == Links::kFollow, .path = path}));
}

std::optional<struct stat> StatOpen(const HeldFile& file) {
  return FactsIn(On(file, {.call = FileCall::kStatOpen}));
}

int Lock(const HeldFile& file) {
  return Outcome(On(file, {.call = FileCall::kLock}));
}

bool Exists(const std::string& path) {
  return Stat(path).has_value();
}

bool IsDirectory(const std::string& path) {
  const std::optional<struct stat> facts = Stat(path);
  return facts.has_value() && S_ISDIR(facts->st_mode);
}

std::vector<std::string> NamesIn(const std::string& directory) {
  const std::string all = OnPath({.call = FileCall::kList, .path = directory}).text;
  std::vector<std::string> names;
  for (size_t begin = 0; begin < all.size(); begin += names.back().size() + 1) names.emplace_back(all.c_str() + begin);
  return names;
}

std::string Canonical(const std::string& path) {
  return OnPath({.call = FileCall::kCanonical, .path = path}).text;
}

absl::StatusOr<std::string> ReadWhole(const std::string& what, const std::string& path, uint64_t max_bytes) {
  FileAnswer answer =
      OnPath({.call = FileCall::kReadWhole, .a = static_cast<int64_t>(max_bytes), .path = path, .text = what});
  IOBENCH_RETURN_IF_ERROR(StatusOf(absl::StrCat(what, " ", path), answer));
  return std::move(answer.text);
}

std::optional<std::string> Head(const std::string& path, size_t max_bytes) {
  FileAnswer answer = OnPath({.call = FileCall::kHead, .a = static_cast<int64_t>(max_bytes), .path = path});
  if (answer.error != 0) return std::nullopt;
  return std::move(answer.text);
}

absl::Status MountAnswers(const std::string& what, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  Head(path, 1);  // reading asks the server, where looking may find the answer in a cache
  return UnansweredCall(absl::StrCat(what, " ", path), errno);
}

absl::Status TargetAnswers(const std::string& directory) {
  const HeldFile opened = Open(directory, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  return UnansweredTarget(directory, opened.valid() ? 0 : errno);
}

absl::Status UnansweredCall(const std::string& context, int errno_value) {
  if (errno_value != kErrnoNoAnswer && errno_value != kErrnoStoppedWaiting) return absl::OkStatus();
  return ErrnoStatus(context, errno_value);
}

absl::Status UnansweredTarget(const std::string& path, int errno_value) {
  const absl::Status status = UnansweredCall(absl::StrCat("the path to test, ", path), errno_value);
  if (status.ok()) return status;
  absl::Status lost(absl::StatusCode::kUnavailable, status.message());
  CopyPayloads(status, lost);
  return lost;
}

}  // namespace iobench::files
