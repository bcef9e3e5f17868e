// What IOzone prints before its figures: program, options, command, units.
#ifndef COORDINATOR_REPORT_IOZONE_IOZONE_BANNER_H_
#define COORDINATOR_REPORT_IOZONE_IOZONE_BANNER_H_

#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Lines for the options are IOzone's, wherever the plan, or what was kept of the command line, has the information.
// Names are made safe to print.
std::string IozoneBanner(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_IOZONE_IOZONE_BANNER_H_
