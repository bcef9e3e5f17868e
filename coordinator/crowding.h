// Which workers share their processors with more lanes than there are: those sleep up to the start of a phase, for
// spinning they would only keep each other from it.
#ifndef COORDINATOR_CROWDING_H_
#define COORDINATOR_CROWDING_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace iobench {

struct LanesOnProcessors {
  uint32_t client = 0;
  std::string processor_mask;  // WorkerFacts.processor_mask; empty: not known, which may be any
  uint32_t processors = 1;     // how many
  uint32_t lanes = 0;          // of this worker in the phase; 0: it takes no part
};

// For each worker: lanes of all workers of its client that may use one of its processors, against the processors that
// these workers may use together. Workers that are bound to processors of their own do not crowd each other. Pure.
std::vector<bool> CrowdedWorkers(std::span<const LanesOnProcessors> workers);

}  // namespace iobench

#endif  // COORDINATOR_CROWDING_H_
