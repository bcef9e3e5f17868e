#include "coordinator/launch/spawner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "common/process/temporary_directory.h"
#include "common/status_util.h"
#include "coordinator/files/files.h"

namespace iobench {

namespace {

constexpr int kMaxAttempts = 3;
constexpr char kSocketName[] = "coordinator";
constexpr std::string_view kPrefix = "cluster-iobench-";
constexpr size_t kRandomCharacters = 6;  // of MakeTemporaryDirectory

void Remove(const std::string& directory) {
  unlink(absl::StrCat(directory, "/", kSocketName).c_str());
  rmdir(directory.c_str());
}

// Locks the directory; the lock ends with the process that holds it. -1: another process holds it, or locks are not
// available here.
int Lock(const std::string& directory) {
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

// True if our socket is there and no process listens on it any more. A directory without one may belong to anyone.
bool HoldsDeadSocket(const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/", kSocketName);
  struct stat facts {};
  if (lstat(path.c_str(), &facts) != 0 || !S_ISSOCK(facts.st_mode)) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  path.copy(address.sun_path, path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool refused =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 && errno == ECONNREFUSED;
  close(fd);
  return refused;
}

// Removes what killed coordinators have left: our directories that no process has locked and where no process listens.
void RemoveStale(const std::string& parent) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string(), path = entry.path().string();
    struct stat facts {};
    if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + kRandomCharacters ||
        lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || facts.st_uid != geteuid()) {
      continue;
    }
    const int lock = Lock(path);
    if (lock < 0) continue;
    if (HoldsDeadSocket(path)) Remove(path);
    close(lock);
  }
}

}  // namespace

absl::StatusOr<SocketDirectory> SocketDirectory::Make() {
  constexpr size_t kMaxParentBytes = 59;  // a Unix socket's path is limited to 107 characters
  const TemporaryParent parent = TemporaryParentHere(kMaxParentBytes);
  IOBENCH_RETURN_IF_ERROR(files::MountAnswers("the directory for sockets", parent.path));
  RemoveStale(parent.path);
  for (int attempt = 0;; ++attempt) {
    IOBENCH_ASSIGN_OR_RETURN(std::string path, MakeTemporaryDirectory(parent, "cluster-iobench"));
    const int lock = Lock(path);
    struct stat facts {};
    // Another coordinator that is starting may have taken the directory for a stale one and locked or removed it.
    // Without locks this cannot happen.
    const bool ours = lock >= 0 && lstat(path.c_str(), &facts) == 0;
    if (ours || attempt == kMaxAttempts) return SocketDirectory(path, lock);
    if (lock >= 0) close(lock);
    Remove(path);
  }
}

SocketDirectory::~SocketDirectory() {
  if (path_.empty()) return;
  Remove(path_);
  if (lock_ >= 0) close(lock_);
}

absl::StatusOr<Spawner> Spawner::Start(uint32_t count, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"cluster-iobench"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Spawner spawner;
  for (uint32_t i = 0; i < count; ++i) {
    // SIGKILL, because a stopped worker would react to no other signal, and it has nothing to clean up that we do not
    // clean up.
    IOBENCH_RETURN_IF_ERROR(spawner.children_.Start("/proc/self/exe", argv, /*output_fd=*/-1, SIGKILL));
    spawner.ids_.push_back(spawner.children_.IdOf(i));
  }
  return spawner;
}

std::string Spawner::EndingOf(pid_t process) {
  constexpr int kLooks = 20;
  constexpr useconds_t kBetweenLooksUs = 5000;  // a process closes its connection before its parent can reap it
  for (int look = 0; look < kLooks && !endings_.contains(process) && children_.running() > 0; ++look) {
    if (look > 0) usleep(kBetweenLooksUs);
    while (const auto ended = children_.NextEnded()) endings_.emplace(ids_[ended->index], ended->ending);
  }
  const auto found = endings_.find(process);
  if (found == endings_.end()) return "";
  return absl::StrCat("its process ended with ", found->second.Text());
}

absl::Status Spawner::Check() {
  const auto ended = children_.NextEnded();
  if (!ended) return absl::OkStatus();
  endings_.emplace(ids_[ended->index], ended->ending);
  return absl::UnavailableError(
      absl::StrCat("worker process ", ended->index, " ended before it joined: ", ended->ending.Text(),
                   oom_watch_.ReasonText()));
}

}  // namespace iobench
