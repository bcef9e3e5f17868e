// cpu_bound and network_bound: the client, not the storage, may have set the pace.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/host_delta.h"
#include "coordinator/analysis/marks.h"

namespace iobench {
namespace {

constexpr double kBusyPercent = 95.0;
constexpr double kStolenPercent = 5.0;
constexpr double kShortestLoadSeconds = 0.1;
constexpr double kNetworkPercent = 95.0;

// Processors are counted in ticks of 10 ms: of less than ten of them nothing can be said, nor where nothing was done.
bool SaysLoad(const PhaseView& view) {
  return view.figures.duration_s >= kShortestLoadSeconds && view.figures.first_to_end != nullptr;
}

double OpsSeconds(const AlignedLane& lane) {
  return SecondsFrom(lane.ops_end - lane.first_op);
}

// Lanes that were told to wait (think time, a pace) may do so busily (-J): that says nothing about the ops.
double WaitsSeconds(const v1::LaneResult& lane) {
  return lane.between_s() - lane.data_s();
}

bool WaitsMostly(std::span<const AlignedLane* const> lanes) {
  double waits_s = 0, all_s = 0;
  for (const AlignedLane* lane : lanes) {
    if (!lane->started) continue;
    waits_s += WaitsSeconds(*lane->result);
    all_s += OpsSeconds(*lane);
  }
  return waits_s > all_s / 2;
}

// Of one processor, over all parts that the lane's CPU time was taken over. NaN: too short to say, or it mostly waited.
double LaneCpuPercent(const AlignedLane& lane) {
  if (!lane.started) return std::nan("");
  const v1::LaneResult& result = *lane.result;
  const double ops_s = OpsSeconds(lane);
  const double all_s = ops_s + result.fsync_s() + result.close_s();
  if (all_s < kShortestLoadSeconds || WaitsSeconds(result) > ops_s / 2) return std::nan("");
  return 100 * (result.cpu_user_s() + result.cpu_system_s()) / all_s;
}

const char* OrLargerRecords(const PhaseView& view) {
  return view.traits.metadata ? "" : ", a larger -r";
}

void AddBusyHost(const PhaseView& view, const v1::ClientPhaseReport& client, std::vector<v1::Mark>& marks) {
  const double own_share = client.own_cpu_percent() / client.cpu_percent();
  // In tens, so that the marks of clients that are alike read alike.
  const std::string busy =
      std::isfinite(own_share)
          ? absl::StrCat("its processors were over 95 % busy, about ",
                         std::min(100.0, 10 * std::round(own_share * 10)), " % of it with this run")
          : std::string("its processors were over 95 % busy");
  marks.push_back(MakeMark(
      "cpu_bound", client.host(), client.cpu_percent(), kBusyPercent,
      own_share < 0.5
          ? absl::StrCat(busy,
                         ", the rest with other processes or the kernel's own: see with top what else runs there, "
                         "stop it, and repeat")
          : absl::StrCat(busy, ", so the client may have set the pace, not the storage: use fewer lanes",
                         view.traits.metadata ? "" : " or a larger -r", " here, or more clients")));
}

void AddBusyLanes(const PhaseView& view, const v1::ClientPhaseReport& client,
                  std::span<const AlignedLane* const> lanes, std::vector<v1::Mark>& marks) {
  size_t busy_count = 0;
  double most_percent = 0;
  for (const AlignedLane* lane : lanes) {
    const double percent = LaneCpuPercent(*lane);
    if (!(percent > kBusyPercent)) continue;
    ++busy_count;
    most_percent = std::max(most_percent, percent);
  }
  if (busy_count == 0 || view.traits.null_engine) return;
  marks.push_back(MakeMark(
      "cpu_bound", client.host(), most_percent, kBusyPercent,
      absl::StrCat(busy_count, " of ", lanes.size(), lanes.size() == 1 ? " lane" : " lanes",
                   " kept one processor over 95 % busy, so the processor set the pace, not the storage: use "
                   "more lanes",
                   OrLargerRecords(view), " or more clients")));
}

// The fullest interface that the targets' traffic goes through; where nobody knows which, of all.
const v1::NicDelta* FullestNic(const PhaseView& view, const v1::HostDelta& host,
                               std::span<const AlignedLane* const> lanes) {
  const bool any_carries = std::any_of(host.nics().begin(), host.nics().end(),
                                       [](const v1::NicDelta& nic) { return nic.carries_targets(); });
  const bool over_network = std::any_of(lanes.begin(), lanes.end(), [&](const AlignedLane* lane) {
    const v1::TargetFacts* target = view.TargetOf(*lane);
    return target != nullptr && target->network();
  });
  const v1::NicDelta* fullest = nullptr;
  for (const v1::NicDelta& nic : host.nics()) {
    if (any_carries ? !nic.carries_targets() : !over_network) continue;
    if (!std::isfinite(NetworkPercent(host, nic))) continue;
    if (fullest == nullptr || NetworkPercent(host, nic) > NetworkPercent(host, *fullest)) fullest = &nic;
  }
  return fullest;
}

}  // namespace

void AddLoadMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                  std::span<const AlignedLane* const> lanes, std::vector<v1::Mark>& marks) {
  const v1::HostDelta& host = client.host_delta();
  if (SaysLoad(view)) {
    const bool others_load = client.own_cpu_percent() < client.cpu_percent() / 2;
    if (client.cpu_percent() > kBusyPercent && (others_load || !WaitsMostly(lanes))) {
      AddBusyHost(view, client, marks);
    } else {
      AddBusyLanes(view, client, lanes, marks);
    }
    if (const double percent = StealPercent(host); percent > kStolenPercent) {
      marks.push_back(
          MakeMark("cpu_bound", client.host(), percent, kStolenPercent,
                   "the hypervisor gave its processors to others (steal): use a client with processors of "
                   "its own, and repeat"));
    }
  }
  if (const v1::NicDelta* nic = FullestNic(view, host, lanes);
      nic != nullptr && NetworkPercent(host, *nic) >= kNetworkPercent) {
    marks.push_back(MakeMark(
        "network_bound", client.host(), NetworkPercent(host, *nic), kNetworkPercent,
        absl::StrCat("its network link ", nic->name(),
                     " is full: this is the link's speed; use more clients or a faster link")));
  }
}

}  // namespace iobench
