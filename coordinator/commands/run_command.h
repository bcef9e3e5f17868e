// The coordinator's commands, for any transport that main.cc has set up.
#ifndef COORDINATOR_COMMANDS_RUN_COMMAND_H_
#define COORDINATOR_COMMANDS_RUN_COMMAND_H_

#include "absl/status/status.h"
#include "coordinator/options/command_options.h"
#include "coordinator/stage/stage.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

struct ConductorOptions;
struct ResumePoint;

// Returns the conductor's options that follow from the command line and the stage.
ConductorOptions OptionsFor(const Stage& stage, const JobOptions& line);

// Each command returns the exit code and prints errors on stderr as one line. If standard output cannot be written,
// kExitOk becomes kExitIo.

// Runs a plan and prints its report as it proceeds. Results go to --out, or to a new directory in cluster-iobench.out.
// With --dry-run it only prints which worker would do what. `plan`: complete and checked. The exit code is that of
// Conductor::Run. With stage.resume, the saved run is resumed: `plan` is its plan, and the results go to its directory.
int RunPlan(const Stage& stage, const RunCommand& line, const v1::Plan& plan);
// Prints that a saved run has nothing left to do.
void SayComplete(const ResumePoint& point);
// Checks what a run of the plan would need of its workers, leaves nothing behind, and prints all faults, as a table or
// as JSON. kExitUsage: a fault would stop the run.
int Preflight(const Stage& stage, const PreflightCommand& line, const v1::Plan& plan);
// Checks whether a shared file system is deployed correctly, and prints or writes the report. `plan`: names the
// directory, and has the phases that the checks of performance judge, if there are any. kExitThreshold: a check has
// failed that is not waived; kExitPartial: a worker was lost; kExitIo: something that validate made could not be
// removed, or the report could not be written.
int Validate(const Stage& stage, const ValidateCommand& line, const v1::Plan& plan);
// Checks the report's format and file as far as possible before anything waits for workers. Errors: those of
// CheckOutputFile, an unknown format, or one that is not for a terminal.
absl::Status CheckValidateReport(const ValidateOptions& options);
// Finds how much the storage carries: a run whose phases follow from what earlier ones measured, and its report, which
// is also saved as capacity.json beside the run's results. `plan`: fitted by FitPlanToCapacity. The exit code is that of
// Conductor::Run, and kExitThreshold if the SLO cannot be met or today's load is more than the storage carries.
int Capacity(const Stage& stage, const CapacityCommand& line, const v1::Plan& plan);
// Turns the plan of a workload into the first phase of a capacity measurement: all clients with all lanes. Called
// before any worker joins. InvalidArgument: the plan is not a single phase, or a question or the output file is wrong.
absl::Status FitPlanToCapacity(const CapacityCommand& line, v1::Plan& plan);
// Shows saved capacity runs (--saved).
int ShowSavedCapacity(const CapacityCommand& line);
// Measures the tool itself with empty phases, whose results are removed again: the fixed cost of a phase and its parts,
// the skew of the starts, the coordinator's processor time and memory, and for each client its clock, the cost of an op
// and the network between it and the coordinator.
int Selftest(const Stage& stage, const SelftestCommand& line);
// The network test (-+t). kExitInterrupted: interrupted; kExitPartial: a worker was lost; kExitUsage: any other
// failure.
int NetTest(const Stage& stage, const RunCommand& line);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_RUN_COMMAND_H_
