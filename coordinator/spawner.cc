#include "coordinator/spawner.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {

absl::StatusOr<SocketDirectory> SocketDirectory::Make() {
  const char* temporary = getenv("TMPDIR");
  // A Unix socket's path may have 107 characters: a long TMPDIR is no use.
  std::string pattern =
      temporary != nullptr && *temporary != '\0' && std::string(temporary).size() < 60 ? temporary : "/tmp";
  pattern += "/cluster-iobench-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    return ErrnoStatus(absl::StrCat("cannot make a directory ", pattern), errno);
  return SocketDirectory(pattern);
}

SocketDirectory::~SocketDirectory() {
  if (path_.empty()) return;
  unlink(absl::StrCat(path_, "/coordinator").c_str());
  rmdir(path_.c_str());
}

absl::StatusOr<Spawner> Spawner::Start(uint32_t count, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"cluster-iobench"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Spawner spawner;
  for (uint32_t i = 0; i < count; ++i) {
    IOBENCH_RETURN_IF_ERROR(spawner.children_.Start("/proc/self/exe", argv, /*output_fd=*/-1));
  }
  return spawner;
}

absl::Status Spawner::Check() {
  const auto ended = children_.NextEnded();
  if (!ended) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("worker process ", ended->index, " ended before it had joined: ", ended->ForPeople()));
}

}  // namespace iobench
