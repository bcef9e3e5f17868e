// Whether an MPI launcher started this process. Read from the environment, without an MPI library.
#ifndef COMMON_TRANSPORT_MPI_LAUNCH_H_
#define COMMON_TRANSPORT_MPI_LAUNCH_H_

#include <string>

namespace iobench {

struct MpiLaunch {
  bool launched = false;
  int promised_ranks = 0;  // 0: the launcher does not say
  int promised_rank = -1;  // ours; -1: the launcher does not say
  std::string launcher;    // for people: "Open MPI's mpirun"
};

// OMPI_COMM_WORLD_SIZE, PMIX_RANK or PMI_SIZE says so. Never SLURM_PROCID alone: it is set in batch scripts too.
MpiLaunch LauncherPromises();

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_LAUNCH_H_
