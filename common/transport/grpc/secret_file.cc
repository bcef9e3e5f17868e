#include "common/transport/grpc/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

absl::Status CheckOwnerAndMode(const std::string& name, const struct stat& facts, SecretReaders readers) {
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0) {
    return absl::PermissionDeniedError(absl::StrCat(name, ": it belongs to user ", facts.st_uid, ", and this is user ", ::geteuid(),
                                                    ": use a file of your own or of root"));
  }
  const mode_t mode = facts.st_mode & 07777;
  const mode_t too_much = mode & (S_IRWXG | S_IRWXO) & ~(readers == SecretReaders::kGroup ? S_IRGRP : mode_t{0});
  if (too_much == 0) return absl::OkStatus();
  const bool only_group = too_much == S_IRGRP;
  return absl::PermissionDeniedError(absl::StrFormat(
      "%s: %s (mode %04o): use chmod 600%s", name, only_group ? "its group can read it" : "others have access to it", mode,
      only_group ? ", or --token-group if the group may" : ""));
}

}  // namespace

absl::StatusOr<Secret> ReadSecretFile(const std::string& what, const std::string& file, uint64_t max_bytes,
                                      SecretReaders readers) {
  const std::string name = absl::StrCat(what, " ", file);
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(name, errno);
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return ErrnoStatus(name, errno);
  if (S_ISREG(facts.st_mode)) IOBENCH_RETURN_IF_ERROR(CheckOwnerAndMode(name, facts, readers));
  return ReadSmallFile(name, fd.get(), max_bytes);
}

}  // namespace iobench
