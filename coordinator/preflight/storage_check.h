// Finds out by content which workers see the same storage: one creates a small file with a random name and random
// contents, the others open it by name and read it. Neither devices nor inode numbers are compared.
#ifndef COORDINATOR_PREFLIGHT_STORAGE_CHECK_H_
#define COORDINATOR_PREFLIGHT_STORAGE_CHECK_H_

#include <cstdint>
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

  // Checks every target that at least `min_workers` use. One worker of each client also creates a file of its own
  // there. All files have been removed when it returns, also after an interrupt, unless a worker was lost, which
  // removes its own. Errors: those of Cluster::Call; a worker that is lost is none.
  absl::Status Run(size_t min_workers = 2);

  // Index is the target. Empty vectors for targets that were not checked.
  const std::vector<StorageSights>& sights() const { return sights_; }

 private:
  absl::Status CheckTarget(int target, const std::vector<uint32_t>& workers);
  absl::Status TryToWrite(int target, const std::vector<uint32_t>& workers);
  absl::Status FindStorageOf(int target, uint32_t writer, int storage, std::vector<uint32_t>& unknown);
  absl::Status ReadBy(int target, std::vector<uint32_t>& waiting, uint32_t file, uint64_t contents_xxh3);
  absl::Status TryToWriteOthers(int target, const std::vector<uint32_t>& workers, uint32_t file);
  absl::Status RemoveFiles(int target);
  // Renames storages such that most workers see number 0.
  void NumberByCount(StorageSights& sights) const;
  bool MayAppearLater(int target, uint32_t reader, uint32_t writer) const;

  Cluster& cluster_;
  const v1::Plan& plan_;
  const Layout& layout_;
  const std::span<const v1::WorkerTargets> facts_;
  const int64_t wait_ns_;
  const uint32_t first_file_;
  std::vector<StorageSights> sights_;
  std::vector<uint32_t> writers_;  // that have files at the target being checked
};

// Gives workers the same FilesystemId (filesystem.h) if and only if they see the same storage, whatever its servers are called.
void SetStorage(std::span<const StorageSights> sights, std::span<v1::WorkerTargets> facts);

}  // namespace iobench

#endif  // COORDINATOR_PREFLIGHT_STORAGE_CHECK_H_
