// Whose process is at the other end of a Unix socket.
#ifndef COMMON_TRANSPORT_DOOR_UNIX_PEER_H_
#define COMMON_TRANSPORT_DOOR_UNIX_PEER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/unique_fd.h"

namespace iobench {

// Of a process that a Unix socket leads to: kOwnOrRoot is for sockets without a token, where nothing else says who is there.
enum class UnixPeer { kAnybody, kOwnOrRoot };

// `fd`: a connected Unix socket. PermissionDenied: the process at its other end belonged to neither this user nor root when
// it connected or began to listen (SO_PEERCRED).
absl::Status CheckUserOfPeer(int fd);

// PermissionDenied: somebody else than this user and root could replace files in the directory that contains `socket_path`:
// it is theirs, or others can write to it and it is not sticky. NotFound: there is no such directory.
absl::Status CheckDirectoryOfSocket(const std::string& socket_path);

// Connects, without blocking. Unavailable: nobody listens there, or too many connections wait. PermissionDenied, with
// kOwnOrRoot: CheckDirectoryOfSocket, the socket's own file belongs to another user, or CheckUserOfPeer.
absl::StatusOr<UniqueFd> ConnectToUnixSocket(const std::string& socket_path, UnixPeer peer);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_DOOR_UNIX_PEER_H_
