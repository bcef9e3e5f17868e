// The names of IOzone's offset and latency files (-Q), which coordinator and workers must agree on.
#ifndef COMMON_MODEL_OFFSET_LATENCY_FILE_H_
#define COMMON_MODEL_OFFSET_LATENCY_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace iobench {

// Returns the file, without a directory, in which a lane logs the ops of `operation`: "wol.dat" for a write by the only
// lane of a run, otherwise "Child_3_wol.dat" for lane 3. Operations for which IOzone has no name get a similar one:
// "mixol" for random-mix, and "NAME_ol" for those without a number. REQUIRES: `operation` is in the table.
std::string OffsetLatencyFile(std::string_view operation, uint32_t lane, bool only_lane);

}  // namespace iobench

#endif  // COMMON_MODEL_OFFSET_LATENCY_FILE_H_
