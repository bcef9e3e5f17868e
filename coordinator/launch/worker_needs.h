// The rights that a worker that joins over a network needs to take part in a plan: for the command line of workers that
// the coordinator starts, and for the one that it shows to its user.
#ifndef COORDINATOR_LAUNCH_WORKER_NEEDS_H_
#define COORDINATOR_LAUNCH_WORKER_NEEDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "iobench/v1/plan.pb.h"

namespace iobench {

// The value of --root with which a worker joins runs that use no files: selftest and the network test.
inline constexpr char kNoRoot[] = "none";

struct WorkerNeeds {
  // Directories and URLs for --root, each once, in the order of the plan: targets, and the directories of existing
  // files and traces; or kNoRoot, if nothing is used.
  std::vector<std::string> roots;
  // For --allow: "remount,log-files"; empty: nothing.
  std::string actions;

  // " --root '/mnt/a b' --allow remount", in shell syntax; empty: nothing is needed.
  std::string Arguments() const;
};

// What the targets need is left out with `kOwnPaths`: each worker then has its own on its command line. Pure.
enum class TargetRoots { kOfPlan, kOwnPaths };
WorkerNeeds NeedsOfWorkers(const v1::Plan& plan, TargetRoots targets);

// The same for a sampler, which drops its server's caches if the plan drops caches, and for the workers that it starts on
// the server if the plan has a server_path.
WorkerNeeds NeedsOfServers(const v1::Plan& plan);

// The servers together have as many workers as the clients, or some more if these do not divide evenly. REQUIRES:
// servers > 0.
inline uint32_t WorkersOfEachServer(uint32_t client_workers, uint32_t servers) {
  return (client_workers + servers - 1) / servers;
}

// Returns " --server-workers 4 --root /export --allow drop-caches", for `worker --sampler`; empty: it needs nothing.
std::string ServerArguments(const v1::Plan& plan, uint32_t server_workers);

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_WORKER_NEEDS_H_
