#include "common/transport/mpi_launch.h"

#include <cstdlib>
#include <initializer_list>

#include "absl/strings/numbers.h"

namespace iobench {
namespace {

// Returns the value of the first variable that contains a number, or `otherwise`.
int NumberIn(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* variable : variables) {
    const char* text = std::getenv(variable);
    int number = 0;
    if (text != nullptr && absl::SimpleAtoi(text, &number)) return number;
  }
  return otherwise;
}

}  // namespace

MpiLaunch LauncherPromises() {
  MpiLaunch launch;
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) {
    launch.launcher = "Open MPI's mpirun";
    launch.promised_ranks = NumberIn({"OMPI_COMM_WORLD_SIZE"}, 0);
    launch.promised_rank = NumberIn({"OMPI_COMM_WORLD_RANK"}, -1);
  } else if (std::getenv("PMI_SIZE") != nullptr) {
    launch.launcher = "MPICH's mpiexec (Hydra), Intel MPI's mpirun or Slurm's srun over PMI";
    launch.promised_ranks = NumberIn({"PMI_SIZE"}, 0);
    launch.promised_rank = NumberIn({"PMI_RANK"}, -1);
  } else if (std::getenv("PMIX_RANK") != nullptr) {
    // PMIx does not reveal the size; under Slurm, the step's size is available too.
    launch.launcher = "a PMIx launcher (prterun, or srun --mpi=pmix)";
    launch.promised_ranks = NumberIn({"SLURM_STEP_NUM_TASKS"}, 0);
    launch.promised_rank = NumberIn({"PMIX_RANK"}, -1);
  }
  launch.launched = !launch.launcher.empty();
  return launch;
}

}  // namespace iobench
