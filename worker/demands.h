// What phases ask of a client beside files to work on: engines, traces, mount points, processors.
#ifndef WORKER_DEMANDS_H_
#define WORKER_DEMANDS_H_

#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// What this host does not have of it, in words for the user; changes nothing. Blocks as reading traces does.
std::vector<absl::Status> UnmetDemands(const v1::Demands& demands);

}  // namespace iobench

#endif  // WORKER_DEMANDS_H_
