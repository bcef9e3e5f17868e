// Checks what phases need on a client besides files: engines, traces, mount points, processors.
#ifndef WORKER_DEMANDS_H_
#define WORKER_DEMANDS_H_

#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Returns the demands that this host does not meet, as messages for the user. Changes nothing. May block while reading
// traces.
std::vector<absl::Status> UnmetDemands(const v1::Demands& demands);

}  // namespace iobench

#endif  // WORKER_DEMANDS_H_
