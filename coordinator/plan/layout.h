// Assigns files to lanes: lanes, their targets, extents of shared files, rotation between clients. Pure.
#ifndef COORDINATOR_PLAN_LAYOUT_H_
#define COORDINATOR_PLAN_LAYOUT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "common/model/phase_shape.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// The properties of a client on which file sizes depend.
struct ClientMemory {
  uint64_t memory_bytes = 0;  // 0: unknown
  uint32_t lane_count = 0;    // with files, of all its workers; the fewest in any phase
};
// Sets files.bytes_per_lane for files.memory_percent: the files of each client's lanes together are at least this share
// of the smallest client's memory. Every file has whole records. Does nothing if memory_percent is 0. InvalidArgument:
// the memory of a client is unknown, or the size does not fit into 62 bits. REQUIRES: at least one client.
// Defined in memory_size.cc.
absl::Status SizeFilesByMemory(std::span<const ClientMemory> clients, v1::Plan& plan);

// True if all lanes on a target work on the items of its first lane, whoever that is (MetadataSpec::shares_items).
bool SharesItems(const v1::Operation& operation);

// One object per run, immutable. Lane i of worker w has the number w * lanes_per_worker() + i in every phase, also in
// phases with fewer lanes, so that a number names the same files throughout a run.
class Layout {
 public:
  // `client_of_worker`: the index of each worker's client. REQUIRES: a checked plan and at least one worker.
  Layout(const v1::Plan& plan, std::span<const uint32_t> client_of_worker);

  uint32_t worker_count() const { return static_cast<uint32_t>(client_of_worker_.size()); }
  uint32_t lane_count() const { return worker_count() * lanes_per_worker_; }
  // Returns the indices of the targets where this worker owns files: one, or all that phases select with only_target.
  const std::vector<uint32_t>& TargetsOf(uint32_t worker) const { return targets_of_worker_[worker]; }
  // The reverse: the workers that own files at a target, in ascending order. REQUIRES: the plan has this target.
  const std::vector<uint32_t>& WorkersOn(uint32_t target) const { return workers_of_target_[target]; }

  // Returns the worker whose files this worker uses when clients are rotated. Workers are ordered by client and shifted
  // by the max. number of workers per client; if all clients have equally many, each reads what the next client wrote.
  // Workers of servers (Target.server), which are the last ones, rotate among themselves.
  uint32_t RotatedOwner(uint32_t worker) const { return rotated_owner_[worker]; }

  // Returns the lanes of one worker for one operation, in order. Their number is the shape's, or by default the plan's.
  // Sets LanePlan.mix for mixes by lane.
  std::vector<v1::LanePlan> LanesOf(uint32_t worker, const v1::Operation& operation,
                                    const PhaseShape& shape) const;
  std::vector<v1::LanePlan> LanesOf(uint32_t worker, const v1::Operation& operation) const {
    return LanesOf(worker, operation, shape_);
  }

  uint32_t lanes_per_worker() const { return lanes_per_worker_; }

 private:
  void Rotate(uint32_t begin, uint32_t end);
  uint32_t FirstOnTarget(uint32_t worker, const PhaseShape& shape) const;  // of those with the worker's target

  uint32_t lanes_per_worker_;  // the plan's, which no phase exceeds; lanes are numbered by it
  PhaseShape shape_;           // the plan's shape
  std::vector<uint32_t> client_of_worker_;
  std::vector<uint32_t> target_of_worker_;  // in phases without only_target
  std::vector<std::vector<uint32_t>> targets_of_worker_, workers_of_target_;
  std::vector<uint32_t> place_on_target_;    // index of a worker among those that use its target …
  std::vector<uint32_t> workers_on_target_;  // … and their number
  uint32_t first_of_servers_;                // first worker of a server; worker_count() if there is none
  std::vector<uint32_t> place_on_client_;    // index of a worker among those of its client
  std::vector<uint32_t> rotated_owner_;
};

}  // namespace iobench

#endif  // COORDINATOR_PLAN_LAYOUT_H_
