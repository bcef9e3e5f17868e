#include "coordinator/analysis/limited_by.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/host_delta.h"

namespace iobench {
namespace {

bool KeptItsPace(const PhaseView& view, const v1::PhaseReport& report) {
  const auto& assignments = view.phase.phase().assignments();
  const bool all_paced =
      !assignments.empty() &&
      std::all_of(assignments.begin(), assignments.end(), [](const v1::Assignment& assignment) {
        return assignment.operation().between().ops_per_s() > 0;
      });
  return all_paced && report.paced_ops_per_s() > 0 && !HasMark(report, "pace_missed");
}

// The clients with a mark of one code, and the one with the largest value.
struct Limited {
  size_t count = 0;
  const v1::ClientPhaseReport* fullest = nullptr;
  double percent = 0;
};
Limited LimitedClients(const v1::PhaseReport& report, std::string_view code) {
  Limited limited;
  for (const v1::ClientPhaseReport& client : report.clients()) {
    double percent = -1;
    for (const v1::Mark& mark : client.marks()) {
      if (mark.code() == code && std::isfinite(mark.value())) percent = std::max(percent, mark.value());
    }
    if (percent < 0) continue;
    ++limited.count;
    if (percent <= limited.percent) continue;
    limited.fullest = &client;
    limited.percent = percent;
  }
  return limited;
}

std::string Percent(double percent) {
  return absl::StrCat(std::round(percent), " %");
}

// The same mark says that the whole client, one processor of a lane, or the hypervisor was the limit.
std::string CpuClause(const v1::ClientPhaseReport& client, double percent) {
  if (percent == client.cpu_percent()) {
    const bool others = client.own_cpu_percent() < percent / 2;
    return absl::StrCat(others ? "client CPU, used mostly by others: " : "client CPU: ", client.host(), " ",
                        Percent(percent));
  }
  if (percent == StealPercent(client.host_delta()))
    return absl::StrCat("CPU time stolen by the hypervisor: ", client.host(), " ", Percent(percent));
  return absl::StrCat("one processor per lane: ", client.host(), " ", Percent(percent));
}

std::string NetworkClause(const v1::ClientPhaseReport& client, double percent) {
  for (const v1::NicDelta& nic : client.host_delta().nics()) {
    if (NetworkPercent(client.host_delta(), nic) == percent)
      return absl::StrCat("network of ", client.host(), ": ", Percent(percent), " of ", nic.name());
  }
  return absl::StrCat("network of ", client.host(), ": ", Percent(percent));
}

}  // namespace

std::string LimitedBy(const PhaseView& view, const v1::PhaseReport& report) {
  if (KeptItsPace(view, report)) return "the requested pace";
  const auto took_part =
      std::count_if(report.clients().begin(), report.clients().end(),
                    [](const v1::ClientPhaseReport& client) { return std::isfinite(client.ops_per_s()); });
  const Limited by_cpu = LimitedClients(report, "cpu_bound");
  const Limited by_network = LimitedClients(report, "network_bound");
  const bool network = by_network.count > by_cpu.count;
  const Limited& limited = network ? by_network : by_cpu;
  if (limited.fullest == nullptr || 2 * limited.count < static_cast<size_t>(took_part)) return "";
  const std::string clause = network ? NetworkClause(*limited.fullest, limited.percent)
                                     : CpuClause(*limited.fullest, limited.percent);
  if (took_part <= 1) return clause;
  return absl::StrCat(clause, " (", limited.count, " of ", took_part, " clients)");
}

}  // namespace iobench
