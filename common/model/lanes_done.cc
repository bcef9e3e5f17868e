#include "common/model/lanes_done.h"

#include <algorithm>

namespace iobench {

int64_t LongestRegionNs(const v1::LanesDone& done) {
  int64_t longest_ns = 0;
  for (const v1::LaneEnds& ends : done.ends()) {
    if (!ends.took_part()) continue;
    longest_ns = std::max(longest_ns, ends.region_end_worker_ns() - ends.first_op_worker_ns());
  }
  return longest_ns;
}

}  // namespace iobench
