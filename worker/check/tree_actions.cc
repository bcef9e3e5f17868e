#include "worker/check/tree_actions.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "worker/check/block_writes.h"
#include "worker/check/group_trial.h"
#include "worker/check/lock_calls.h"
#include "worker/check/mapped_contents.h"
#include "worker/check/overfill.h"
#include "worker/check/trial/trial.h"
#include "worker/check/write_all.h"

namespace iobench {
namespace {

constexpr size_t kMaxContentsBytes = 4096;
constexpr size_t kMaxHeld = 256;
constexpr uint32_t kMaxCount = 1'000'000;
constexpr int kMaxTrials = 64;
constexpr uint32_t kMaxTimeoutMs = 24 * 3600 * 1000;
constexpr uint32_t kLookEveryMs = 10;
constexpr size_t kRecordBytes = 64;
constexpr int64_t kNanosPerMs = 1'000'000;
constexpr uint64_t kPageBytes = 4096, kStatBlockBytes = 512;

void SetFacts(const struct stat& seen, v1::FileFacts& facts) {
  facts.set_bytes(static_cast<uint64_t>(seen.st_size));
  facts.set_modified_ns(seen.st_mtim.tv_sec * 1'000'000'000 + seen.st_mtim.tv_nsec);
  facts.set_user(seen.st_uid);
  facts.set_group(seen.st_gid);
  facts.set_mode(seen.st_mode);
  facts.set_links(seen.st_nlink);
  facts.set_changed_ns(seen.st_ctim.tv_sec * 1'000'000'000 + seen.st_ctim.tv_nsec);
  facts.set_accessed_ns(seen.st_atim.tv_sec * 1'000'000'000 + seen.st_atim.tv_nsec);
  facts.set_file_number(seen.st_ino);
  facts.set_allocated_bytes(static_cast<uint64_t>(seen.st_blocks) * kStatBlockBytes);
  facts.set_process_user(::geteuid());
  facts.set_process_group(::getegid());
}

// Closes the file and returns the errno of close().
int CloseOf(UniqueFd& fd) {
  return ::close(fd.Release()) == 0 ? 0 : errno;
}

// From memory that O_DIRECT accepts, too. REQUIRES: at most kMaxContentsBytes.
int WriteContents(int fd, std::string_view contents, uint64_t offset, bool append) {
  alignas(kPageBytes) std::byte aligned[kMaxContentsBytes];
  std::memcpy(aligned, contents.data(), contents.size());
  const std::span<const std::byte> bytes(aligned, contents.size());
  return append ? Append(fd, bytes) : WriteAt(fd, bytes, offset);
}

// TRUNCATE, ALLOCATE and PUNCH. Returns 0 or an errno.
int ChangeSpace(int fd, const v1::FileAction& action) {
  const auto offset = static_cast<off_t>(action.offset()), count = static_cast<off_t>(action.count());
  if (action.what() == v1::FileAction::TRUNCATE) return ::ftruncate(fd, offset) == 0 ? 0 : errno;
  const int mode = action.what() == v1::FileAction::PUNCH ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE : 0;
  return ::fallocate(fd, mode, offset, count) == 0 ? 0 : errno;
}

}  // namespace

int64_t WallNowNs() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

struct TreeActions::Call {
  const v1::FileAction& action;
  const Now& now;
  v1::FileActionResult& result;
  const CheckTree& tree;
  std::string name = TreeFileName(action.file(), action.style());
  UniqueFd directory = {};

  std::string path() const { return tree.PathOf(action.directory(), name); }
  absl::Status Failed(const char* what, int error) const {
    return error == 0 ? absl::OkStatus() : ErrnoStatus(absl::StrCat(what, " ", path()), error);
  }
  absl::StatusOr<UniqueFd> OpenFile(int flags) const {
    UniqueFd fd(::openat(directory.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (fd.valid()) return fd;
    return Failed("open", errno);
  }
  int FlagsOf(const v1::FileAction::How& how) const {
    return (how.create() ? O_CREAT : 0) | (how.exclusive() ? O_EXCL : 0) | (how.truncate() ? O_TRUNC : 0) |
           (how.append() ? O_APPEND : 0) | (how.direct() ? O_DIRECT : 0);
  }
  void SetFactsOf(int fd) const {
    struct stat seen {};
    if (::fstat(fd, &seen) == 0) SetFacts(seen, *result.mutable_facts());
  }
  void RecordContents(std::string_view bytes) const {
    result.set_bytes(bytes.size());
    result.set_contents_xxh3(Xxh3Of(bytes));
  }
  int64_t EndNs() const {
    return now().ns + int64_t{std::min(action.timeout_ms(), kMaxTimeoutMs)} * kNanosPerMs;
  }
};

absl::Status TreeActions::Act(const CheckTree& tree, const v1::FileAction& action, const Now& now,
                              v1::FileActionResult& result) {
  if (action.contents().size() > kMaxContentsBytes || action.count() > kMaxCount ||
      action.blocks().block_count() > kMaxCheckBlocks || action.trials_size() > kMaxTrials) {
    return absl::InvalidArgumentError("this action on a check file is larger than a worker allows");
  }
  Call call{action, now, result, tree};
  result.set_begin_wall_ns(WallNowNs());
  const absl::Status status = ActInDirectory(call);
  result.set_end_wall_ns(WallNowNs());
  return status;
}

absl::Status TreeActions::ActInDirectory(Call& call) {
  const v1::FileAction& action = call.action;
  const bool changes_space = action.what() == v1::FileAction::TRUNCATE ||
                             action.what() == v1::FileAction::ALLOCATE ||
                             action.what() == v1::FileAction::PUNCH;
  if (changes_space && action.held() != 0) return OnHeld(call);
  switch (action.what()) {
    case v1::FileAction::MAKE_DIRECTORY:
      if (action.file() == 0) return call.tree.MakeDirectory(action.directory(), action.contents());
      break;
    case v1::FileAction::REMOVE_DIRECTORY:
      if (action.file() == 0) return call.tree.Remove(action.directory());
      break;
    case v1::FileAction::READ_HELD:
    case v1::FileAction::WRITE_HELD:
    case v1::FileAction::CLOSE_HELD:
    case v1::FileAction::LOCK:
    case v1::FileAction::UNLOCK:
      return OnHeld(call);
    default:
      break;
  }
  // An action that waits for a change must not itself cause the request to the server that reveals it.
  const bool leaves_caches = action.what() == v1::FileAction::STAT || action.what() == v1::FileAction::AWAIT;
  IOBENCH_ASSIGN_OR_RETURN(
      call.directory, call.tree.OpenDirectory(action.directory(), leaves_caches ? DirectoryOpening::kAsKnown
                                                                                : DirectoryOpening::kFresh));
  return OnName(call);
}

absl::Status TreeActions::OnName(Call& call) {
  const v1::FileAction& action = call.action;
  const int directory = call.directory.get();
  const char* const name = call.name.c_str();
  const std::string to = TreeFileName(action.to_file(), action.style());
  switch (action.what()) {
    case v1::FileAction::CREATE:
    case v1::FileAction::WRITE:
      return Write(call);
    case v1::FileAction::READ:
    case v1::FileAction::READ_MAPPED:
      return Read(call);
    case v1::FileAction::REMOVE:
      return call.Failed("remove", ::unlinkat(directory, name, 0) == 0 ? 0 : errno);
    case v1::FileAction::MAKE_DIRECTORY:
      return call.Failed("create directory", ::mkdirat(directory, name, 0755) == 0 ? 0 : errno);
    case v1::FileAction::REMOVE_DIRECTORY:
      return call.Failed("remove directory", ::unlinkat(directory, name, AT_REMOVEDIR) == 0 ? 0 : errno);
    case v1::FileAction::TRUNCATE:
    case v1::FileAction::ALLOCATE:
    case v1::FileAction::PUNCH: {
      IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, call.OpenFile(O_WRONLY));
      int error = ChangeSpace(fd.get(), action);
      if (const int closed = CloseOf(fd); error == 0) error = closed;
      return call.Failed("change the space of", error);
    }
    case v1::FileAction::STAT: {
      struct stat seen {};
      if (::fstatat(directory, name, &seen, AT_SYMLINK_NOFOLLOW) != 0) return call.Failed("look at", errno);
      SetFacts(seen, *call.result.mutable_facts());
      return absl::OkStatus();
    }
    case v1::FileAction::RENAME:
      return call.Failed("rename", ::renameat(directory, name, directory, to.c_str()) == 0 ? 0 : errno);
    case v1::FileAction::LINK:
      return call.Failed("link", ::linkat(directory, name, directory, to.c_str(), 0) == 0 ? 0 : errno);
    case v1::FileAction::LIST:
      return List(call);
    case v1::FileAction::FILL:
      return Fill(call);
    case v1::FileAction::EMPTY:
      return Empty(call);
    case v1::FileAction::OPEN:
      return Open(call);
    case v1::FileAction::COUNT_UP:
      return CountUp(call);
    case v1::FileAction::APPEND_RECORDS:
      return AppendRecords(call);
    case v1::FileAction::WRITE_MAPPED:
      return WriteMapped(call);
    case v1::FileAction::AWAIT:
      return Await(call);
    case v1::FileAction::TRY_GROUPS:
      return TryGroups(directory, call.name, call.path(), *call.result.mutable_groups());
    case v1::FileAction::TRY:
      return RunTrials(action, {directory, call.name, call.tree.PathOf(action.directory(), "")}, call.result);
    case v1::FileAction::OVERFILL:
      if (action.offset() > kMaxOverfillBytes) return absl::InvalidArgumentError("more than a worker allows");
      return Overfill(directory, call.name, call.path(), action.offset(), cancelled_,
                      *call.result.mutable_overfilled());
    case v1::FileAction::WRITE_BLOCKS:
    case v1::FileAction::CHECK_BLOCKS:
      if (action.blocks().block_count() == 0) return absl::InvalidArgumentError("a file of no blocks");
      if (action.what() == v1::FileAction::CHECK_BLOCKS) {
        return CheckBlocks(directory, call.name, call.path(), action.blocks(), *call.result.mutable_blocks());
      }
      return WriteBlocks(directory, call.name, call.path(), action.blocks(), call.EndNs(), cancelled_,
                         call.now, *call.result.mutable_blocks());
    default:
      return absl::UnimplementedError("this worker does not know this action");
  }
}

UniqueFd* TreeActions::Held(const v1::FileAction& action) {
  const MutexLock lock(held_mutex_);
  const auto found = held_.find({action.directory(), action.held()});
  return found == held_.end() ? nullptr : &found->second;
}

absl::Status TreeActions::OnHeld(Call& call) {
  const v1::FileAction& action = call.action;
  UniqueFd* const held = Held(action);
  if (held == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("no file is open under the number ", action.held()));
  }
  UniqueFd& fd = *held;
  switch (action.what()) {
    case v1::FileAction::READ_HELD:
      return ReadFrom(call, fd.get(), action.how().mapped());
    case v1::FileAction::WRITE_HELD:
      if (action.how().mapped())
        return call.Failed("write", StoreMapped(fd.get(), action.offset(), action.contents()));
      return call.Failed("write",
                         WriteContents(fd.get(), action.contents(), action.offset(), action.how().append()));
    case v1::FileAction::TRUNCATE:
    case v1::FileAction::ALLOCATE:
    case v1::FileAction::PUNCH:
      return call.Failed("change the space of", ChangeSpace(fd.get(), action));
    case v1::FileAction::CLOSE_HELD: {
      const int error = CloseOf(fd);
      const MutexLock lock(held_mutex_);
      held_.erase({action.directory(), action.held()});
      return call.Failed("close", error);
    }
    default:
      return Lock(call, fd.get(), action.what() == v1::FileAction::LOCK);
  }
}

absl::Status TreeActions::Read(Call& call) {
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, call.OpenFile(O_RDONLY | call.FlagsOf(call.action.how())));
  return ReadFrom(call, fd.get(), call.action.what() == v1::FileAction::READ_MAPPED);
}

absl::Status TreeActions::ReadFrom(Call& call, int fd, bool mapped) {
  call.SetFactsOf(fd);
  if (mapped) {
    std::string bytes;
    if (const int error = LoadMapped(fd, call.action.offset(), kMaxContentsBytes, bytes); error != 0)
      return call.Failed("map", error);
    call.RecordContents(bytes);
    return absl::OkStatus();
  }
  alignas(kPageBytes) char bytes[kMaxContentsBytes];
  const ssize_t read = ::pread(fd, bytes, sizeof bytes, static_cast<off_t>(call.action.offset()));
  if (read < 0) return call.Failed("read", errno);
  call.RecordContents({bytes, static_cast<size_t>(read)});
  return absl::OkStatus();
}

absl::Status TreeActions::Write(Call& call) {
  const v1::FileAction& action = call.action;
  const bool is_new = action.what() == v1::FileAction::CREATE;
  const int flags = is_new ? O_CREAT | O_EXCL : call.FlagsOf(action.how());
  IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, call.OpenFile(O_WRONLY | flags));
  int error = WriteContents(fd.get(), action.contents(), action.offset(), action.how().append());
  if (is_new && error == 0) error = ::fsync(fd.get()) == 0 ? 0 : errno;
  if (error == 0) call.SetFactsOf(fd.get());
  if (const int closed = CloseOf(fd); error == 0) error = closed;
  if (error == 0) call.RecordContents(action.contents());
  return call.Failed("write", error);
}

// Reads the directory to its end once, as `ls -f` does.
absl::Status TreeActions::List(Call& call) {
  UniqueFd again(::openat(call.directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* const stream = again.valid() ? ::fdopendir(again.get()) : nullptr;
  if (stream == nullptr) return call.Failed("list", errno);
  again.Release();
  const std::unique_ptr<DIR, int (*)(DIR*)> closer(stream, ::closedir);
  const uint32_t first = call.action.file(), count = call.action.count();
  std::vector<bool> there(count, false);
  std::vector<uint64_t> hashes;  // of all names: a million of them take 8 MB
  v1::NameCounts& counts = *call.result.mutable_names();
  errno = 0;
  while (const dirent* const entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    errno = 0;
    if (name == "." || name == "..") continue;
    counts.set_listed(counts.listed() + 1);
    hashes.push_back(Xxh3Of(name));
    uint32_t number = 0;
    if (absl::SimpleAtoi(std::string(name.substr(1)), &number) && number >= first && number - first < count &&
        name == TreeFileName(number, call.action.style())) {
      there[number - first] = true;
    }
  }
  if (errno != 0) return call.Failed("list", errno);
  std::sort(hashes.begin(), hashes.end());
  for (size_t i = 1; i < hashes.size(); ++i) {
    if (hashes[i] == hashes[i - 1]) counts.set_doubled(counts.doubled() + 1);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (there[i]) continue;
    if (counts.missing() == 0) counts.set_first_missing(first + i);
    counts.set_missing(counts.missing() + 1);
  }
  return absl::OkStatus();
}

absl::Status TreeActions::Fill(Call& call) {
  for (uint32_t i = 0; i < call.action.count() && !cancelled_; ++i) {
    call.name = TreeFileName(call.action.file() + i, call.action.style());
    IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, call.OpenFile(O_WRONLY | O_CREAT | O_EXCL));
    IOBENCH_RETURN_IF_ERROR(call.Failed("close", CloseOf(fd)));
    call.result.set_count(i + 1);
  }
  return absl::OkStatus();
}

absl::Status TreeActions::Empty(Call& call) {
  for (uint32_t i = 0; i < call.action.count() && !cancelled_; ++i) {
    call.name = TreeFileName(call.action.file() + i, call.action.style());
    if (::unlinkat(call.directory.get(), call.name.c_str(), 0) != 0) return call.Failed("remove", errno);
    call.result.set_count(i + 1);
  }
  return absl::OkStatus();
}

absl::Status TreeActions::Open(Call& call) {
  const v1::FileAction& action = call.action;
  if (const MutexLock lock(held_mutex_); held_.size() >= kMaxHeld) {
    return absl::ResourceExhaustedError("too many check files are open");
  }
  IOBENCH_ASSIGN_OR_RETURN(
      UniqueFd fd, call.OpenFile((action.how().write() ? O_RDWR : O_RDONLY) | call.FlagsOf(action.how())));
  call.SetFactsOf(fd.get());
  const MutexLock lock(held_mutex_);
  held_.insert_or_assign({action.directory(), action.held()}, std::move(fd));
  return absl::OkStatus();
}

// Sleeps until the next check; false: it is too late for one.
bool TreeActions::Sleep(Call& call, int64_t end_ns) {
  const int64_t left_ns = end_ns - call.now().ns;
  if (left_ns <= 0 || cancelled_) return false;
  const uint32_t every_ms = call.action.interval_ms() == 0 ? kLookEveryMs : call.action.interval_ms();
  const int64_t sleep_ns = std::min({left_ns, every_ms * kNanosPerMs, int64_t{1'000'000'000}});
  const timespec sleep = {.tv_sec = sleep_ns / 1'000'000'000, .tv_nsec = sleep_ns % 1'000'000'000};
  ::nanosleep(&sleep, nullptr);
  return true;
}

absl::Status TreeActions::Lock(Call& call, int fd, bool take) {
  const v1::FileAction::FileLock& wanted = call.action.lock();
  if (!take) return call.Failed("unlock", Unlock(fd, wanted));
  const int64_t end_ns = call.EndNs();
  if (wanted.waits()) {
    return call.Failed("lock",
                       LockWaiting(fd, wanted, [&] { return cancelled_ || call.now().ns >= end_ns; }));
  }
  for (;;) {
    const int error = LockNow(fd, wanted);
    if (error != EAGAIN || !Sleep(call, end_ns)) return call.Failed("lock", error);
  }
}

absl::Status TreeActions::CountUp(Call& call) {
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, call.OpenFile(O_RDWR | O_CREAT));
  for (uint32_t i = 0; i < call.action.count() && !cancelled_; ++i) {
    IOBENCH_RETURN_IF_ERROR(Lock(call, fd.get(), /*take=*/true));
    uint64_t number = 0;
    const ssize_t read = ::pread(fd.get(), &number, sizeof number, 0);
    int error = read < 0 ? errno : 0;
    ++number;
    const std::string_view bytes(reinterpret_cast<const char*>(&number), sizeof number);
    if (error == 0) error = WriteContents(fd.get(), bytes, 0, /*append=*/false);
    const absl::Status unlocked = Lock(call, fd.get(), /*take=*/false);
    IOBENCH_RETURN_IF_ERROR(call.Failed("count in", error));
    IOBENCH_RETURN_IF_ERROR(unlocked);
    call.result.set_count(i + 1);
  }
  return absl::OkStatus();
}

absl::Status TreeActions::AppendRecords(Call& call) {
  for (uint32_t i = 0; i < call.action.count() && !cancelled_; ++i) {
    std::string record = absl::StrFormat("%-48s%15d\n", call.action.contents().substr(0, 48), i);
    record.resize(kRecordBytes, ' ');
    IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, call.OpenFile(O_WRONLY | O_CREAT | O_APPEND));
    int error = WriteContents(fd.get(), record, 0, /*append=*/true);
    if (const int closed = CloseOf(fd); error == 0) error = closed;
    IOBENCH_RETURN_IF_ERROR(call.Failed("append to", error));
    call.result.set_count(i + 1);
  }
  return absl::OkStatus();
}

absl::Status TreeActions::WriteMapped(Call& call) {
  const std::string& contents = call.action.contents();
  if (contents.empty()) return absl::InvalidArgumentError("nothing to write");
  const int flags = call.FlagsOf(call.action.how());
  IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, call.OpenFile(O_RDWR | flags));
  int error = StoreMapped(fd.get(), call.action.offset(), contents);
  if (const int closed = CloseOf(fd); error == 0) error = closed;
  return call.Failed("write", error);
}

bool TreeActions::Seen(Call& call) {
  const v1::FileAction& action = call.action;
  UniqueFd* const held = Held(action);
  struct stat seen {};
  const bool exists = ::fstatat(call.directory.get(), call.name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0;
  switch (action.awaited()) {
    case v1::FileAction::NAME:
      return exists;
    case v1::FileAction::NO_NAME:
      return !exists && errno == ENOENT;
    case v1::FileAction::SIZE:
      return exists && static_cast<uint64_t>(seen.st_size) == action.awaited_value();
    case v1::FileAction::CONTENTS: {
      if (held == nullptr) return false;
      char bytes[kMaxContentsBytes];
      const ssize_t read = ::pread(held->get(), bytes, sizeof bytes, 0);
      return read >= 0 && Xxh3Of({bytes, static_cast<size_t>(read)}) == action.awaited_value();
    }
    case v1::FileAction::UNLOCKED:
      return held != nullptr && [&] {
        v1::FileAction once = action;
        once.set_timeout_ms(0);
        Call look{once, call.now, call.result, call.tree};
        return Lock(look, held->get(), /*take=*/true).ok();
      }();
    default:
      return false;
  }
}

absl::Status TreeActions::Await(Call& call) {
  const int64_t end_ns = call.EndNs();
  do {
    call.result.set_count(call.result.count() + 1);
    call.result.set_seen(Seen(call));
  } while (!call.result.seen() && Sleep(call, end_ns));
  return absl::OkStatus();
}

}  // namespace iobench
