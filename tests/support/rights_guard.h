// Gives this process the rights of a worker for the duration of a test.
#ifndef TESTS_SUPPORT_RIGHTS_GUARD_H_
#define TESTS_SUPPORT_RIGHTS_GUARD_H_

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "worker/rights/worker_rights.h"

namespace iobench {

// Declare it before the worker, which must not see the rights change.
class RightsGuard {
 public:
  explicit RightsGuard(WorkerRights rights) { SetWorkerRights(std::move(rights)); }
  ~RightsGuard() { SetWorkerRights(WorkerRights()); }
  RightsGuard(const RightsGuard&) = delete;
  RightsGuard& operator=(const RightsGuard&) = delete;
};

// Returns the rights of `worker --join HOST:PORT --root …` without --allow.
inline WorkerRights OverNetwork(const std::vector<std::string>& roots) {
  WorkerRights rights;
  rights.actions.clear();
  rights.may_compare_existing_files = false;
  rights.coordinator_host = "127.0.0.1";
  auto paths = AllowedPaths::Below(roots);
  REQUIRE(paths.ok());
  rights.paths = *std::move(paths);
  return rights;
}

}  // namespace iobench

#endif  // TESTS_SUPPORT_RIGHTS_GUARD_H_
