// Hints for MPI-IO: which there are. MPI ignores those that it does not know, so a misspelt one would go unnoticed.
#ifndef COMMON_MPI_IO_MPI_HINTS_H_
#define COMMON_MPI_IO_MPI_HINTS_H_

#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace iobench {

// Splits "KEY=VALUE". InvalidArgument: it has another form, or no MPI library that we know has this key. The keys are those
// that the MPI standard reserves (MPI 4.0, 14.2.8), those of ROMIO and of Open MPI's OMPIO, and all that begin with the name
// of a vendor or file system (cray_, daos_ …).
absl::StatusOr<std::pair<std::string_view, std::string_view>> ParseMpiHint(std::string_view text);

}  // namespace iobench

#endif  // COMMON_MPI_IO_MPI_HINTS_H_
