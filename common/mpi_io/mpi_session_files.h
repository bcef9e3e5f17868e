// How this process reaches MPI-IO, if it is a rank.
#ifndef COMMON_MPI_IO_MPI_SESSION_FILES_H_
#define COMMON_MPI_IO_MPI_SESSION_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "common/mpi_io/mpi_files.h"

namespace iobench {

// Called once, by the MPI session when it has started, before any lane runs. `files` null: MPI cannot be called by several
// threads here, for the reason in `why_not`, which is for the user.
void SetMpiFiles(const MpiFiles* files, std::string library, std::string why_not);

// FailedPrecondition: this process is no rank, or its MPI cannot be called by lanes; the message says what to do.
absl::Status CheckMpiFiles();

// REQUIRES: CheckMpiFiles() is OK.
const MpiFiles& TheMpiFiles();

// Such as "Open MPI v4.1.4". REQUIRES: as above.
const std::string& MpiLibraryName();

}  // namespace iobench

#endif  // COMMON_MPI_IO_MPI_SESSION_FILES_H_
