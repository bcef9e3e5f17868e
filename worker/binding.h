// Binds lanes' threads to processors or NUMA nodes.
#ifndef WORKER_BINDING_H_
#define WORKER_BINDING_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// What a binding binds to, in the order in which lanes get it: a processor each, or all of a node.
struct Places {
  std::vector<std::vector<uint32_t>> processors;  // of each place; empty: nothing is bound
  std::vector<uint32_t> nodes;                    // NUMA: the node of each place

  bool empty() const { return processors.empty(); }
  const std::vector<uint32_t>& Of(uint32_t lane) const { return processors[lane % processors.size()]; }
  // "processors 2, 3, 0" or "NUMA nodes 0, 1" of these lanes.
  std::string ForPeople(std::span<const uint32_t> lanes) const;
};

struct NumaNode {
  uint32_t number = 0;
  std::vector<uint32_t> processors;
};

// Pure: `usable` are the processors that this process may use, ascending. FailedPrecondition: no node has one of them.
// InvalidArgument: there is no such first processor.
absl::StatusOr<Places> PlacesFrom(const v1::Binding& binding, std::span<const uint32_t> usable,
                                  std::span<const NumaNode> nodes);

// For this process, whose thread calls. Unavailable: the system does not tell.
absl::StatusOr<Places> PlacesFor(const v1::Binding& binding);

// The processors that this process may use, as WorkerFacts.processor_mask; empty: the system does not tell.
std::string UsableProcessorMask();

// The calling thread from now on. REQUIRES: processors of PlacesFor.
absl::Status BindThisThread(std::span<const uint32_t> processors);

std::vector<uint32_t> ParseProcessorList(const std::string& text);  // "0-3,8\n"

}  // namespace iobench

#endif  // WORKER_BINDING_H_
