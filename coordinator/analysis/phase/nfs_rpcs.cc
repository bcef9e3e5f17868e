#include "coordinator/analysis/phase/nfs_rpcs.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "common/not_a_number.h"

namespace iobench {
namespace {

constexpr const char* kKinds[] = {"READ", "WRITE", "COMMIT"};

double Mean(double sum, uint64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : kNaN;
}

// Returns the sum from which a mean was computed; 0 if count is 0, where the mean is NaN.
double Total(double mean, uint64_t count) {
  return count > 0 ? mean * static_cast<double>(count) : 0;
}

}  // namespace

std::optional<v1::NfsRpcReport> NfsRpcsOf(const v1::HostDelta& host,
                                          const std::map<uint32_t, std::string>& mount_of_target) {
  if (host.nfs().empty()) return std::nullopt;
  v1::NfsRpcReport report;
  double queue_ms = 0, round_trip_ms = 0;
  std::set<std::string> seen_mounts;
  for (const auto& [target, nfs] : host.nfs()) {
    const auto mount = mount_of_target.find(target);
    const std::string name = mount == mount_of_target.end() || mount->second.empty()
                                 ? absl::StrCat("target ", target)
                                 : mount->second;
    if (!seen_mounts.insert(name).second) continue;
    for (const char* const kind : kKinds) {
      const auto found = nfs.ops().find(kind);
      if (found == nfs.ops().end()) continue;
      const v1::NfsOpDelta& op = found->second;
      report.set_rpcs(report.rpcs() + op.ops());
      queue_ms += static_cast<double>(op.queue_ms());
      round_trip_ms += static_cast<double>(op.rtt_ms());
      const uint64_t again = op.transmissions() > op.ops() ? op.transmissions() - op.ops() : 0;
      report.set_retransmissions(report.retransmissions() + again);
      report.set_major_timeouts(report.major_timeouts() + op.major_timeouts());
    }
  }
  report.set_queue_ms(Mean(queue_ms, report.rpcs()));
  report.set_round_trip_ms(Mean(round_trip_ms, report.rpcs()));
  return report;
}

v1::NfsRpcReport Sum(const v1::NfsRpcReport& a, const v1::NfsRpcReport& b) {
  v1::NfsRpcReport sum;
  sum.set_rpcs(a.rpcs() + b.rpcs());
  sum.set_queue_ms(Mean(Total(a.queue_ms(), a.rpcs()) + Total(b.queue_ms(), b.rpcs()), sum.rpcs()));
  sum.set_round_trip_ms(
      Mean(Total(a.round_trip_ms(), a.rpcs()) + Total(b.round_trip_ms(), b.rpcs()), sum.rpcs()));
  sum.set_retransmissions(a.retransmissions() + b.retransmissions());
  sum.set_major_timeouts(a.major_timeouts() + b.major_timeouts());
  return sum;
}

}  // namespace iobench
