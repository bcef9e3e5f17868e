// Wall clock times of a result.
#ifndef COORDINATOR_REPORT_TEXT_WALL_TIME_H_
#define COORDINATOR_REPORT_TEXT_WALL_TIME_H_

#include <cstdint>
#include <string>

namespace iobench {

// Returns the milliseconds since 1970 of a time such as "2026-11-22T07:01:53.110Z"; 0 if it is not one.
int64_t EpochMsOf(const std::string& iso8601);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_WALL_TIME_H_
