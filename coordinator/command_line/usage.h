// The short usage text, printed if no command is given.
#ifndef COORDINATOR_COMMAND_LINE_USAGE_H_
#define COORDINATOR_COMMAND_LINE_USAGE_H_

#include <cstddef>
#include <string>

namespace iobench {

std::string ShortUsage(size_t columns);  // in lines of at most that many

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_USAGE_H_
