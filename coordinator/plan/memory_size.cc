// Sizes of files that depend on the clients' memory (-s 2xram).
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "coordinator/plan/layout.h"

namespace iobench {
namespace {

constexpr uint64_t kMaxSizedBytes = uint64_t{1} << 62;

// Every lane's data is a multiple of it, so that each of its files has whole records of every phase; 0: too large.
uint64_t GranuleOf(const v1::Plan& plan) {
  uint64_t granule = 1;
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const uint64_t record_bytes = assignment.operation().record_bytes();
      if (IsMetadata(assignment.operation()) || record_bytes == 0) continue;
      const uint64_t factor = record_bytes / std::gcd(granule, record_bytes);
      if (granule > kMaxSizedBytes / factor) return 0;
      granule *= factor;
    }
  }
  const uint64_t files = std::max(1u, plan.files().files_per_lane());
  return granule > kMaxSizedBytes / files ? 0 : granule * files;
}

}  // namespace

absl::Status SizeFilesByMemory(std::span<const ClientMemory> clients, v1::Plan& plan) {
  const uint32_t percent = plan.files().memory_percent();
  if (percent == 0) return absl::OkStatus();
  uint64_t smallest_bytes = UINT64_MAX;
  uint32_t fewest_lanes = UINT32_MAX;
  for (const ClientMemory& client : clients) {
    if (client.memory_bytes == 0) {
      return absl::InvalidArgumentError(
          "-s by memory: the memory of a client is unknown: give -s a size such as 64g");
    }
    smallest_bytes = std::min(smallest_bytes, client.memory_bytes);
    fewest_lanes = std::min(fewest_lanes, std::max(1u, client.lane_count));
  }
  const uint64_t granule = GranuleOf(plan);
  if (granule == 0 || granule > kMaxSizedBytes / 2 || smallest_bytes > kMaxSizedBytes / 2 / percent) {
    return absl::InvalidArgumentError(
        absl::StrCat("-s by memory: ", percent,
                     " % of the smallest client's memory is no possible size with these "
                     "record sizes: give -s a size"));
  }
  const uint64_t hundred_lanes = uint64_t{100} * fewest_lanes;
  const uint64_t wanted_bytes = (smallest_bytes * percent + hundred_lanes - 1) / hundred_lanes;
  const uint64_t granules = (wanted_bytes + granule - 1) / granule;
  plan.mutable_files()->set_bytes_per_lane(std::max<uint64_t>(1, granules) * granule);
  return absl::OkStatus();
}

}  // namespace iobench
