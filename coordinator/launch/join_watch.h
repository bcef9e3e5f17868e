// What the starter of workers knows about those that have not joined.
#ifndef COORDINATOR_LAUNCH_JOIN_WATCH_H_
#define COORDINATOR_LAUNCH_JOIN_WATCH_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Called on the coordinator's thread by Cluster::Gather. Both may be null: then nothing is known.
struct JoinWatch {
  // Called every 20 ms while no worker joins, so it must not block. An error means that waiting is useless; it ends it.
  std::function<absl::Status()> check = nullptr;
  // Returns who is missing, why, and what to do about it, as the end of a sentence. `joined`: the facts of the workers
  // that have joined.
  std::function<std::string(const std::vector<v1::WorkerFacts>& joined)> missing = nullptr;
};

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_JOIN_WATCH_H_
