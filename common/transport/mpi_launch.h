// Detects whether an MPI launcher started this process, using only the environment; no MPI library is needed.
#ifndef COMMON_TRANSPORT_MPI_LAUNCH_H_
#define COMMON_TRANSPORT_MPI_LAUNCH_H_

#include <string>

namespace iobench {

// What the environment says. It only promises ranks: MPI itself sees one rank if the launcher belongs to another MPI
// (see MpiSession::Start).
struct MpiLaunch {
  bool launched = false;
  int promised_ranks = 0;  // 0: unknown
  // The rank of this process; -1: unknown. It is known before MPI is initialised, so that a single rank can print
  // messages.
  int promised_rank = -1;
  std::string launcher;  // display name, such as "Open MPI's mpirun"
};

// Checks OMPI_COMM_WORLD_SIZE, PMIX_RANK and PMI_SIZE. SLURM_PROCID alone does not count, since batch scripts have it
// too.
MpiLaunch LauncherPromises();

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_LAUNCH_H_
