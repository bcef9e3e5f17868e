#include "common/transport/door/unix_peer.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr char kAdvice[] =
    ": use a directory and processes of one user, or give both ends a --token-file, which proves who they are";

bool IsOwnOrRoot(uid_t user) {
  return user == ::geteuid() || user == 0;
}

absl::Status OfAnotherUser(const std::string& what, uid_t user) {
  return absl::PermissionDeniedError(
      absl::StrCat(what, " belongs to user ", user, ", and this is user ", ::geteuid(), kAdvice));
}

}  // namespace

absl::Status CheckUserOfPeer(int fd) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return ErrnoStatus("SO_PEERCRED", errno);
  if (IsOwnOrRoot(peer.uid)) return absl::OkStatus();
  return OfAnotherUser(absl::StrCat("the process there (", peer.pid, ")"), peer.uid);
}

absl::Status CheckDirectoryOfSocket(const std::string& socket_path) {
  const size_t slash = socket_path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : slash == 0 ? "/" : socket_path.substr(0, slash);
  struct stat facts {};
  if (::stat(directory.c_str(), &facts) != 0) return ErrnoStatus(directory, errno);
  if (!IsOwnOrRoot(facts.st_uid)) return OfAnotherUser(directory, facts.st_uid);
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (facts.st_mode & S_ISVTX) != 0) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("others can replace what is in ", directory, kAdvice));
}

absl::StatusOr<UniqueFd> ConnectToUnixSocket(const std::string& socket_path, UnixPeer peer) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  socket_path.copy(name.sun_path, sizeof name.sun_path - 1);
  if (peer == UnixPeer::kOwnOrRoot) {
    struct stat facts {};
    if (::lstat(name.sun_path, &facts) != 0) return absl::UnavailableError(ErrnoStatus("no socket there", errno).message());
    if (!S_ISSOCK(facts.st_mode)) return absl::UnavailableError("what is there is not a socket");
    if (!IsOwnOrRoot(facts.st_uid)) return OfAnotherUser(socket_path, facts.st_uid);
    IOBENCH_RETURN_IF_ERROR(CheckDirectoryOfSocket(socket_path));
  }
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return ErrnoStatus("socket", errno);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    return absl::UnavailableError(errno == ECONNREFUSED ? "connection refused: nothing listens there"
                                                        : std::string(ErrnoStatus("connect", errno).message()));
  }
  // The socket's file may have been replaced since it was looked at; the process that answers cannot.
  if (peer == UnixPeer::kOwnOrRoot) IOBENCH_RETURN_IF_ERROR(CheckUserOfPeer(socket.get()));
  return socket;
}

}  // namespace iobench
