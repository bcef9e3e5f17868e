// cpu_bound and network_bound: the client may have limited the rate, not the storage.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/text/mark_codes.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/host_delta.h"

namespace iobench {
namespace {

constexpr double kBusyPercent = 95.0;
constexpr double kStolenPercent = 5.0;
constexpr double kShortestLoadSeconds = 0.1;
constexpr double kNetworkPercent = 95.0;

// CPU time is counted in ticks of 10 ms: fewer than ten of them are not significant, nor is a phase without any work.
bool SaysLoad(const PhaseView& view) {
  return view.figures.duration_s >= kShortestLoadSeconds && view.figures.first_to_end != nullptr;
}

double OpsSeconds(const AlignedLane& lane) {
  return SecondsFrom(lane.ops_end - lane.first_op);
}

// Lanes that must wait (think time, a pace) may busy-wait (-J), which says nothing about the ops.
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

// Percentage of one processor over all parts in which the lane's CPU time was measured, with the time in which it was
// ready to run if `with_delay`. NaN: too short, or it mostly waited as it was told.
double LaneCpuPercent(const AlignedLane& lane, bool with_delay) {
  if (!lane.started) return std::nan("");
  const v1::LaneResult& result = *lane.result;
  const double ops_s = OpsSeconds(lane);
  const double all_s = ops_s + result.fsync_s() + result.close_s();
  if (all_s < kShortestLoadSeconds || WaitsSeconds(result) > ops_s / 2) return std::nan("");
  return 100 * (result.cpu_user_s() + result.cpu_system_s() + (with_delay ? result.run_delay_s() : 0)) / all_s;
}

const char* OrLargerRecords(const PhaseView& view) {
  return view.traits.metadata ? "" : ", a larger -r";
}

void AddBusyHost(const PhaseView& view, const v1::ClientPhaseReport& client, std::vector<v1::Mark>& marks) {
  const double own_share = client.own_cpu_percent() / client.cpu_percent();
  // Rounded to tens, so that marks of similar clients have the same text.
  const std::string busy =
      std::isfinite(own_share)
          ? absl::StrCat("its processors were over 95 % busy, about ",
                         std::min(100.0, 10 * std::round(own_share * 10)), " % of that from this run")
          : std::string("its processors were over 95 % busy");
  marks.push_back(MakeMark(
      mark_code::kCpuBound, client.host(), client.cpu_percent(), kBusyPercent,
      absl::StrCat(busy, own_share < 0.5 ? ", the rest from other processes or the kernel itself"
                                         : ", so the client may be the bottleneck, not the storage"),
      own_share < 0.5 ? "check with top what else runs there, stop it, and repeat"
                      : absl::StrCat("use fewer lanes", view.traits.metadata ? "" : " or a larger -r",
                                     " here, or more clients")));
}

void AddBusyLanes(const PhaseView& view, const v1::ClientPhaseReport& client,
                  std::span<const AlignedLane* const> lanes, std::vector<v1::Mark>& marks) {
  const bool waited = WaitedShare(client) >= kWaitedShare;
  size_t busy_count = 0;
  double max_percent = 0;
  for (const AlignedLane* lane : lanes) {
    const double percent = LaneCpuPercent(*lane, waited);
    if (!(percent > kBusyPercent)) continue;
    ++busy_count;
    max_percent = std::max(max_percent, percent);
  }
  if (busy_count == 0 || view.traits.null_engine || view.traits.waits_busily) return;
  const std::string who =
      absl::StrCat(busy_count, " of ", lanes.size(), lanes.size() == 1 ? " lane" : " lanes");
  const char* const what =
      waited ? " ran or waited for a processor over 95 % of the time, because too few are left to them (affinity, cpuset, "
               "other programs), so processors are the bottleneck, not the storage"
             : " kept one processor over 95 % busy, so the processor is the bottleneck, not the storage";
  const std::string advice =
      waited ? absl::StrCat("give the run more processors, or use fewer lanes", OrLargerRecords(view))
             : absl::StrCat("use more lanes", OrLargerRecords(view), " or more clients");
  marks.push_back(MakeMark(mark_code::kCpuBound, client.host(), std::min(100.0, max_percent), kBusyPercent,
                           absl::StrCat(who, what), advice));
}

// Returns the busiest interface that carries the targets' traffic, or the busiest of all if that is unknown.
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
  std::optional<v1::Mark> quota = QuotaMark(client), io_limit = IoLimitMark(client);
  // However busy others keep the host: lanes that got a processor when they needed one were not held up.
  const bool held_up = !(WaitedShare(client) < kWaitedShare);
  const bool is_limited = (quota.has_value() && held_up) || io_limit.has_value();
  if (quota) marks.push_back(*std::move(quota));
  if (io_limit) marks.push_back(*std::move(io_limit));
  if (SaysLoad(view)) {
    const bool others_load = client.own_cpu_percent() < client.cpu_percent() / 2;
    if (is_limited) {
      // The limit held the lanes up, in calls or ready to run.
    } else if (client.cpu_percent() > kBusyPercent &&
               (others_load ? held_up : !WaitsMostly(lanes) && !view.traits.waits_busily)) {
      AddBusyHost(view, client, marks);
    } else {
      AddBusyLanes(view, client, lanes, marks);
    }
    if (const double percent = StealPercent(host); percent > kStolenPercent) {
      marks.push_back(MakeMark(
          mark_code::kCpuBound, client.host(), percent, kStolenPercent,
          "the hypervisor gave its processors to others (steal)",
          "use a client with dedicated processors, and repeat"));
    }
  }
  if (const v1::NicDelta* nic = FullestNic(view, host, lanes);
      nic != nullptr && NetworkPercent(host, *nic) >= kNetworkPercent) {
    marks.push_back(MakeMark(
        mark_code::kNetworkBound, client.host(), NetworkPercent(host, *nic), kNetworkPercent,
        absl::StrCat("its network link ", nic->name(),
                     " is saturated, so the rate is the link's")));
  }
}

}  // namespace iobench
