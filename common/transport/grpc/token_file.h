// Token files (--token-file): reading them, and writing the one that a coordinator makes for its workers.
#ifndef COMMON_TRANSPORT_GRPC_TOKEN_FILE_H_
#define COMMON_TRANSPORT_GRPC_TOKEN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/grpc/join_credentials.h"
#include "common/transport/grpc/secret_file.h"

namespace iobench {

// Reads a token file; "-" is standard input, read to its end. NotFound: there is no such file. PermissionDenied: see
// ReadSecretFile. Otherwise see ParseJoinCredentials; every message names the file.
absl::StatusOr<JoinCredentials> ReadTokenFile(const std::string& file, SecretReaders readers);

// Writes or replaces the file in one step, with mode 0600. The error has the errno.
absl::Status WriteTokenFile(const std::string& file, const JoinCredentials& credentials);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_TOKEN_FILE_H_
