// From the command line and the stage to what a conductor needs.
#ifndef COORDINATOR_COMMANDS_CONDUCTOR_SETUP_H_
#define COORDINATOR_COMMANDS_CONDUCTOR_SETUP_H_

#include <string>

#include "common/time.h"
#include "coordinator/conduct/conductor_options.h"
#include "coordinator/options/command_options.h"
#include "coordinator/stage/stage.h"

namespace iobench {

// Returns the conductor's options that follow from the command line and the stage: for a new run, whose results are not
// saved. Reads the clock and draws the run's id.
ConductorOptions OptionsFor(const Stage& stage, const JobOptions& line);
// When all workers must have joined, if the wait for them begins now.
CoordTime JoinDeadline(const ConductorOptions& options, const JobOptions& line);
// Where the results of a new run are: --out, or a new directory in cluster-iobench.out.
std::string OutDirectory(const JobOptions& line, const std::string& run_name);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_CONDUCTOR_SETUP_H_
