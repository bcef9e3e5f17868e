// Reads files that must be nobody else's: tokens and private keys.
#ifndef COMMON_TRANSPORT_GRPC_SECRET_FILE_H_
#define COMMON_TRANSPORT_GRPC_SECRET_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/process/secret.h"

namespace iobench {

// Who may read a secret, besides root.
enum class SecretReaders { kOwner, kGroup };

// Returns the whole file. Who owns the opened file and its mode decide, as with keys of OpenSSH: PermissionDenied, with what to
// do: it belongs to another user than this one or root, who could have chosen what it says; others than `readers` can read
// it, or others than its owner can write to it. Otherwise the errors of ReadSmallFile. Every message starts with `what` and
// the file name.
absl::StatusOr<Secret> ReadSecretFile(const std::string& what, const std::string& file, uint64_t max_bytes,
                                      SecretReaders readers);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_SECRET_FILE_H_
