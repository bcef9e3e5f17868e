// IOzone's latency bands (-+z): 40 ranges of latencies, from 20 us to over 120 s.
#ifndef COORDINATOR_ANALYSIS_IOZONE_BANDS_H_
#define COORDINATOR_ANALYSIS_IOZONE_BANDS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "common/histogram.h"

namespace iobench {

struct IozoneBand {
  int64_t up_to_ns = 0;  // an op of exactly this latency belongs to the band; the last band has no upper end
  const char* label = "";  // "20us", "120+s"
  int line = 0;            // of IOzone's files: "Band 1:" to "Band 9:"
};

// All bands, ascending. The edges are IOzone's. IOzone labels its edges of 30, 60 and 90 s as 40, 60 and 80 s; these
// labels state the actual edges.
std::span<const IozoneBand> IozoneBands();

// Returns the number of values in each band. A value counts at the upper edge of its bucket, as for percentiles, so one
// less than 0.8 % below a band's end may count in the next band.
std::vector<uint64_t> CountsInIozoneBands(const Histogram& latency);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_IOZONE_BANDS_H_
