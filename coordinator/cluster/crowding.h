// Finds workers with more lanes than processors. Their lanes sleep until the start of a phase, because spinning would
// only keep each other from running.
#ifndef COORDINATOR_CLUSTER_CROWDING_H_
#define COORDINATOR_CLUSTER_CROWDING_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace iobench {

// What one worker contributes to the load of its client.
struct LanesOnProcessors {
  uint32_t client = 0;
  // WorkerFacts.processor_mask: bit i of byte n is processor 8n + i. Empty: unknown, so it may use any.
  std::string processor_mask;
  uint32_t processors = 1;  // how many it may use
  uint32_t lanes = 0;       // of this worker in the phase; 0: it does not take part
};

// For each worker, compares the lanes of all workers of its client that may use one of its processors with the number
// of processors that these workers may use together. Workers bound to disjoint processors do not crowd each other. The
// result is indexed like `workers`. Pure.
std::vector<bool> CrowdedWorkers(std::span<const LanesOnProcessors> workers);

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_CROWDING_H_
