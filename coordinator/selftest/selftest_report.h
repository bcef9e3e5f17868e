// What `selftest` prints: the tool's own costs and limits on this cluster, before it measures any storage.
#ifndef COORDINATOR_SELFTEST_SELFTEST_REPORT_H_
#define COORDINATOR_SELFTEST_SELFTEST_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "coordinator/net_check/net_check.h"
#include "coordinator/selftest/phase_cost.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct SelftestFigures {
  std::string version = {};
  const v1::RunReport& report;        // of the empty phases; must outlive this object
  std::vector<PhaseCost> costs = {};  // of each phase
  double join_s = 0;                  // until all workers had joined
  double run_s = 0;                   // everything
  uint64_t peak_memory_bytes = 0;
  uint32_t silence_count = 0;            // how often a worker was reported as silent
  std::vector<NetFigures> network = {};  // by client; empty: not measured
  bool simulated = false;                // the workers are simulated: their starts and clients mean nothing
  bool workers_in_process = false;       // the coordinator's processor time includes theirs
};

// More clients are not listed one by one, but by median and maximum.
inline constexpr size_t kMaxListedClients = 64;

// Prints the figures of the whole cluster, line by line, and a table of its clients.
void PrintSelftest(const SelftestFigures& figures, std::ostream& out);

// Of the finite values; NAN: there are none. Pure.
double MedianOfFinite(std::vector<double> values);
double LargestOf(const std::vector<double>& values);

}  // namespace iobench

#endif  // COORDINATOR_SELFTEST_SELFTEST_REPORT_H_
