#include "coordinator/report/result_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/host_identity.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr char kTitle[] = "cluster-iobench results";
constexpr size_t kMaxRecordBytes = 4096;
// The file may vanish between two looks each time, but not for ever. The process that makes the calls of an owner that was
// killed keeps the lock a little longer: for two seconds at most.
constexpr int kMaxAttempts = 100;
constexpr useconds_t kLookUs = 20'000;

struct ResultOwner {
  ProcessIdentity process;
  std::string host;
  std::string since;
};

std::string RecordOf(const std::string& since, const std::string& run) {
  const ProcessIdentity self = OwnIdentity().value_or(ProcessIdentity{.place = "unknown", .pid = ::getpid()});
  return absl::StrCat(kTitle, "\n", ToLine(self), "\n", HostName(), "\n", since, "\n", run, "\n");
}

// nullopt: empty, cut off, or not ours.
std::optional<ResultOwner> OwnerIn(const std::string& record) {
  const std::vector<std::string> lines = absl::StrSplit(record, '\n');
  if (lines.size() < 5 || lines[0] != kTitle) return std::nullopt;
  const std::optional<ProcessIdentity> process = ProcessFromLine(lines[1]);
  if (!process.has_value()) return std::nullopt;
  return ResultOwner{.process = *process, .host = lines[2], .since = lines[3]};
}

std::string BootOfPlace(const std::string& place) { return place.substr(0, place.find(' ')); }

absl::Status StillGoingOn(const std::string& directory, const std::optional<ResultOwner>& owner) {
  return absl::FailedPreconditionError(absl::StrCat(
      directory, ": a run that writes its results there is still going on (",
      owner.has_value()
          ? absl::StrCat("process ", owner->process.pid, " of ", owner->host, ", since ", owner->since)
          : absl::StrCat("its record in ", kResultLockFile, " cannot be read"),
      "): wait until it ends, or choose another directory"));
}

// Whether the owner of a record still writes there. `excludes`: the lock, which this process has, excludes every other
// process of this boot.
absl::Status CheckOwner(const std::string& directory, const std::string& record, bool excludes,
                        ResultLock::IfOutOfSight if_out_of_sight) {
  if (record.empty()) return absl::OkStatus();
  const std::optional<ResultOwner> owner = OwnerIn(record);
  if (owner.has_value()) {
    if (excludes && BootOfPlace(owner->process.place) == BootId()) return absl::OkStatus();
    const ProcessState state = StateOf(owner->process);
    if (state == ProcessState::kAlive) return StillGoingOn(directory, owner);
    if (state == ProcessState::kGone) return absl::OkStatus();
    // This host was restarted.
    if (owner->host == HostName() && BootOfPlace(owner->process.place) != BootId()) return absl::OkStatus();
  }
  if (if_out_of_sight == ResultLock::IfOutOfSight::kAccept) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      directory, ": whether the run that writes its results there is still going on cannot be seen from here: ",
      owner.has_value() ? absl::StrCat("look for process ", owner->process.pid, " on ", owner->host, " (since ",
                                       owner->since, ")")
                        : absl::StrCat(kResultLockFile, " cannot be read"),
      ", and use --force if it is gone"));
}

absl::StatusOr<files::HeldFile> OpenLockFile(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    files::HeldFile file = files::Open(path, kFlags);
    if (file.valid()) return file;
    if (errno != ENOENT) return ErrnoStatus(absl::StrCat("open ", path), errno);
    absl::StatusOr<files::HeldFile> made = files::CreateNew(path);
    if (!absl::IsAlreadyExists(made.status())) return made;
  }
  return ErrnoStatus(absl::StrCat("open ", path), EEXIST);
}

// Whether the name still leads to the open file.
bool IsAt(const std::string& path, const files::HeldFile& file) {
  const std::optional<struct stat> named = files::Stat(path, files::Links::kShow), opened = files::StatOpen(file);
  return named.has_value() && opened.has_value() && named->st_dev == opened->st_dev && named->st_ino == opened->st_ino &&
         S_ISREG(named->st_mode);
}

absl::StatusOr<std::string> ReadRecord(const std::string& path, const files::HeldFile& file) {
  std::string record(kMaxRecordBytes + 1, '\0');
  const ssize_t got = files::ReadAt(file, record.data(), record.size(), 0);
  if (got < 0) return ErrnoStatus(absl::StrCat("read ", path), errno);
  record.resize(static_cast<size_t>(got));
  return record;
}

absl::Status WriteRecord(const std::string& path, const files::HeldFile& file, const std::string& record) {
  if (files::WriteAt(file, record, 0) != 0) return ErrnoStatus(absl::StrCat("write ", path), errno);
  if (files::Truncate(file, record.size()) != 0) return ErrnoStatus(absl::StrCat("truncate ", path), errno);
  // Other hosts see it from now on.
  if (files::Sync(file) != 0) return ErrnoStatus(absl::StrCat("fsync ", path), errno);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<ResultLock>> ResultLock::Take(const std::string& directory,
                                                             IfOutOfSight if_out_of_sight) {
  const std::string path = absl::StrCat(directory, "/", kResultLockFile);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    IOBENCH_ASSIGN_OR_RETURN(files::HeldFile file, OpenLockFile(path));
    bool excludes = true;
    if (files::Lock(file) != 0) {
      // Anything else: the file system has no locks.
      if (errno == EWOULDBLOCK) {
        const auto record = ReadRecord(path, file);
        const std::optional<ResultOwner> owner = record.ok() ? OwnerIn(*record) : std::nullopt;
        const bool was_killed = owner.has_value() && StateOf(owner->process) == ProcessState::kGone;
        if (!was_killed || attempt + 1 == kMaxAttempts) return StillGoingOn(directory, owner);
        ::usleep(kLookUs);
        continue;
      }
      excludes = false;
    }
    if (!IsAt(path, file)) continue;  // its owner has ended meanwhile, and has removed it
    IOBENCH_ASSIGN_OR_RETURN(const std::string found, ReadRecord(path, file));
    IOBENCH_RETURN_IF_ERROR(CheckOwner(directory, found, excludes, if_out_of_sight));
    std::shared_ptr<ResultLock> lock(new ResultLock(directory, std::move(file), WallClockIso8601()));
    IOBENCH_RETURN_IF_ERROR(lock->NameRun(""));
    return lock;
  }
  return absl::UnavailableError(absl::StrCat(path, " comes and goes: another process uses this directory"));
}

std::string ResultLock::path() const { return absl::StrCat(directory_, "/", kResultLockFile); }

absl::Status ResultLock::NameRun(const std::string& run) {
  record_ = RecordOf(since_, run);
  return WriteRecord(path(), file_, record_);
}

absl::Status ResultLock::CheckHeld() const {
  if (IsAt(path(), file_)) {
    const auto found = ReadRecord(path(), file_);
    if (found.ok() && *found == record_) return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(directory_, ": another process has taken these results meanwhile (", kResultLockFile,
                   " has changed): nothing was changed; see what it is before you resume the run again"));
}

// Not the file of another process that has taken the directory where there are no locks.
void ResultLock::Release() {
  if (!file_.valid()) return;
  if (CheckHeld().ok()) files::Remove(path());
  files::Close(std::move(file_));
}

}  // namespace iobench
