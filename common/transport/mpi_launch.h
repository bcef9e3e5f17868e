// Detects whether an MPI launcher started this process, using only the environment; no MPI library is needed.
#ifndef COMMON_TRANSPORT_MPI_LAUNCH_H_
#define COMMON_TRANSPORT_MPI_LAUNCH_H_

#include <string>

namespace iobench {

struct MpiLaunch {
  bool launched = false;
  int promised_ranks = 0;  // 0: unknown
  int promised_rank = -1;  // rank of this process; -1: unknown
  std::string launcher;    // display name, such as "Open MPI's mpirun"
};

// Checks OMPI_COMM_WORLD_SIZE, PMIX_RANK and PMI_SIZE. SLURM_PROCID alone does not count, since batch scripts have it
// too.
MpiLaunch LauncherPromises();

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_LAUNCH_H_
