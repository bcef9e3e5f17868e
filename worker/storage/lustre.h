// Lustre striping (--stripe): sets how files of a data directory are striped over object storage targets, using
// Lustre's `lfs`.
#ifndef WORKER_STORAGE_LUSTRE_H_
#define WORKER_STORAGE_LUSTRE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

inline constexpr uint64_t kLustreMagic = 0x0BD00BD0;  // LL_SUPER_MAGIC in statfs()

// Returns the file system's magic number from statfs() of `path`.
using MagicOf = std::function<absl::StatusOr<uint64_t>(const std::string& path)>;
absl::StatusOr<uint64_t> FileSystemMagic(const std::string& path);

// Checks that the target is on Lustre and that `lfs` is in $PATH; changes nothing. InvalidArgument: the message says
// what is missing and where.
absl::Status CheckStripe(const std::string& target, const MagicOf& magic_of = FileSystemMagic);

// Sets the striping of files that are created in the directory from now on, with `lfs setstripe -c COUNT [-S BYTES]`.
// Blocks until it exits. Internal: it failed; the message has its output.
absl::Status SetStripe(const std::string& directory, const v1::Stripe& stripe);

}  // namespace iobench

#endif  // WORKER_STORAGE_LUSTRE_H_
