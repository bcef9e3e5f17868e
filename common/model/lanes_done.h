// What can be said of a worker's lanes when all of them have ended.
#ifndef COMMON_MODEL_LANES_DONE_H_
#define COMMON_MODEL_LANES_DONE_H_

#include <cstdint>

#include "iobench/v1/control.pb.h"

namespace iobench {

// Returns the longest time from a lane's first op to the end of its timed region; 0 if no lane took part.
int64_t LongestRegionNs(const v1::LanesDone& done);

}  // namespace iobench

#endif  // COMMON_MODEL_LANES_DONE_H_
