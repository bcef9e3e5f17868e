// The samplers of a run: what servers did while clients measured.
#ifndef COORDINATOR_CLUSTER_SAMPLERS_H_
#define COORDINATOR_CLUSTER_SAMPLERS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Queries the samplers of a cluster before and after each phase, and measures their clocks, in a few round trips;
// without samplers, nothing happens. Use it on the cluster's thread. A sampler that is lost or does not answer costs
// only its own records, in which it is then named.
class Samplers {
 public:
  // REQUIRES: Gather succeeded; `cluster` outlives this object. `first_index`: of the first sampler in
  // RunRecord.samplers. `interval_ns`: between two readings of a server's counters, > 0.
  Samplers(Cluster& cluster, uint32_t first_index, int64_t interval_ns)
      : cluster_(cluster), first_index_(first_index), interval_ns_(interval_ns) {}

  // Lets every sampler drop its server's caches, and keeps what it says for the records of this phase: why it did not,
  // too. Call it when the clients are prepared, before Begin. Cancelled: the user interrupted.
  absl::Status DropCaches();
  // Call it shortly before the phase's start: earlier samples are dropped, also those of an earlier Begin. Cancelled:
  // the user interrupted.
  absl::Status Begin();
  // Call it when the phase's timed regions have ended. Returns one record for each sampler, also after an interrupt.
  std::vector<v1::ServerRecord> End();

 private:
  struct Waiting {
    int64_t within_ns;
    bool interruptible;
  };
  absl::Status Ping(Waiting waiting);
  absl::Status Take(Waiting waiting);
  v1::ServerRecord& RecordOf(const Member& sampler) { return records_[sampler.number]; }

  Cluster& cluster_;
  const uint32_t first_index_;
  const int64_t interval_ns_;
  std::vector<v1::ServerRecord> records_;
  std::map<uint32_t, v1::StepResult> dropped_;  // by sampler, until End
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_SAMPLERS_H_
