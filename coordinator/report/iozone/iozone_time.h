// Times as IOzone prints them.
#ifndef COORDINATOR_REPORT_IOZONE_IOZONE_TIME_H_
#define COORDINATOR_REPORT_IOZONE_IOZONE_TIME_H_

#include <string>

namespace iobench {

// Returns `iso8601` (UTC, as in the report) plus `seconds` in the format of ctime(), "Fri Nov 20 14:37:47 2026", in UTC
// and without a line break; "unknown" if it is no such time or `seconds` is not a number.
std::string CtimeText(const std::string& iso8601, double seconds);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_IOZONE_IOZONE_TIME_H_
