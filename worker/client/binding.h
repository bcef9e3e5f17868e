// Binds lanes' threads to processors or NUMA nodes.
#ifndef WORKER_CLIENT_BINDING_H_
#define WORKER_CLIENT_BINDING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// The slots of a binding, in the order in which lanes are assigned to them. A slot is one processor or all of a node's.
struct BindingSlots {
  // The processors of each slot; empty: no binding.
  std::vector<std::vector<uint32_t>> processors;
  // With NUMA nodes: the number of each slot's node; otherwise empty.
  std::vector<uint32_t> nodes;

  bool empty() const { return processors.empty(); }
  // Returns the processors of a lane, by its number on the client. Slots repeat if there are more lanes. REQUIRES:
  // !empty().
  const std::vector<uint32_t>& Of(uint32_t lane) const { return processors[lane % processors.size()]; }
  // Returns a display name of these lanes' slots: "processors 2, 3, 0" or "NUMA nodes 0, 1".
  std::string ToText(std::span<const uint32_t> lanes) const;
};

// A node as /sys/devices/system/node shows it. It may have no processors.
struct NumaNode {
  uint32_t number = 0;
  std::vector<uint32_t> processors;
};

// Evaluates a binding. `usable`: the processors that this process may use, ascending. FailedPrecondition: no node has
// any of them. InvalidArgument: the first processor does not exist. Pure.
absl::StatusOr<BindingSlots> BindingSlotsFrom(const v1::Binding& binding, std::span<const uint32_t> usable,
                                              std::span<const NumaNode> nodes);

// The same for the processors of the calling thread and the nodes of this host. Without a binding, it reads nothing and
// returns empty slots. If the system does not provide the information: the status of the errno.
absl::StatusOr<BindingSlots> BindingSlotsFor(const v1::Binding& binding);

// Returns how many NUMA nodes this host has; 1 also if the system does not say.
size_t NumaNodeCount();

// Returns the processors that this process may use, in the format of WorkerFacts.processor_mask; empty: unknown.
std::string UsableProcessorMask();

// Binds the calling thread. Threads that it starts afterwards inherit the binding. The status of the errno if the
// system refuses. REQUIRES: `processors` come from BindingSlotsFor.
absl::Status BindThisThread(std::span<const uint32_t> processors);

// Parses the kernel's lists of processors, "0-3,8\n". Skips parts that it does not understand, and numbers of 8192 and
// above, which no kernel has.
std::vector<uint32_t> ParseProcessorList(const std::string& text);

}  // namespace iobench

#endif  // WORKER_CLIENT_BINDING_H_
