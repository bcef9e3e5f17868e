// Trials of sizes, space and times: the largest file, holes, copies without data, and which times are kept.
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/time.h"
#include "worker/check/trial/scratch.h"
#include "worker/check/trial/trial_file.h"

namespace iobench {
namespace {

constexpr int64_t kSparseBytes = 1 << 20, kPieceBytes = 64 << 10;
constexpr int kBlockBytes = 512;  // of st_blocks

// Whether a file with one byte at its end takes less than it would without a hole.
absl::StatusOr<bool> HasHoles(const TrialFile& file, uint64_t& allocated_bytes) {
  IOBENCH_RETURN_IF_ERROR(file.Write("x", kSparseBytes - 1));
  IOBENCH_RETURN_IF_ERROR(file.Flush());
  IOBENCH_ASSIGN_OR_RETURN(const struct stat seen, file.Look());
  allocated_bytes = static_cast<uint64_t>(seen.st_blocks) * kBlockBytes;
  return allocated_bytes < kSparseBytes / 2;
}

absl::Status TrySparse(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "sparse"));
  uint64_t allocated_bytes = 0;
  IOBENCH_ASSIGN_OR_RETURN(const bool holes, HasHoles(file, allocated_bytes));
  result.set_answer(holes ? "yes" : "no");
  result.set_number(allocated_bytes);
  return absl::OkStatus();
}

// The largest offset that lseek() accepts: what the kernel knows of the file system's largest file. No data moves.
int64_t LargestOffset(int fd) {
  if (::lseek(fd, INT64_MAX, SEEK_SET) >= 0) return INT64_MAX;
  int64_t works = 0, fails = INT64_MAX;
  while (fails - works > 1) {
    const int64_t offset = works + (fails - works) / 2;
    (::lseek(fd, offset, SEEK_SET) >= 0 ? works : fails) = offset;
  }
  return works;
}

// Whether a file of this size can be made and holds its last byte; it has a hole before it.
absl::StatusOr<bool> Holds(const TrialFile& file, int64_t bytes) {
  absl::Status written = file.Write("x", bytes - 1);
  if (written.ok()) written = file.Flush();
  const int error = ErrnoOf(written);
  if (error == EFBIG || error == EINVAL || error == ENOSPC || error == EDQUOT || error == EOVERFLOW)
    return false;
  IOBENCH_RETURN_IF_ERROR(written);
  IOBENCH_ASSIGN_OR_RETURN(const struct stat seen, file.Look());
  IOBENCH_ASSIGN_OR_RETURN(const std::string last, file.Read(bytes - 1, 1));
  if (seen.st_size != bytes || last != "x") {
    return absl::DataLossError(absl::StrCat("a byte written at the offset ", bytes - 1, " of ", file.path(),
                                            " is not there; the file has ", seen.st_size, " bytes"));
  }
  return true;
}

absl::Status TryLargestFile(const TrialPlace& place, v1::TrialResult& result) {
  constexpr int64_t kGiB = int64_t{1} << 30, kTiB = int64_t{1} << 40;
  constexpr std::array kSizes = {kTiB << 20, kTiB << 10,   64 * kTiB, 16 * kTiB,   16 * kTiB - 4096,
                                 8 * kTiB,   4 * kTiB,     2 * kTiB,  kTiB,        16 * kGiB,
                                 4 * kGiB,   4 * kGiB - 1, 2 * kGiB,  2 * kGiB - 1};
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "largest"));
  const int64_t limit = LargestOffset(file.fd());
  uint64_t allocated_bytes = 0;
  IOBENCH_ASSIGN_OR_RETURN(const bool holes, HasHoles(file, allocated_bytes));
  if (!holes) {  // writing there would fill the disk
    result.set_number(static_cast<uint64_t>(limit));
    result.set_answer("claimed");
    return absl::OkStatus();
  }
  result.set_answer("holds");
  IOBENCH_ASSIGN_OR_RETURN(const bool all, Holds(file, limit));
  if (all) {
    result.set_number(static_cast<uint64_t>(limit));
    return absl::OkStatus();
  }
  for (const int64_t bytes : kSizes) {
    if (bytes >= limit) continue;
    if (::ftruncate(file.fd(), 0) != 0) return file.Failed("truncate", errno);
    IOBENCH_ASSIGN_OR_RETURN(const bool holds, Holds(file, bytes));
    if (!holds) continue;
    result.set_number(static_cast<uint64_t>(bytes));
    return absl::OkStatus();
  }
  result.set_number(kSparseBytes);
  return absl::OkStatus();
}

// The step of times that can be stored, by what is kept of one with all digits.
absl::Status TryTimeStep(const TrialPlace& place, v1::TrialResult& result) {
  constexpr int64_t kSecond = 1'700'000'001, kNanos = 123'456'789;  // an odd second: vfat has steps of two
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "times"));
  const timespec times[2] = {{kSecond, kNanos}, {kSecond, kNanos}};
  if (::utimensat(place.directory_fd, file.name().c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) {
    return Offered(errno, "utimensat", place, result);
  }
  IOBENCH_ASSIGN_OR_RETURN(const struct stat seen, file.Look());
  const int64_t lost_ns = (kSecond - seen.st_mtim.tv_sec) * kNanosPerSecond + kNanos - seen.st_mtim.tv_nsec;
  int64_t step_ns = 2 * kNanosPerSecond;
  for (const int64_t step : {int64_t{1}, int64_t{100}, int64_t{1'000}, int64_t{1'000'000}, kNanosPerSecond}) {
    if (lost_ns != (kSecond * kNanosPerSecond + kNanos) % step) continue;
    step_ns = step;
    break;
  }
  result.set_answer(step_ns >= kNanosPerSecond ? "coarse" : "fine");
  result.set_number(static_cast<uint64_t>(step_ns));
  return absl::OkStatus();
}

absl::Status TryChangeTime(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const Scratch at, Scratch::In(place));
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "x"));
  IOBENCH_ASSIGN_OR_RETURN(const struct stat before, at.Look("a"));
  IOBENCH_RETURN_IF_ERROR(at.NextTimestamp());
  // File systems that keep no other modes keep this one: read-only.
  if (::fchmodat(at.fd(), "a", before.st_mode & 0555, 0) != 0) return Offered(errno, "chmod", place, result);
  IOBENCH_ASSIGN_OR_RETURN(const struct stat after, at.Look("a"));
  const bool moves =
      after.st_ctim.tv_sec != before.st_ctim.tv_sec || after.st_ctim.tv_nsec != before.st_ctim.tv_nsec;
  result.set_answer(moves ? "yes" : "no");
  return absl::OkStatus();
}

absl::Status TryAfter2038(const TrialPlace& place, v1::TrialResult& result) {
  constexpr int64_t kSecond = (int64_t{1} << 31) + 86'400;
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "future"));
  const timespec times[2] = {{kSecond, 0}, {kSecond, 0}};
  if (::utimensat(place.directory_fd, file.name().c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) {
    return Offered(errno, "utimensat", place, result);
  }
  IOBENCH_ASSIGN_OR_RETURN(const struct stat seen, file.Look());
  result.set_answer(seen.st_mtim.tv_sec == kSecond ? "yes" : "no");
  return absl::OkStatus();
}

absl::Status TryInodes(const TrialPlace& place, v1::TrialResult& result) {
  struct statvfs all {};
  if (::fstatvfs(place.directory_fd, &all) != 0)
    return ErrnoStatus(absl::StrCat("statvfs ", place.path), errno);
  result.set_answer(all.f_files == 0 ? "dynamic" : "limited");
  result.set_number(all.f_files);
  if (all.f_files > 0) result.set_detail(absl::StrCat(all.f_ffree, " of them free"));
  return absl::OkStatus();
}

absl::Status TryAllocate(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "allocated"));
  const int error = ::fallocate(file.fd(), 0, 0, kPieceBytes) == 0 ? 0 : errno;
  return Offered(error, "fallocate", place, result);
}

absl::Status TryPunch(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "punched"));
  IOBENCH_RETURN_IF_ERROR(file.Write(std::string(3 * kPieceBytes, 'x'), 0));
  IOBENCH_RETURN_IF_ERROR(file.Flush());
  const int error =
      ::fallocate(file.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kPieceBytes, kPieceBytes) == 0
          ? 0
          : errno;
  IOBENCH_RETURN_IF_ERROR(Offered(error, "fallocate", place, result));
  if (error != 0) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const std::string hole, file.Read(kPieceBytes, kPieceBytes));
  if (hole != std::string(kPieceBytes, '\0')) {
    return absl::DataLossError(
        absl::StrCat("a hole was punched into ", file.path(), ", but does not read as zeros"));
  }
  return absl::OkStatus();
}

absl::Status TrySeekHole(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "holes"));
  const std::string piece(kPieceBytes, 'x');
  IOBENCH_RETURN_IF_ERROR(file.Write(piece, 0));
  IOBENCH_RETURN_IF_ERROR(file.Write(piece, kSparseBytes));
  IOBENCH_RETURN_IF_ERROR(file.Flush());
  const off_t hole = ::lseek(file.fd(), 0, SEEK_HOLE);
  if (hole < 0) return Offered(errno, "lseek", place, result);
  result.set_answer(hole < kSparseBytes ? "yes" : "whole_file");
  return absl::OkStatus();
}

absl::Status TryClone(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "cloned"));
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile copy, TrialFile::New(place, "clone"));
  const std::string piece(kPieceBytes, 'x');
  IOBENCH_RETURN_IF_ERROR(file.Write(piece, 0));
  IOBENCH_RETURN_IF_ERROR(file.Flush());
  const int error = ::ioctl(copy.fd(), FICLONE, file.fd()) == 0 ? 0 : errno;
  IOBENCH_RETURN_IF_ERROR(Offered(error, "ioctl", place, result));
  if (error != 0) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const std::string copied, copy.Read(0, kPieceBytes));
  if (copied != piece)
    return absl::DataLossError(absl::StrCat(copy.path(), " is a clone with other contents"));
  return absl::OkStatus();
}

// How many COPY requests of this client NFS servers have carried out.
int64_t CopiesByServers() {
  std::ifstream stats("/proc/self/mountstats");
  int64_t copies = 0;
  for (std::string line; std::getline(stats, line);) {
    std::istringstream words(line);
    std::string name;
    int64_t value = 0, first = 0, last = 0;
    if (!(words >> name) || name != "COPY:" || !(words >> first)) continue;
    int fields = 1;
    for (; words >> value; ++fields) last = value;
    copies += first - (fields >= 9 ? last : 0);  // the ninth counts errors
  }
  return copies;
}

absl::Status TryCopyRange(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "copied"));
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile copy, TrialFile::New(place, "copy"));
  const std::string piece(kPieceBytes, 'x');
  IOBENCH_RETURN_IF_ERROR(file.Write(piece, 0));
  IOBENCH_RETURN_IF_ERROR(file.Flush());
  struct statfs storage {};
  const bool is_nfs = ::fstatfs(file.fd(), &storage) == 0 && storage.f_type == NFS_SUPER_MAGIC;
  const int64_t before = CopiesByServers();
  off_t from = 0, to = 0;
  while (from < kPieceBytes) {
    const ssize_t copied =
        ::copy_file_range(file.fd(), &from, copy.fd(), &to, static_cast<size_t>(kPieceBytes - from), 0);
    if (copied < 0) return Offered(errno, "copy_file_range", place, result);
    if (copied == 0) break;
  }
  IOBENCH_ASSIGN_OR_RETURN(const std::string copied, copy.Read(0, kPieceBytes));
  if (copied != piece)
    return absl::DataLossError(absl::StrCat(copy.path(), " is a copy with other contents"));
  result.set_answer(!is_nfs ? "yes" : CopiesByServers() > before ? "server" : "client");
  return absl::OkStatus();
}

}  // namespace

std::span<const Trial> SizeTrials() {
  static constexpr Trial kTrials[] = {
      {"largest_file", "the largest file: holds, claimed (not written); number: its bytes", TryLargestFile},
      {"sparse", "a hole takes no space: yes, no; number: bytes that 1 MiB with a hole takes", TrySparse},
      {"time_step", "the step of times that are stored: fine, coarse; number: nanoseconds", TryTimeStep},
      {"change_time", "chmod moves a time of changes (ctime): yes, no", TryChangeTime},
      {"after_2038", "times after January 2038: yes, no", TryAfter2038},
      {"inodes", "how many files there can be: limited, dynamic; number: how many", TryInodes},
      {"fallocate", "space reserved in advance", TryAllocate},
      {"punch_hole", "holes punched into files", TryPunch},
      {"seek_hole", "holes found: yes, no, whole_file (none is ever reported)", TrySeekHole},
      {"clone", "copies that share their blocks (FICLONE)", TryClone},
      {"copy_range", "copy_file_range: yes; on NFS: server, client (that moves the data); no", TryCopyRange},
  };
  return kTrials;
}

}  // namespace iobench
