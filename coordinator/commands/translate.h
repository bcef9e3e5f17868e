// The command `translate`: a command line or job file of another tool as ours.
#ifndef COORDINATOR_COMMANDS_TRANSLATE_H_
#define COORDINATOR_COMMANDS_TRANSLATE_H_

#include "coordinator/options/command_options.h"

namespace iobench {

// Prints the commands, which a shell can run, and what differs as comments. Returns the exit code of the process.
int TranslateLine(const TranslateCommand& translate);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_TRANSLATE_H_
