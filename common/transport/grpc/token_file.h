// Token files (--token-file): reading them, and writing the one that a coordinator makes for its workers.
#ifndef COMMON_TRANSPORT_GRPC_TOKEN_FILE_H_
#define COMMON_TRANSPORT_GRPC_TOKEN_FILE_H_

#include <atomic>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/grpc/join_credentials.h"
#include "common/transport/grpc/secret_file.h"
#include "common/unique_fd.h"

namespace iobench {

// Reads a token file. NotFound: there is no such file. PermissionDenied: see ReadSecretFile. Otherwise see
// ParseJoinCredentials; every message names the file.
absl::StatusOr<JoinCredentials> ReadTokenFile(const std::string& file, SecretReaders readers);

// Reads standard input, to its end, as a token file (--token-file -). InvalidArgument: see ParseJoinCredentials, or it is
// empty or does not end within this time, as if a remote shell does not pass it on. Cancelled: `stop` became true.
absl::StatusOr<JoinCredentials> ReadTokenInput(double within_s, const std::atomic<bool>& stop);
// Returns a memory file with the credentials, to become the standard input of a worker.
absl::StatusOr<UniqueFd> TokenInput(const JoinCredentials& credentials);

// Writes or replaces the file in one step, with mode 0600. The error has the errno.
absl::Status WriteTokenFile(const std::string& file, const JoinCredentials& credentials);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_TOKEN_FILE_H_
