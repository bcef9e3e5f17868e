// --stripe: how Lustre spreads the files of a data directory over its object storage targets, by Lustre's own `lfs`.
#ifndef WORKER_LUSTRE_H_
#define WORKER_LUSTRE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

inline constexpr uint64_t kLustreMagic = 0x0BD00BD0;  // LL_SUPER_MAGIC, as statfs() has it

// What statfs() says of the file system at a path.
using MagicOf = std::function<absl::StatusOr<uint64_t>(const std::string& path)>;
absl::StatusOr<uint64_t> FileSystemMagic(const std::string& path);

// Whether the target can have its stripe set: it is on Lustre, and there is an `lfs` in $PATH. Changes nothing.
// InvalidArgument says what is missing, and where.
absl::Status CheckStripe(const std::string& target, const MagicOf& magic_of = FileSystemMagic);

// Of a directory on Lustre, for the files that are made in it from now on: `lfs setstripe -c COUNT [-S BYTES]`.
// Blocks as it does. Internal: what it said.
absl::Status SetStripe(const std::string& directory, const v1::Stripe& stripe);

}  // namespace iobench

#endif  // WORKER_LUSTRE_H_
