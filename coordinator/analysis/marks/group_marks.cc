// cpu_quota and io_limited: a control group of the client limited the rate, not the storage.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/host_delta.h"

namespace iobench {
namespace {

constexpr double kThrottledPercent = 1.0;
constexpr double kIoLimitPercent = 90.0;
constexpr double kShortestGroupSeconds = 0.1;  // one period of a quota

}  // namespace

std::string NameOfLimit(const v1::IoLimitDelta& limit) {
  const std::string rate = limit.ops() ? absl::StrCat(FormatCount(limit.limit_per_s()), " requests/s")
                                       : FormatBytesPerSecond(limit.limit_per_s());
  return absl::StrCat(rate, limit.writes() ? " of writes to " : " of reads from ", limit.device());
}

std::optional<v1::Mark> QuotaMark(const v1::ClientPhaseReport& client) {
  const v1::CgroupDelta& cgroup = client.host_delta().cgroup();
  const double percent = ThrottledPercent(client.host_delta());
  if (!(percent > kThrottledPercent) || cgroup.seconds() < kShortestGroupSeconds) return std::nullopt;
  return MakeMark(
      mark_code::kCpuQuota, client.host(), percent, kThrottledPercent,
      absl::StrCat("the CPU quota of its control group (the time of ", FormatCount(cgroup.cpu_processors()),
                   cgroup.cpu_processors() == 1 ? " processor" : " processors", ") stopped this run for ",
                   absl::StrFormat("%.0f", percent), " % of the phase"));
}

std::optional<v1::Mark> IoLimitMark(const v1::ClientPhaseReport& client) {
  const v1::HostDelta& host = client.host_delta();
  const v1::IoLimitDelta* const limit = FullestIoLimit(host);
  if (limit == nullptr || host.cgroup().seconds() < kShortestGroupSeconds) return std::nullopt;
  const double percent = IoLimitPercent(host, *limit);
  if (!(percent >= kIoLimitPercent)) return std::nullopt;
  return MakeMark(mark_code::kIoLimited, client.host(), percent, kIoLimitPercent,
                  absl::StrCat("its control group allows ", NameOfLimit(*limit),
                               ", and the run reached this limit"));
}

}  // namespace iobench
