#include "coordinator/layout.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace iobench {

Layout::Layout(const v1::Plan& plan, std::span<const uint32_t> client_of_worker)
    : lanes_per_worker_(plan.lanes_per_worker()),
      target_count_(static_cast<uint32_t>(plan.targets_size())),
      shared_file_(plan.files().shared_file()),
      bytes_per_lane_(plan.files().bytes_per_lane()),
      client_of_worker_(client_of_worker.begin(), client_of_worker.end()) {
  std::vector<uint32_t> by_client(worker_count());
  std::iota(by_client.begin(), by_client.end(), 0);
  std::stable_sort(by_client.begin(), by_client.end(),
                   [this](uint32_t a, uint32_t b) { return client_of_worker_[a] < client_of_worker_[b]; });
  std::map<uint32_t, uint32_t> workers_on_client;
  uint32_t most_on_a_client = 0;
  for (const uint32_t client : client_of_worker_) {
    most_on_a_client = std::max(most_on_a_client, ++workers_on_client[client]);
  }
  rotated_owner_.resize(worker_count());
  for (uint32_t place = 0; place < worker_count(); ++place) {
    rotated_owner_[by_client[place]] = by_client[(place + most_on_a_client) % worker_count()];
  }
}

std::vector<v1::LanePlan> Layout::LanesOf(uint32_t worker, const v1::Operation& operation) const {
  const uint32_t owner = operation.rotate_clients() ? RotatedOwner(worker) : worker;
  std::vector<v1::LanePlan> lanes;
  lanes.reserve(lanes_per_worker_);
  for (uint32_t i = 0; i < lanes_per_worker_; ++i) {
    v1::LanePlan lane;
    lane.set_lane(worker * lanes_per_worker_ + i);
    lane.set_file_owner(owner * lanes_per_worker_ + i);
    lane.set_target(TargetOf(owner));
    if (shared_file_) {
      const uint64_t place_on_target = uint64_t{owner / target_count_} * lanes_per_worker_ + i;
      lane.set_extent_offset_bytes(place_on_target * bytes_per_lane_);
    }
    if (operation.mix_by_lane()) {
      // Readers are spread evenly over the lanes (and so over clients) rather than being the first so many.
      const uint64_t n = lane.lane(), percent = operation.read_percent();
      const bool reads = (n + 1) * percent / 100 > n * percent / 100;
      lane.set_mix_reader(reads ? 1 : 2);
    }
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

const v1::Assignment* AssignmentFor(const v1::Phase& phase, uint32_t worker) {
  for (const v1::Assignment& assignment : phase.assignments()) {
    const auto& chosen = assignment.who().workers();
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), worker) != chosen.end()) return &assignment;
  }
  return nullptr;
}

}  // namespace iobench
