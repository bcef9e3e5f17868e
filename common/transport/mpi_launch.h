// Detects what launcher started this process, with MPI or without, using only the environment; no MPI library is needed.
#ifndef COMMON_TRANSPORT_MPI_LAUNCH_H_
#define COMMON_TRANSPORT_MPI_LAUNCH_H_

#include <optional>
#include <string>

#include "absl/status/status.h"

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

// One of several tasks that a batch system's launcher started without MPI: srun without --mpi, flux, jsrun, PALS. A
// coordinator in each of them would be a benchmark of its own.
struct SeparateTask {
  bool speaks = false;   // whether this task is the one that prints the refusal, as far as that can be known
  absl::Status refusal;  // InvalidArgument: why no coordinator may start here, and how to launch it instead
};

// nullopt: an MPI launcher started this process (LauncherPromises), or it is the only task. Only variables of a single
// launch count (SLURM_STEP_NUM_TASKS, FLUX_JOB_SIZE, JSM_NAMESPACE_SIZE, PALS_RANKID), which batch scripts do not have.
std::optional<SeparateTask> SeparateTaskHere();

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_LAUNCH_H_
