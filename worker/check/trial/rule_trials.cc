// Trials of rules that applications rely on (POSIX.1-2017; docs/validate.md has the list with its sources). The answer
// is "yes": the rule holds, or "no", with what happens instead.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_util.h"
#include "worker/check/trial/scratch.h"
#include "worker/check/trial/trial.h"

namespace iobench {
namespace {

// Empty: the rule holds; otherwise what happens instead.
using Broken = absl::StatusOr<std::string>;

template <Broken (*rule)(const Scratch&)>
absl::Status Try(const TrialPlace& place, v1::TrialResult& result) {
  IOBENCH_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::In(place));
  IOBENCH_ASSIGN_OR_RETURN(const std::string broken, rule(scratch));
  result.set_answer(broken.empty() ? "yes" : "no");
  result.set_detail(broken);
  return absl::OkStatus();
}

// What a call gave that must fail with `due`, or with `other` where POSIX leaves a choice. 0: it succeeded.
std::string Unless(int error, int due, int other = 0) {
  if (error == due || (other != 0 && error == other)) return "";
  return absl::StrCat(error == 0 ? "it succeeds" : ErrnoName(error), " instead of ", ErrnoName(due));
}
int ErrorOf(int returned) {
  return returned == 0 ? 0 : errno;
}
int ErrorOf(const absl::StatusOr<UniqueFd>& opened) {
  return ErrnoOf(opened.status());
}
bool Later(const timespec& after, const timespec& before) {
  return after.tv_sec != before.tv_sec ? after.tv_sec > before.tv_sec : after.tv_nsec > before.tv_nsec;
}
bool Same(const timespec& after, const timespec& before) {
  return after.tv_sec == before.tv_sec && after.tv_nsec == before.tv_nsec;
}

// Opening

Broken OpenExclusive(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "old"));
  return Unless(ErrorOf(at.Open("a", O_RDWR | O_CREAT | O_EXCL)), EEXIST);
}

Broken OpenExclusiveLink(const Scratch& at) {
  if (::symlinkat("nowhere", at.fd(), "a") != 0) return ErrnoStatus("symlink a", errno);
  return Unless(ErrorOf(at.Open("a", O_RDWR | O_CREAT | O_EXCL)), EEXIST);
}

Broken OpenTruncate(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "old"));
  IOBENCH_RETURN_IF_ERROR(at.Open("a", O_WRONLY | O_TRUNC).status());
  IOBENCH_ASSIGN_OR_RETURN(const struct stat seen, at.Look("a"));
  return seen.st_size == 0 ? "" : absl::StrCat("the file still has ", seen.st_size, " bytes");
}

Broken OpenAppend(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "one"));
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, at.Open("a", O_WRONLY | O_APPEND));
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd other, at.Open("a", O_WRONLY | O_APPEND));
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return ErrnoStatus("lseek", errno);
  if (::write(fd.get(), "two", 3) != 3 || ::write(other.get(), "three", 5) != 5) {
    return ErrnoStatus("append to a", errno);
  }
  IOBENCH_ASSIGN_OR_RETURN(const std::string contents, at.Contents("a"));
  return contents == "onetwothree" ? "" : "records do not lie at the end one after the other";
}

Broken OpenNoFollow(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "old"));
  if (::symlinkat("a", at.fd(), "b") != 0) return ErrnoStatus("symlink b", errno);
  return Unless(ErrorOf(at.Open("b", O_RDONLY | O_NOFOLLOW)), ELOOP);
}

Broken OpenDirectory(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "old"));
  return Unless(ErrorOf(at.Open("a", O_RDONLY | O_DIRECTORY)), ENOTDIR);
}

Broken WriteDirectory(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  return Unless(ErrorOf(at.Open("d", O_WRONLY)), EISDIR);
}

// Contents

Broken UnlinkOpen(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "kept"));
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, at.Open("a"));
  if (::unlinkat(at.fd(), "a", 0) != 0) return ErrnoStatus("unlink a", errno);
  if (at.Has("a")) return "the name is still there";
  char bytes[5] = {};
  if (::pwrite(fd.get(), "K", 1, 0) != 1 || ::pread(fd.get(), bytes, 4, 0) != 4) {
    return absl::StrCat("the open file gives ", ErrnoName(errno));
  }
  return std::string(bytes) == "Kept" ? "" : "the open file has lost its contents";
}

Broken WriteBeyondEnd(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "abc"));
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, at.Open("a"));
  if (::pwrite(fd.get(), "z", 1, 9) != 1) return ErrnoStatus("write a", errno);
  IOBENCH_ASSIGN_OR_RETURN(const std::string contents, at.Contents("a"));
  return contents == absl::StrCat("abc", std::string(6, '\0'), "z") ? "" : "the gap is not zeros";
}

Broken TruncateExtends(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "abcdef"));
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, at.Open("a"));
  if (::ftruncate(fd.get(), 2) != 0 || ::ftruncate(fd.get(), 6) != 0) return ErrnoStatus("truncate a", errno);
  IOBENCH_ASSIGN_OR_RETURN(const std::string contents, at.Contents("a"));
  return contents == absl::StrCat("ab", std::string(4, '\0')) ? "" : "what was cut off comes back";
}

// Times

Broken WriteTimes(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "old"));
  IOBENCH_ASSIGN_OR_RETURN(const struct stat before, at.Look("a"));
  IOBENCH_RETURN_IF_ERROR(at.NextTimestamp());
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "new"));
  IOBENCH_ASSIGN_OR_RETURN(const struct stat after, at.Look("a"));
  if (!Later(after.st_mtim, before.st_mtim)) return "mtime stays";
  return Later(after.st_ctim, before.st_ctim) ? "" : "ctime stays";
}

Broken ModeTimes(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "old"));
  IOBENCH_ASSIGN_OR_RETURN(const struct stat before, at.Look("a"));
  IOBENCH_RETURN_IF_ERROR(at.NextTimestamp());
  if (::fchmodat(at.fd(), "a", before.st_mode & 0555, 0) != 0) return ErrnoStatus("chmod a", errno);
  IOBENCH_ASSIGN_OR_RETURN(const struct stat after, at.Look("a"));
  return Same(after.st_mtim, before.st_mtim) ? "" : "mtime moves";
}

Broken ReadTimes(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "old"));
  IOBENCH_ASSIGN_OR_RETURN(const struct stat before, at.Look("a"));
  IOBENCH_RETURN_IF_ERROR(at.NextTimestamp());
  IOBENCH_RETURN_IF_ERROR(at.Contents("a").status());
  IOBENCH_ASSIGN_OR_RETURN(const struct stat after, at.Look("a"));
  if (!Same(after.st_mtim, before.st_mtim)) return "mtime moves";
  return Same(after.st_ctim, before.st_ctim) ? "" : "ctime moves";
}

Broken SetTimes(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "old"));
  // A whole day for atime and an even second for mtime, which even vfat can keep. What is kept of others is a fact.
  const timespec times[2] = {{.tv_sec = 12'000 * 86'400, .tv_nsec = 0},
                             {.tv_sec = 1'100'000'000, .tv_nsec = 0}};
  if (::utimensat(at.fd(), "a", times, 0) != 0) return ErrnoStatus("utimensat a", errno);
  IOBENCH_ASSIGN_OR_RETURN(const struct stat seen, at.Look("a"));
  return Same(seen.st_atim, times[0]) && Same(seen.st_mtim, times[1])
             ? ""
             : "the times that were set are not kept";
}

Broken TruncateTimes(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "old"));
  IOBENCH_ASSIGN_OR_RETURN(const struct stat before, at.Look("a"));
  IOBENCH_RETURN_IF_ERROR(at.NextTimestamp());
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, at.Open("a"));
  if (::ftruncate(fd.get(), 1) != 0) return ErrnoStatus("truncate a", errno);
  IOBENCH_ASSIGN_OR_RETURN(const struct stat after, at.Look("a"));
  if (!Later(after.st_mtim, before.st_mtim)) return "mtime stays";
  return Later(after.st_ctim, before.st_ctim) ? "" : "ctime stays";
}

Broken LinkTimes(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "old"));
  IOBENCH_ASSIGN_OR_RETURN(const struct stat before, at.Look("a"));
  IOBENCH_RETURN_IF_ERROR(at.NextTimestamp());
  if (::linkat(at.fd(), "a", at.fd(), "b", 0) != 0) return ErrnoStatus("link a", errno);
  IOBENCH_ASSIGN_OR_RETURN(const struct stat after, at.Look("a"));
  if (!Same(after.st_mtim, before.st_mtim)) return "mtime moves";
  return Later(after.st_ctim, before.st_ctim) ? "" : "ctime stays";
}

// A change of names in d moves its mtime and ctime.
Broken DirectoryTimes(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  IOBENCH_RETURN_IF_ERROR(at.Write("outside", "x"));
  const char* const steps[] = {"creating", "renaming", "removing", "mkdir"};
  for (int step = 0; step < 4; ++step) {
    IOBENCH_ASSIGN_OR_RETURN(const struct stat before, at.Look("d"));
    IOBENCH_RETURN_IF_ERROR(at.NextTimestamp());
    const absl::Status done =
        step == 0   ? at.Write("d/a", "x")
        : step == 1 ? ErrnoStatus("rename d/a", ErrorOf(::renameat(at.fd(), "d/a", at.fd(), "d/b")))
        : step == 2 ? ErrnoStatus("unlink d/b", ErrorOf(::unlinkat(at.fd(), "d/b", 0)))
                    : at.MakeDirectory("d/e");
    if (ErrnoOf(done) != 0) return done;
    IOBENCH_ASSIGN_OR_RETURN(const struct stat after, at.Look("d"));
    if (!Later(after.st_mtim, before.st_mtim))
      return absl::StrCat(steps[step], " in a directory leaves its mtime");
    if (!Later(after.st_ctim, before.st_ctim))
      return absl::StrCat(steps[step], " in a directory leaves its ctime");
  }
  return "";
}

// Renaming

int Rename(const Scratch& at, const char* from, const char* to) {
  return ErrorOf(::renameat(at.fd(), from, at.fd(), to));
}

Broken RenameOverFile(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "new"));
  IOBENCH_RETURN_IF_ERROR(at.Write("b", "old"));
  IOBENCH_ASSIGN_OR_RETURN(const struct stat moved, at.Look("a"));
  if (const int error = Rename(at, "a", "b"); error != 0) return ErrnoStatus("rename a", error);
  if (at.Has("a")) return "the old name is still there";
  IOBENCH_ASSIGN_OR_RETURN(const struct stat seen, at.Look("b"));
  IOBENCH_ASSIGN_OR_RETURN(const std::string contents, at.Contents("b"));
  if (seen.st_ino != moved.st_ino) return "the file gets another number";
  return contents == "new" ? "" : "the name has the old contents";
}

Broken RenameOverOwnLink(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "one"));
  if (::linkat(at.fd(), "a", at.fd(), "b", 0) != 0) return ErrnoStatus("link a", errno);
  if (const int error = Rename(at, "a", "b"); error != 0)
    return absl::StrCat(ErrnoName(error), " instead of success");
  return at.Has("a") && at.Has("b") ? "" : "one of the two names of the file goes";
}

Broken RenameOverEmpty(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  IOBENCH_RETURN_IF_ERROR(at.Write("d/a", "x"));
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("e"));
  if (const int error = Rename(at, "d", "e"); error != 0)
    return absl::StrCat(ErrnoName(error), " instead of success");
  return at.Has("e/a") && !at.Has("d") ? "" : "the directory does not replace the empty one";
}

Broken RenameOverFull(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("e"));
  IOBENCH_RETURN_IF_ERROR(at.Write("e/a", "x"));
  return Unless(Rename(at, "d", "e"), ENOTEMPTY, EEXIST);
}

Broken RenameFileOverDirectory(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "x"));
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  return Unless(Rename(at, "a", "d"), EISDIR);
}

Broken RenameDirectoryOverFile(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "x"));
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  return Unless(Rename(at, "d", "a"), ENOTDIR);
}

Broken RenameIntoItself(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d/e"));
  return Unless(Rename(at, "d", "d/e/f"), EINVAL);
}

Broken RenameMissing(const Scratch& at) {
  return Unless(Rename(at, "a", "b"), ENOENT);
}

// With an open file: O_DIRECT and fsync reach the server, where the file may no longer be found under its handle.
Broken RenameAcross(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("e"));
  IOBENCH_RETURN_IF_ERROR(at.Write("d/a", "one"));
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, at.Open("d/a"));
  if (const int error = Rename(at, "d/a", "e/a"); error != 0)
    return absl::StrCat("rename fails: ", ErrnoName(error));
  if (::pwrite(fd.get(), "ONE", 3, 0) != 3 || ::fsync(fd.get()) != 0) {
    return absl::StrCat("writing to the open file fails: ", ErrnoName(errno));
  }
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  char bytes[4] = {};
  if (::pread(fd.get(), bytes, 3, 0) != 3)
    return absl::StrCat("reading the open file fails: ", ErrnoName(errno));
  IOBENCH_ASSIGN_OR_RETURN(const std::string contents, at.Contents("e/a"));
  return contents == "ONE" && std::string(bytes) == "ONE" ? "" : "what was written is missing";
}

Broken RenameInside(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  IOBENCH_RETURN_IF_ERROR(at.Write("d/a", "one"));
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd inside, at.Open("d", O_RDONLY | O_DIRECTORY));
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd file, at.Open("d/a"));
  if (const int error = Rename(at, "d", "e"); error != 0)
    return absl::StrCat("rename fails: ", ErrnoName(error));
  const UniqueFd made(::openat(inside.get(), "b", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!made.valid()) return absl::StrCat("creating a file inside fails: ", ErrnoName(errno));
  if (::pwrite(file.get(), "ONE", 3, 0) != 3 || ::fsync(file.get()) != 0) {
    return absl::StrCat("writing to an open file inside fails: ", ErrnoName(errno));
  }
  return at.Has("e/b") && at.Has("e/a") && !at.Has("d") ? "" : "files inside are not under the new name";
}

// Links and removal

Broken LinkCount(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "x"));
  const auto count = [&at](const char* name) -> absl::StatusOr<uint64_t> {
    IOBENCH_ASSIGN_OR_RETURN(const struct stat seen, at.Look(name));
    return seen.st_nlink;
  };
  if (::linkat(at.fd(), "a", at.fd(), "b", 0) != 0) return ErrnoStatus("link a", errno);
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t linked, count("b"));
  if (linked != 2) return absl::StrCat(linked, " links instead of 2 after link");
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, at.Open("b"));
  if (::unlinkat(at.fd(), "a", 0) != 0) return ErrnoStatus("unlink a", errno);
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t left, count("b"));
  return left == 1 ? "" : absl::StrCat(left, " links instead of 1 after unlink");
}

Broken LinkExisting(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "x"));
  IOBENCH_RETURN_IF_ERROR(at.Write("b", "x"));
  return Unless(ErrorOf(::linkat(at.fd(), "a", at.fd(), "b", 0)), EEXIST);
}

Broken RemoveFull(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  IOBENCH_RETURN_IF_ERROR(at.Write("d/a", "x"));
  return Unless(ErrorOf(::unlinkat(at.fd(), "d", AT_REMOVEDIR)), ENOTEMPTY, EEXIST);
}

Broken UnlinkDirectory(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.MakeDirectory("d"));
  return Unless(ErrorOf(::unlinkat(at.fd(), "d", 0)), EISDIR, EPERM);
}

Broken RemoveFileAsDirectory(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "x"));
  return Unless(ErrorOf(::unlinkat(at.fd(), "a", AT_REMOVEDIR)), ENOTDIR);
}

// Names and modes

Broken NameTooLong(const Scratch& at) {
  return Unless(ErrorOf(at.Open(std::string(256, 'x').c_str(), O_RDWR | O_CREAT)), ENAMETOOLONG);
}

Broken LinkLoop(const Scratch& at) {
  if (::symlinkat("b", at.fd(), "a") != 0 || ::symlinkat("a", at.fd(), "b") != 0)
    return ErrnoStatus("symlink", errno);
  return Unless(ErrorOf(at.Open("a", O_RDONLY)), ELOOP);
}

Broken ThroughFile(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "x"));
  return Unless(ErrorOf(at.Open("a/b", O_RDWR | O_CREAT)), ENOTDIR);
}

Broken MakeExisting(const Scratch& at) {
  IOBENCH_RETURN_IF_ERROR(at.Write("a", "x"));
  return Unless(ErrorOf(::mkdirat(at.fd(), "a", 0755)), EEXIST);
}

constexpr Trial kRuleTrials[] = {
    {"open-exclusive", "O_EXCL refuses an existing file", Try<OpenExclusive>},
    {"open-exclusive-link", "O_EXCL refuses a symbolic link to nowhere", Try<OpenExclusiveLink>},
    {"open-truncate", "O_TRUNC empties the file", Try<OpenTruncate>},
    {"open-append", "O_APPEND writes at the end, wherever the position is", Try<OpenAppend>},
    {"open-nofollow", "O_NOFOLLOW refuses a symbolic link", Try<OpenNoFollow>},
    {"open-directory", "O_DIRECTORY refuses a file", Try<OpenDirectory>},
    {"write-directory", "a directory cannot be opened for writing", Try<WriteDirectory>},
    {"unlink-open", "a file removed while open can be read and written", Try<UnlinkOpen>},
    {"write-beyond-end", "a write beyond the end leaves zeros before it", Try<WriteBeyondEnd>},
    {"truncate-extends", "truncate cuts off, and extends with zeros", Try<TruncateExtends>},
    {"write-times", "a write moves mtime and ctime", Try<WriteTimes>},
    {"truncate-times", "truncate moves mtime and ctime", Try<TruncateTimes>},
    {"chmod-times", "chmod leaves mtime", Try<ModeTimes>},
    {"link-times", "link moves ctime and leaves mtime", Try<LinkTimes>},
    {"read-times", "a read leaves mtime and ctime", Try<ReadTimes>},
    {"set-times", "times that are set are kept", Try<SetTimes>},
    {"directory-times", "creating, renaming and removing names moves the directory's mtime and ctime",
     Try<DirectoryTimes>},
    {"rename-over-file", "rename replaces a file", Try<RenameOverFile>},
    {"rename-over-own-link", "rename onto another name of the same file does nothing",
     Try<RenameOverOwnLink>},
    {"rename-over-empty", "rename replaces an empty directory", Try<RenameOverEmpty>},
    {"rename-over-full", "rename does not replace a directory with files", Try<RenameOverFull>},
    {"rename-file-over-directory", "a file does not replace a directory", Try<RenameFileOverDirectory>},
    {"rename-directory-over-file", "a directory does not replace a file", Try<RenameDirectoryOverFile>},
    {"rename-into-itself", "a directory cannot be moved into itself", Try<RenameIntoItself>},
    {"rename-missing", "rename of a missing name fails", Try<RenameMissing>},
    {"rename-across", "an open file stays usable when it is moved to another directory", Try<RenameAcross>},
    {"rename-inside", "open files and directories stay usable when their directory is renamed",
     Try<RenameInside>},
    {"link-count", "the number of links is right", Try<LinkCount>},
    {"link-existing", "link does not replace a file", Try<LinkExisting>},
    {"rmdir-full", "rmdir refuses a directory with files", Try<RemoveFull>},
    {"unlink-directory", "unlink refuses a directory", Try<UnlinkDirectory>},
    {"rmdir-file", "rmdir refuses a file", Try<RemoveFileAsDirectory>},
    {"name-too-long", "a name of 256 bytes is refused", Try<NameTooLong>},
    {"link-loop", "symbolic links in a circle are refused", Try<LinkLoop>},
    {"through-file", "a file is no directory on the way", Try<ThroughFile>},
    {"make-existing", "mkdir refuses an existing name", Try<MakeExisting>},
};

}  // namespace

std::span<const Trial> RuleTrials() {
  return kRuleTrials;
}

}  // namespace iobench
