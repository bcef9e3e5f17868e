// The phases of a capacity measurement: the first creates the files, each other one is the next step of the search.
#ifndef COORDINATOR_CAPACITY_CAPACITY_SOURCE_H_
#define COORDINATOR_CAPACITY_CAPACITY_SOURCE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/time.h"
#include "coordinator/capacity/capacity_search.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/conduct/phase_source.h"

namespace iobench {

// Begin it before its first phase is asked for.
class CapacitySource final : public PhaseSource {
 public:
  // `max_duration_s`: of the steps; 0: no limit.
  explicit CapacitySource(double max_duration_s) : max_duration_s_(max_duration_s) {}

  // `settings`: with the number of the members' clients. InvalidArgument: --max-duration is too short.
  absl::Status Begin(std::span<const Member> members, CapacitySettings settings);
  absl::StatusOr<std::optional<NextPhase>> Next(const PhasesSoFar& so_far) override;

  // nullptr: not begun.
  const CapacitySearch* search() const { return search_.get(); }
  // How the settings were changed to fit into max_duration_s, for display.
  const std::vector<std::string>& notes() const { return notes_; }
  // max_duration_s ended before everything was measured.
  bool out_of_time() const { return out_of_time_; }

 private:
  const double max_duration_s_;
  std::vector<std::vector<uint32_t>> workers_of_client_;
  std::unique_ptr<CapacitySearch> search_;
  std::vector<std::string> notes_;
  int planned_count_ = -1;  // phases that the plan had; -1: not yet known
  int next_place_ = 0;
  CoordTime measuring_since_;
  bool out_of_time_ = false;
};

// The numbers of each client's workers.
std::vector<std::vector<uint32_t>> WorkersByClient(std::span<const Member> members);

}  // namespace iobench

#endif  // COORDINATOR_CAPACITY_CAPACITY_SOURCE_H_
