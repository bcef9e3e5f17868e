// Who works on which files: lanes, their targets, extents of shared files, rotation between clients. Pure.
#ifndef COORDINATOR_LAYOUT_H_
#define COORDINATOR_LAYOUT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "common/phase_shape.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

class Layout {
 public:
  // `client_of_worker`: index of the client each worker runs on. REQUIRES: a checked plan, at least one worker.
  Layout(const v1::Plan& plan, std::span<const uint32_t> client_of_worker);

  uint32_t worker_count() const { return static_cast<uint32_t>(client_of_worker_.size()); }
  uint32_t lane_count() const { return worker_count() * lanes_per_worker_; }
  uint32_t TargetOf(uint32_t worker) const { return target_of_worker_[worker]; }

  // Whose files a worker uses when clients are rotated: workers in order of clients, moved on by the largest number of
  // workers on one client, so that with equal numbers everybody reads what the next client wrote.
  uint32_t RotatedOwner(uint32_t worker) const { return rotated_owner_[worker]; }

  // The lanes of one worker for one operation, in order, as many as the phase has; without a shape as many as the plan.
  // mix_reader is set for mixes by lane.
  std::vector<v1::LanePlan> LanesOf(uint32_t worker, const v1::Operation& operation,
                                    const PhaseShape& shape) const;
  std::vector<v1::LanePlan> LanesOf(uint32_t worker, const v1::Operation& operation) const {
    return LanesOf(worker, operation, shape_);
  }

  uint32_t lanes_per_worker() const { return lanes_per_worker_; }

 private:
  uint32_t lanes_per_worker_;  // the most: what lanes are numbered by
  PhaseShape shape_;           // the plan's
  std::vector<uint32_t> client_of_worker_;
  std::vector<uint32_t> target_of_worker_;
  std::vector<uint32_t> place_on_target_;    // of a worker, among those that use its target …
  std::vector<uint32_t> workers_on_target_;  // … which are so many
  std::vector<uint32_t> place_on_client_;    // of a worker, among those of its client
  std::vector<uint32_t> rotated_owner_;
};

// The first assignment that selects this worker; null: it sits out.
const v1::Assignment* AssignmentFor(const v1::Phase& phase, uint32_t worker);

}  // namespace iobench

#endif  // COORDINATOR_LAYOUT_H_
