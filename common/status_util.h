// Helpers for absl::Status. A message tells the user which client, file and errno are involved, and what to do.
#ifndef COMMON_STATUS_UTIL_H_
#define COMMON_STATUS_UTIL_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the status "CONTEXT: strerror (ENAME)". Codes: ENOENT: NotFound; EACCES, EPERM: PermissionDenied; ENOSPC,
// EDQUOT: ResourceExhausted; EEXIST: AlreadyExists; EINVAL: InvalidArgument; all others: Internal. A payload keeps the
// errno itself, see ErrnoOf.
absl::Status ErrnoStatus(std::string_view context, int errno_value);
int ErrnoOf(const absl::Status& status);  // 0: the status has no errno
std::string ErrnoName(int errno_value);   // "ENOSPC"; "errno 4711" if unknown

// Puts "CONTEXT: " before the message and keeps code and payloads. OK stays OK.
absl::Status Annotate(const absl::Status& status, std::string_view context);

v1::Problem ToProblem(const absl::Status& status);
absl::Status ToStatus(const v1::Problem& problem);  // OK if the code is 0

}  // namespace iobench

#define IOBENCH_RETURN_IF_ERROR(expression)                                                      \
  do {                                                                                           \
    if (absl::Status iobench_status = (expression); !iobench_status.ok()) return iobench_status; \
  } while (false)

#define IOBENCH_CONCAT_INNER(a, b) a##b
#define IOBENCH_CONCAT(a, b) IOBENCH_CONCAT_INNER(a, b)
// Example: IOBENCH_ASSIGN_OR_RETURN(auto file, OpenFile(path));
#define IOBENCH_ASSIGN_OR_RETURN(declaration, expression)        \
  auto IOBENCH_CONCAT(iobench_result_, __LINE__) = (expression); \
  if (!IOBENCH_CONCAT(iobench_result_, __LINE__).ok())           \
    return IOBENCH_CONCAT(iobench_result_, __LINE__).status();   \
  declaration = *std::move(IOBENCH_CONCAT(iobench_result_, __LINE__))

#endif  // COMMON_STATUS_UTIL_H_
