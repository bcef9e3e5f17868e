// Token files (--token-file): reading them, and writing the one that a coordinator makes for its workers.
#ifndef COMMON_TRANSPORT_GRPC_TOKEN_FILE_H_
#define COMMON_TRANSPORT_GRPC_TOKEN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/grpc/join_credentials.h"

namespace iobench {

// Decides who else may read the file: a coordinator's own file belongs to one user; a worker's, or one that another
// user gives to the coordinator, is often readable by a group.
enum class TokenFileUse { kCoordinator, kWorker };

// Reads a token file; "-" is standard input, read to its end. NotFound: there is no such file. PermissionDenied: others
// than its user (kWorker: than its user and group) have access to it. Otherwise see ParseJoinCredentials; every message
// names the file.
absl::StatusOr<JoinCredentials> ReadTokenFile(const std::string& file, TokenFileUse use);

// Writes or replaces the file in one step, with mode 0600. The error has the errno.
absl::Status WriteTokenFile(const std::string& file, const JoinCredentials& credentials);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_TOKEN_FILE_H_
