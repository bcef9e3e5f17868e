// The short usage text, printed if no command is given.
#ifndef COORDINATOR_OPTION_USAGE_H_
#define COORDINATOR_OPTION_USAGE_H_

#include <string>

namespace iobench {

std::string ShortUsage();

}  // namespace iobench

#endif  // COORDINATOR_OPTION_USAGE_H_
