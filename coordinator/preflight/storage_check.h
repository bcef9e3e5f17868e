// Finds out by content which workers see the same storage: one worker of each client creates a small file with random
// contents, and all open the files of the others by name and read them, so that a view that goes one way only is found
// too. Neither devices nor inode numbers are compared.
#ifndef COORDINATOR_PREFLIGHT_STORAGE_CHECK_H_
#define COORDINATOR_PREFLIGHT_STORAGE_CHECK_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/plan/layout.h"
#include "coordinator/preflight/preflight.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The constructor's arguments must outlive it. Call Run once, on the cluster's thread, while no worker is in a phase.
class StorageCheck {
 public:
  // `facts`: what the workers see of their targets, by worker number; targets with a problem are left out. `wait_ns`:
  // how long to wait for a file to appear on a client that may see it later because of its caches. `first_file`: number
  // of the check file of worker 0; each check of a run needs numbers of its own, because clients remember which names
  // are missing.
  StorageCheck(Cluster& cluster, const v1::Plan& plan, const Layout& layout,
               std::span<const v1::WorkerTargets> facts, int64_t wait_ns, uint32_t first_file)
      : cluster_(cluster),
        plan_(plan),
        layout_(layout),
        facts_(facts),
        wait_ns_(wait_ns),
        first_file_(first_file) {}

  // Checks every target that at least `min_workers` use. With up to 65 writers, each reads what all others wrote; with
  // more, what its neighbours in a circle wrote, and then one worker of each group that has been found reads the files
  // of the other groups. All files have been removed when it returns, also after an interrupt, unless a worker was lost,
  // which removes its own. Errors: those of Cluster::Call; a worker that is lost is none.
  absl::Status Run(size_t min_workers = 2);

  // Index is the target. Empty vectors for targets that were not checked.
  const std::vector<StorageSights>& sights() const { return sights_; }

 private:
  // By reader: the writers whose files it is to find, or has found.
  using Reads = std::map<uint32_t, std::set<uint32_t>>;

  absl::Status CheckTarget(int target, const std::vector<uint32_t>& workers);
  absl::Status WriteBy(int target, const std::vector<uint32_t>& workers);
  // Reads until all is found, or hopeless, or the time is over.
  absl::Status ReadUntilFound(int target, Reads wanted);
  absl::Status ReadOnce(int target, Reads& wanted);
  absl::Status JoinGroups(int target, const std::vector<uint32_t>& workers);
  absl::Status TryToWriteOthers(int target, const std::map<uint32_t, uint32_t>& writer_for);
  absl::Status RemoveFiles(int target);
  std::vector<uint32_t> WritersAmong(const std::vector<uint32_t>& workers) const;
  Reads ReadsOf(const std::vector<uint32_t>& workers) const;
  bool IsLost(uint32_t worker) const { return cluster_.members()[worker].lost; }
  bool Sees(uint32_t reader, uint32_t writer) const;
  void FindOneWay(StorageSights& sights) const;
  // The groups of workers that see each other's storage; index: the smallest of each.
  std::map<uint32_t, std::vector<uint32_t>> GroupsOf(const StorageSights& sights,
                                                     const std::vector<uint32_t>& workers) const;
  // Numbers the storages such that most workers see number 0.
  void Number(const std::map<uint32_t, std::vector<uint32_t>>& groups, StorageSights& sights) const;
  bool MayAppearLater(int target, uint32_t reader, uint32_t writer) const;

  Cluster& cluster_;
  const v1::Plan& plan_;
  const Layout& layout_;
  const std::span<const v1::WorkerTargets> facts_;
  const int64_t wait_ns_;
  const uint32_t first_file_;
  std::vector<StorageSights> sights_;
  // Of the target being checked: the hash of what each writer's file holds, what each reader has tried, and what it saw.
  std::map<uint32_t, uint64_t> written_;
  Reads tried_, seen_;
};

// Gives workers the same FilesystemId (filesystem.h) if and only if they see the same storage, whatever its servers are called.
void SetStorage(std::span<const StorageSights> sights, std::span<v1::WorkerTargets> facts);

}  // namespace iobench

#endif  // COORDINATOR_PREFLIGHT_STORAGE_CHECK_H_
