#include "common/transport/mpi_launch.h"

#include <cstdlib>
#include <initializer_list>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

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

// A launcher that starts tasks with MPI or without.
struct TaskLauncher {
  const char* name;
  const char* count;  // the variable that has the number of tasks
  const char* index;  // and the one that has the number of this task
  const char* with_mpi;
  const char* hosts;  // the options that start workers on the same hosts
};

constexpr TaskLauncher kTaskLaunchers[] = {
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun --mpi=pmix -n",
     "--hosts \"$SLURM_JOB_NODELIST\" --launcher srun"},
    {"flux run", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux run -o pmi=pmix -n", "--hosts LIST"},
    {"jsrun", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "mpirun -np", "--hosts LIST"},
    {"PALS", "PALS_SIZE", "PALS_RANKID", "mpirun -np", "--hosts LIST"},
};

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
    // PMIx does not reveal the size; the launcher may.
    launch.launcher = "a PMIx launcher (prterun, or srun --mpi=pmix)";
    launch.promised_ranks = NumberIn({"SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE", "JSM_NAMESPACE_SIZE"}, 0);
    launch.promised_rank = NumberIn({"PMIX_RANK"}, -1);
  }
  launch.launched = !launch.launcher.empty();
  return launch;
}

std::optional<SeparateTask> SeparateTaskHere() {
  if (LauncherPromises().launched) return std::nullopt;
  for (const TaskLauncher& launcher : kTaskLaunchers) {
    const int count = NumberIn({launcher.count}, 0), index = NumberIn({launcher.index}, 0);
    if (count <= 1 && (count != 0 || index <= 0)) continue;
    const std::string tasks = count > 0 ? absl::StrCat(count) : "N";
    return SeparateTask{
        .speaks = index <= 0 || count == 0,
        .refusal = absl::InvalidArgumentError(absl::StrCat(
            launcher.name, " started ", count > 0 ? tasks : "several", " tasks without MPI, and each would be a ",
            "separate benchmark on the same files: use `", launcher.with_mpi, " ", tasks,
            " cluster-iobench …`, or start it once with ", launcher.hosts, " (if only this task starts it, unset ",
            count > 0 ? launcher.count : launcher.index, ")"))};
  }
  return std::nullopt;
}

}  // namespace iobench
