// The short usage text, printed if no command is given.
#ifndef COORDINATOR_COMMAND_LINE_USAGE_H_
#define COORDINATOR_COMMAND_LINE_USAGE_H_

#include <string>

namespace iobench {

std::string ShortUsage();

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_USAGE_H_
