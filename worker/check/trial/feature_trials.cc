// Trials of calls that a file system offers or not: a program that needs what is missing cannot run there.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/check/trial/trial_file.h"

namespace iobench {
namespace {

// The longest target that is kept.
absl::Status TrySymbolicLink(const TrialPlace& place, v1::TrialResult& result) {
  constexpr std::array kTargetBytes = {4095, 1023, 255, 6};
  const std::string name = place.Name("symlink");
  int error = 0;
  for (const int bytes : kTargetBytes) {
    const std::string target(static_cast<size_t>(bytes), 't');
    error = ::symlinkat(target.c_str(), place.directory_fd, name.c_str()) == 0 ? 0 : errno;
    if (error == 0) {
      std::string kept(target.size() + 1, '\0');
      const ssize_t read = ::readlinkat(place.directory_fd, name.c_str(), kept.data(), kept.size());
      ::unlinkat(place.directory_fd, name.c_str(), 0);
      if (read == bytes) {
        result.set_number(static_cast<uint64_t>(bytes));
        break;
      }
      error = ENAMETOOLONG;
    }
    if (error != ENAMETOOLONG) break;
  }
  return Offered(error, "symlink", place, result);
}

// A few links show that there are more than one or two; some file systems end at 65,000, which would take too long.
absl::Status TryHardLink(const TrialPlace& place, v1::TrialResult& result) {
  constexpr int kLinks = 16;
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "linked"));
  int made = 0, error = 0;
  for (; made < kLinks && error == 0; ++made) {
    const std::string link = place.Name(absl::StrCat("link", made).c_str());
    if (::linkat(place.directory_fd, file.name().c_str(), place.directory_fd, link.c_str(), 0) != 0)
      error = errno;
    if (error != 0) break;
  }
  for (int i = 0; i < made; ++i) {
    ::unlinkat(place.directory_fd, place.Name(absl::StrCat("link", i).c_str()).c_str(), 0);
  }
  if (made > 0) {
    result.set_number(static_cast<uint64_t>(made));
    if (error == EMLINK) error = 0;
  }
  return Offered(error, "link", place, result);
}

absl::Status TrySpecialFiles(const TrialPlace& place, v1::TrialResult& result) {
  for (const mode_t type : {S_IFIFO, S_IFSOCK}) {
    const std::string name = place.Name("special");
    const int error = ::mknodat(place.directory_fd, name.c_str(), type | 0600, 0) == 0 ? 0 : errno;
    ::unlinkat(place.directory_fd, name.c_str(), 0);
    IOBENCH_RETURN_IF_ERROR(Offered(error, "mknod", place, result));
    if (error != 0) break;
  }
  return absl::OkStatus();
}

absl::Status TryAttributes(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "attributes"));
  const int error = ::fsetxattr(file.fd(), "user.iobench", "value", 5, 0) == 0 ? 0 : errno;
  IOBENCH_RETURN_IF_ERROR(Offered(error, "setxattr", place, result));
  char kept[8];
  if (error == 0 &&
      (::fgetxattr(file.fd(), "user.iobench", kept, sizeof kept) != 5 || memcmp(kept, "value", 5) != 0)) {
    return absl::DataLossError(absl::StrCat("an attribute of ", file.path(), " is not as it was set"));
  }
  return absl::OkStatus();
}

// The list of <linux/posix_acl_xattr.h>: owner rw, user 61234 r, group r, mask r, others nothing.
std::string PosixAcl() {
  struct Entry {
    uint16_t tag, permissions;
    uint32_t id;
  };
  constexpr uint32_t kVersion = 2, kNobody = UINT32_MAX;
  constexpr std::array kEntries = {Entry{0x01, 6, kNobody}, Entry{0x02, 4, 61234}, Entry{0x04, 4, kNobody},
                                   Entry{0x10, 4, kNobody}, Entry{0x20, 0, kNobody}};
  std::string list(reinterpret_cast<const char*>(&kVersion), sizeof kVersion);
  for (const Entry& entry : kEntries) list.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  return list;
}

absl::Status TryAcl(const TrialPlace& place, v1::TrialResult& result) {
  constexpr char kPosix[] = "system.posix_acl_access", kNfs4[] = "system.nfs4_acl";
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "acl"));
  const std::string list = PosixAcl();
  if (::fsetxattr(file.fd(), kPosix, list.data(), list.size(), 0) == 0) {
    result.set_answer("posix");
    return absl::OkStatus();
  }
  const int refused = errno;
  // Every file of NFSv4 has a list that its mode makes; only one that can be set counts.
  std::string nfs4(4096, '\0');
  const ssize_t bytes = ::fgetxattr(file.fd(), kNfs4, nfs4.data(), nfs4.size());
  if (bytes > 0 && ::fsetxattr(file.fd(), kNfs4, nfs4.data(), static_cast<size_t>(bytes), 0) == 0) {
    result.set_answer("nfs4");
    return absl::OkStatus();
  }
  return Offered(refused, "setxattr", place, result);
}

absl::Status TryUnnamedFile(const TrialPlace& place, v1::TrialResult& result) {
  const UniqueFd fd(::openat(place.directory_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  return Offered(fd.valid() ? 0 : errno, "open", place, result);
}

constexpr size_t kPageBytes = 4096;

absl::Status TryDirect(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "direct"));
  const UniqueFd fd(
      ::openat(place.directory_fd, file.name().c_str(), O_RDWR | O_DIRECT | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return Offered(errno, "open", place, result);
  alignas(kPageBytes) char page[kPageBytes];
  memset(page, 'd', sizeof page);
  if (::pwrite(fd.get(), page, sizeof page, 0) < 0) return Offered(errno, "write", place, result);
  memset(page, 0, sizeof page);
  const ssize_t read = ::pread(fd.get(), page, sizeof page, 0);
  if (read < 0) return Offered(errno, "read", place, result);
  if (std::string(page, sizeof page) != std::string(kPageBytes, 'd')) {
    return absl::DataLossError(absl::StrCat(file.path(), " reads other contents past the cache"));
  }
  return Offered(0, "read", place, result);
}

absl::Status TryMapped(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "mapped"));
  IOBENCH_RETURN_IF_ERROR(file.Write(std::string(kPageBytes, 'x'), 0));
  void* const at = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (at == MAP_FAILED) return Offered(errno, "mmap", place, result);
  memset(at, 'm', kPageBytes);
  const int error = ::msync(at, kPageBytes, MS_SYNC) == 0 ? 0 : errno;
  ::munmap(at, kPageBytes);
  if (error != 0) return file.Failed("msync", error);
  IOBENCH_ASSIGN_OR_RETURN(const std::string read, file.Read(0, kPageBytes));
  if (read != std::string(kPageBytes, 'm')) {
    return absl::DataLossError(
        absl::StrCat(file.path(), " does not have what was written through a mapping"));
  }
  return Offered(0, "mmap", place, result);
}

absl::Status TryDirectoryFlush(const TrialPlace& place, v1::TrialResult& result) {
  return Offered(::fsync(place.directory_fd) == 0 ? 0 : errno, "fsync", place, result);
}

absl::Status TryBirthTime(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile file, TrialFile::New(place, "born"));
  struct statx seen {};
  const int error = ::statx(file.fd(), "", AT_EMPTY_PATH, STATX_BTIME, &seen) == 0 ? 0 : errno;
  IOBENCH_RETURN_IF_ERROR(Offered(error, "statx", place, result));
  if (error == 0 && (seen.stx_mask & STATX_BTIME) == 0) result.set_answer("no");
  return absl::OkStatus();
}

// The errno of a rename with a flag; the files must be there as the flag wants them.
int RenameWith(const TrialPlace& place, const std::string& from, const std::string& to, unsigned flag) {
  return ::renameat2(place.directory_fd, from.c_str(), place.directory_fd, to.c_str(), flag) == 0 ? 0 : errno;
}

absl::Status TryRenameOnlyNew(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile from, TrialFile::New(place, "renamed"));
  const std::string to = place.Name("to-new");
  const int error = RenameWith(place, from.name(), to, RENAME_NOREPLACE);
  ::unlinkat(place.directory_fd, to.c_str(), 0);
  return Offered(error, "renameat2", place, result);
}

absl::Status TryExchange(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile one, TrialFile::New(place, "one"));
  IOBENCH_ASSIGN_OR_RETURN(const TrialFile other, TrialFile::New(place, "other"));
  return Offered(RenameWith(place, one.name(), other.name(), RENAME_EXCHANGE), "renameat2", place, result);
}

}  // namespace

std::span<const Trial> FeatureTrials() {
  static constexpr Trial kTrials[] = {
      {"link", "hard links: yes, no; number: how many were made, at most 16", TryHardLink},
      {"symlink", "symbolic links: yes, no; number: bytes of the longest target, at most 4095",
       TrySymbolicLink},
      {"special_files", "FIFOs and sockets", TrySpecialFiles},
      {"xattr", "extended attributes of users", TryAttributes},
      {"acl", "access control lists: posix, nfs4, no", TryAcl},
      {"tmpfile", "files without a name (O_TMPFILE)", TryUnnamedFile},
      {"direct", "I/O past the cache (O_DIRECT)", TryDirect},
      {"shared_mapping", "files mapped for writing", TryMapped},
      {"directory_fsync", "fsync of a directory", TryDirectoryFlush},
      {"birth_time", "the time at which a file was made", TryBirthTime},
      {"rename_only_new", "a rename that never replaces a file (RENAME_NOREPLACE)", TryRenameOnlyNew},
      {"exchange", "two files exchanged (RENAME_EXCHANGE)", TryExchange},
  };
  return kTrials;
}

}  // namespace iobench
