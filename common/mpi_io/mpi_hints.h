// Hints for MPI-IO: which there are. MPI ignores those that it does not know, so a misspelt one would go unnoticed, and reads
// "16m" as 16.
#ifndef COMMON_MPI_IO_MPI_HINTS_H_
#define COMMON_MPI_IO_MPI_HINTS_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

// Splits "KEY=VALUE". InvalidArgument: it has another form, no MPI library that we know has this key, or the value is not the
// number that this key has. The keys are those that the MPI standard reserves (MPI 4.0, 14.2.8), those of ROMIO and of Open
// MPI's OMPIO, and all that begin with the name of a vendor or file system (cray_, daos_ …).
absl::StatusOr<std::pair<std::string_view, std::string_view>> ParseMpiHint(std::string_view text);

// InvalidArgument: one of the hints is refused by ParseMpiHint, or two have the same key.
absl::Status CheckMpiHints(std::span<const std::string> hints);

}  // namespace iobench

#endif  // COMMON_MPI_IO_MPI_HINTS_H_
