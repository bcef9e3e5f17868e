#include "common/transport/grpc/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

constexpr char kWhat[] = "token file";

absl::StatusOr<std::string> ReadStandardInput() {
  std::string text;
  std::array<char, 4096> part{};
  while (text.size() <= kMaxTokenFileBytes) {
    const ssize_t got = read(STDIN_FILENO, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus("standard input (--token-file -)", errno);
    if (got == 0) break;
    text.append(part.data(), static_cast<size_t>(got));
  }
  return text;
}

absl::Status CheckMode(const std::string& file, TokenFileUse use) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) return ErrnoStatus(absl::StrCat(kWhat, " ", file), errno);
  // If another user owns the file, this process can read it only through its group (a Kubernetes secret with fsGroup).
  const bool only_owner = use == TokenFileUse::kCoordinator && facts.st_uid == geteuid();
  const mode_t forbidden = only_owner ? S_IRWXG | S_IRWXO : S_IRWXO | S_IWGRP;
  if (!S_ISREG(facts.st_mode) || (facts.st_mode & forbidden) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrFormat(
      "%s %s: others have access to it (mode %04o): use chmod 600", kWhat, file, facts.st_mode & 07777));
}

absl::Status WriteAll(int fd, const std::string& text, const std::string& name) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t moved = write(fd, text.data() + done, text.size() - done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return ErrnoStatus(name, errno);
    done += static_cast<size_t>(moved);
  }
  // A worker on another host must never see half of the file.
  return fsync(fd) == 0 ? absl::OkStatus() : ErrnoStatus(name, errno);
}

}  // namespace

absl::StatusOr<JoinCredentials> ReadTokenFile(const std::string& file, TokenFileUse use) {
  const bool is_input = file == "-";
  std::string text;
  if (is_input) {
    IOBENCH_ASSIGN_OR_RETURN(text, ReadStandardInput());
  } else {
    IOBENCH_RETURN_IF_ERROR(CheckMode(file, use));
    IOBENCH_ASSIGN_OR_RETURN(text, ReadSmallFile(kWhat, file, kMaxTokenFileBytes));
  }
  auto credentials = ParseJoinCredentials(text);
  if (credentials.ok()) return credentials;
  return Annotate(credentials.status(),
                  is_input ? "token on standard input" : absl::StrCat(kWhat, " ", file));
}

absl::Status WriteTokenFile(const std::string& file, const JoinCredentials& credentials) {
  const std::string name = absl::StrCat(kWhat, " ", file);
  const std::string fresh = absl::StrCat(file, ".", getpid());
  UniqueFd fd(open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(name, errno);
  absl::Status status = WriteAll(fd.get(), SerializeJoinCredentials(credentials), name);
  if (close(fd.Release()) != 0 && status.ok()) status = ErrnoStatus(name, errno);
  if (status.ok() && rename(fresh.c_str(), file.c_str()) != 0) status = ErrnoStatus(name, errno);
  if (!status.ok()) unlink(fresh.c_str());
  return status;
}

}  // namespace iobench
