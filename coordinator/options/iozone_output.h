// What the given options ask IOzone's report formats to show, and what its banner says of them.
#ifndef COORDINATOR_OPTIONS_IOZONE_OUTPUT_H_
#define COORDINATOR_OPTIONS_IOZONE_OUTPUT_H_

#include <optional>

#include "coordinator/options/option.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns nullopt if none of these options was given.
std::optional<v1::IozoneOutput> IozoneOutputOf(const GivenOptions& given);

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_IOZONE_OUTPUT_H_
