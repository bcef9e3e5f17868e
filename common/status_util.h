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
// errno itself, see ErrnoOf. For EMFILE, the message adds the limit of open files and what to do. Thread-safe, unlike
// strerror.
absl::Status ErrnoStatus(std::string_view context, int errno_value);
// Returns the errno in the payload, which survives Annotate and the transfer from a worker to the coordinator. 0: there
// is none.
int ErrnoOf(const absl::Status& status);
// Returns the symbolic name, "ENOSPC", or "errno 4711" if there is none.
std::string ErrnoName(int errno_value);
// Whether the errno says, whatever was called, that a file system does not have the call. Others say so for some calls
// only: EINVAL, ENODEV, EISDIR.
bool IsNotOffered(int errno_value);

// Puts "CONTEXT: " before the message and keeps code and payloads. OK stays OK.
absl::Status Annotate(const absl::Status& status, std::string_view context);

// Convert between a status and the message that travels to the coordinator: code, text and errno are kept, other
// payloads are not. Bytes that are not UTF-8 become '?', because one of them would make the whole message unreadable.
v1::Problem ToProblem(const absl::Status& status);
absl::Status ToStatus(const v1::Problem& problem);

}  // namespace iobench

// Returns from the calling function with the status of the expression unless it is OK. For functions that return
// absl::Status or StatusOr.
#define IOBENCH_RETURN_IF_ERROR(expression)                                                      \
  do {                                                                                           \
    if (absl::Status iobench_status = (expression); !iobench_status.ok()) return iobench_status; \
  } while (false)

#define IOBENCH_CONCAT_INNER(a, b) a##b
#define IOBENCH_CONCAT(a, b) IOBENCH_CONCAT_INNER(a, b)
// Moves the value out of a StatusOr into the declaration, or returns its status from the calling function. It expands
// to several statements, so it cannot be the body of an `if` without braces, and a line may contain only one.
// Example: IOBENCH_ASSIGN_OR_RETURN(auto file, OpenFile(path));
#define IOBENCH_ASSIGN_OR_RETURN(declaration, expression)        \
  auto IOBENCH_CONCAT(iobench_result_, __LINE__) = (expression); \
  if (!IOBENCH_CONCAT(iobench_result_, __LINE__).ok())           \
    return IOBENCH_CONCAT(iobench_result_, __LINE__).status();   \
  declaration = *std::move(IOBENCH_CONCAT(iobench_result_, __LINE__))

#endif  // COMMON_STATUS_UTIL_H_
