// What whoever starts workers, or waits for them, knows of those that have not joined.
#ifndef COORDINATOR_JOIN_WATCH_H_
#define COORDINATOR_JOIN_WATCH_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Called on the coordinator's thread. Both may be null.
struct JoinWatch {
  // Asked every now and then whether there is any use in waiting; what it says otherwise ends the waiting.
  std::function<absl::Status()> check = nullptr;
  // Who is missing, why, and what to do about it. `joined`: the facts of those that are there.
  std::function<std::string(const std::vector<v1::WorkerFacts>& joined)> missing = nullptr;
};

}  // namespace iobench

#endif  // COORDINATOR_JOIN_WATCH_H_
