// What the program says where nothing was asked for.
#ifndef COORDINATOR_USAGE_H_
#define COORDINATOR_USAGE_H_

#include <string>

namespace iobench {

std::string ShortUsage();

}  // namespace iobench

#endif  // COORDINATOR_USAGE_H_
