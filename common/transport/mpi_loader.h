// Finds and loads cluster-iobench-mpi.so.
#ifndef COMMON_TRANSPORT_MPI_LOADER_H_
#define COMMON_TRANSPORT_MPI_LOADER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/transport/mpi_bytes.h"

namespace iobench {

// Where the module may be for a program in `program_directory`, best first: beside it (a build tree), or in a library
// directory of the same installation.
std::vector<std::string> MpiModulePlaces(const std::string& program_directory);

// The environment variable CLUSTER_IOBENCH_MPI_MODULE names the file; without it, the places above. Stays loaded for
// good: MPI libraries do not unload. Unavailable says what is missing.
absl::StatusOr<const MpiBytes*> LoadMpi();

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_LOADER_H_
