// Reads a file in parts, for digests.
#ifndef COMMON_DIGEST_FILE_PARTS_H_
#define COMMON_DIGEST_FILE_PARTS_H_

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace iobench {

// Calls `take` with one part of the file after the other, so the file may have any size. Errors name it (ErrnoStatus).
absl::Status ReadInParts(const std::string& path, absl::FunctionRef<void(std::string_view part)> take);

}  // namespace iobench

#endif  // COMMON_DIGEST_FILE_PARTS_H_
