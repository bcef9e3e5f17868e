#include "coordinator/plan/layout.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "common/model/metadata_operation.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"

namespace iobench {

bool SharesItems(const v1::Operation& operation) {
  return IsMetadata(operation) && MetadataSpecOf(*SpecOf(operation)).shares_items;
}

Layout::Layout(const v1::Plan& plan, std::span<const uint32_t> client_of_worker)
    : lanes_per_worker_(plan.lanes_per_worker()),
      shape_{.files = plan.files(), .lanes_per_worker = plan.lanes_per_worker()},
      client_of_worker_(client_of_worker.begin(), client_of_worker.end()),
      target_of_worker_(TargetOfEachWorker(plan, worker_count())),
      targets_of_worker_(TargetsOfEachWorker(plan, worker_count())) {
  std::map<uint32_t, uint32_t> workers_on_target;
  for (const uint32_t target : target_of_worker_) place_on_target_.push_back(workers_on_target[target]++);
  for (const uint32_t target : target_of_worker_) workers_on_target_.push_back(workers_on_target[target]);
  workers_of_target_.resize(static_cast<size_t>(plan.targets_size()));
  for (uint32_t worker = 0; worker < worker_count(); ++worker) {
    for (const uint32_t target : TargetsOf(worker)) workers_of_target_[target].push_back(worker);
  }
  std::map<uint32_t, uint32_t> workers_on_client;
  for (const uint32_t client : client_of_worker_) place_on_client_.push_back(workers_on_client[client]++);
  const auto is_of_server = [&](uint32_t target) { return plan.targets(static_cast<int>(target)).server(); };
  first_of_servers_ =
      static_cast<uint32_t>(std::find_if(target_of_worker_.begin(), target_of_worker_.end(), is_of_server) -
                            target_of_worker_.begin());
  rotated_owner_.resize(worker_count());
  Rotate(0, first_of_servers_);
  Rotate(first_of_servers_, worker_count());
}

// Among the workers from `begin` to `end`.
void Layout::Rotate(uint32_t begin, uint32_t end) {
  std::vector<uint32_t> by_client(end - begin);
  std::iota(by_client.begin(), by_client.end(), begin);
  std::stable_sort(by_client.begin(), by_client.end(),
                   [this](uint32_t a, uint32_t b) { return client_of_worker_[a] < client_of_worker_[b]; });
  uint32_t max_on_a_client = 0;
  for (const uint32_t worker : by_client)
    max_on_a_client = std::max(max_on_a_client, place_on_client_[worker] + 1);
  for (size_t place = 0; place < by_client.size(); ++place) {
    rotated_owner_[by_client[place]] = by_client[(place + max_on_a_client) % by_client.size()];
  }
}

uint32_t Layout::FirstOnTarget(uint32_t worker, const PhaseShape& shape) const {
  if (shape.only_target > 0) return 0;
  const auto first = std::find(target_of_worker_.begin(), target_of_worker_.end(), target_of_worker_[worker]);
  return static_cast<uint32_t>(first - target_of_worker_.begin());
}

std::vector<v1::LanePlan> Layout::LanesOf(uint32_t worker, const v1::Operation& operation,
                                          const PhaseShape& shape) const {
  const bool shares_items = SharesItems(operation);
  const uint32_t owner = shares_items ? FirstOnTarget(worker, shape)
                         : operation.rotate_clients() ? RotatedOwner(worker)
                                                      : worker;
  const uint32_t count = shape.lanes_per_worker;
  // With only_target, all workers use that target.
  const bool together = shape.only_target > 0;
  const uint32_t place_on_target = together ? owner : place_on_target_[owner];
  const uint32_t workers_on_target = together ? worker_count() : workers_on_target_[owner];
  std::vector<v1::LanePlan> lanes;
  lanes.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    v1::LanePlan lane;
    lane.set_lane(worker * lanes_per_worker_ + i);
    lane.set_file_owner(owner * lanes_per_worker_ + (operation.first_lane_files() || shares_items ? 0 : i));
    lane.set_leaves_prefill(operation.first_lane_files() && i > 0);
    lane.set_target(together ? shape.only_target - 1 : target_of_worker_[owner]);
    lane.set_index_on_client(place_on_client_[worker] * count + i);
    if (shape.files.shared_file()) {
      const uint64_t place = uint64_t{place_on_target} * count + i;
      if (shape.files.interleaved()) {
        lane.set_interleave_index(static_cast<uint32_t>(place));
        lane.set_interleave_count(workers_on_target * count);
        lane.set_extent_offset_bytes(
            place * (shape.files.has_block_bytes() ? shape.files.block_bytes() : operation.record_bytes()));
      } else {
        lane.set_extent_offset_bytes(place * shape.files.bytes_per_lane());
      }
    }
    if (operation.mix_by_lane()) {
      // Readers are spread evenly over the lanes (and so over clients) instead of being the first ones, unless their
      // number was given.
      const uint32_t place = worker < first_of_servers_ ? worker : worker - first_of_servers_;
      const uint64_t n = uint64_t{place} * count + i, percent = operation.read_percent();
      const bool reads = operation.reader_lanes() > 0 ? n < operation.reader_lanes()
                                                      : (n + 1) * percent / 100 > n * percent / 100;
      lane.set_mix(reads ? v1::LANE_MIX_READER : v1::LANE_MIX_WRITER);
    }
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

}  // namespace iobench
