// Locates and loads cluster-iobench-mpi.so.
#ifndef COMMON_TRANSPORT_MPI_MPI_LOADER_H_
#define COMMON_TRANSPORT_MPI_MPI_LOADER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/transport/mpi/mpi_bytes.h"

namespace iobench {

// Returns the possible paths of the module for a program in `program_directory`, best first: next to the program (a
// build tree), or in a library directory of the same installation.
std::vector<std::string> MpiModulePlaces(const std::string& program_directory);

// Loads the module from the path in the environment variable CLUSTER_IOBENCH_MPI_MODULE, otherwise from
// MpiModulePlaces(). It is never unloaded, because MPI libraries do not support that. Unavailable: the message says
// what is missing.
absl::StatusOr<const MpiBytes*> LoadMpi();

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_MPI_LOADER_H_
