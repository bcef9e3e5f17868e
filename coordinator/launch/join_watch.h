// What the starter of workers knows about workers that have not joined.
#ifndef COORDINATOR_LAUNCH_JOIN_WATCH_H_
#define COORDINATOR_LAUNCH_JOIN_WATCH_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Why workers of a client will not join.
struct JoinFault {
  std::string client;  // as the user named it: "user@node7:2222"
  std::string problem;
  std::string advice;  // what to do; empty: the problem says it
  // In the client list, of all workers that were started there: some may have joined. Empty: not known.
  std::set<uint32_t> positions = {};
  // Of the client, if a worker has joined there and was refused: others may have joined. Empty: not known.
  std::string boot_id = {};
};

// Called on the coordinator's thread by Cluster: until all have joined, `ending` until the run ends. All may be null.
struct JoinWatch {
  // Workers without lanes (worker --sampler) that are waited for besides those that measure.
  uint32_t samplers = 0;
  // Workers that servers start for --server-path (worker --server-workers), all servers together.
  uint32_t server_workers = 0;
  // Called every 20 ms while no worker joins, so it must not block. An error means that waiting is useless: it ends.
  std::function<absl::Status()> check = nullptr;
  // Called when a worker has joined, and when one has left before all have joined.
  std::function<void(const v1::WorkerFacts& worker, bool present)> presence = nullptr;
  // Returns true if this program itself started that worker. If such a worker cannot take part (another version), the
  // wait ends with an error; any other is sent away, and the wait goes on. Null: it started none.
  std::function<bool(const v1::WorkerFacts& worker)> started_here = nullptr;
  // Returns who is missing, why, and what to do about it, as the end of a sentence. `joined`: the facts of the workers
  // that have joined.
  std::function<std::string(const std::vector<v1::WorkerFacts>& joined)> missing = nullptr;
  // Returns how the process of a worker ended that has joined and is lost now, such as "its process ended with signal 9
  // (KILL)"; empty: not known. Null: nothing is known.
  std::function<std::string(const v1::WorkerFacts& worker)> ending = nullptr;
  // Returns the clients whose workers have failed to join so far.
  std::function<std::vector<JoinFault>()> faults = nullptr;
};

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_JOIN_WATCH_H_
