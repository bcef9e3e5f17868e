#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/explain/finders.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/host_delta.h"
#include "coordinator/analysis/phase/latency.h"

namespace iobench {
namespace {

constexpr double kRoom = 0.70;
constexpr double kFull = 0.95;
constexpr double kHeldByServers = 0.5;  // of the ops in flight: then no client holds them up
constexpr uint64_t kMinCopyBytes = 64
                                   << 10;  // of a record: in smaller ones, the call costs as much as the copy
constexpr double kMinLeftInMemory = 0.5;   // of the bytes written: if fewer stayed, storage set the pace
constexpr double kShownShare = 0.005;      // of all bytes: less would not change a whole percentage

// The mark cpu_bound says that the whole client, one processor of a lane, or the hypervisor was the limit.
enum class CpuKind { kHost, kLane, kStolen };
CpuKind CpuKindOf(const v1::ClientPhaseReport& client, const v1::Mark& mark) {
  if (mark.value() == StealPercent(client.host_delta())) return CpuKind::kStolen;
  return mark.value() == client.cpu_percent() ? CpuKind::kHost : CpuKind::kLane;
}

// The clients with a mark of one code, and the one with the largest value.
struct LimitedClients {
  size_t count = 0;
  size_t took_part = 0;
  const v1::ClientPhaseReport* fullest = nullptr;  // null: fewer than half of those that took part are marked
  double percent = 0;
};
// `only`: of marks cpu_bound, those of this kind.
LimitedClients ClientsWithMark(const v1::PhaseReport& report, std::string_view code,
                               std::optional<CpuKind> only = std::nullopt) {
  LimitedClients limited;
  for (const v1::ClientPhaseReport& client : report.clients()) {
    limited.took_part += std::isfinite(client.ops_per_s());
    double percent = -1;
    for (const v1::Mark& mark : client.marks()) {
      if (mark.code() != code || !std::isfinite(mark.value())) continue;
      if (only.has_value() && CpuKindOf(client, mark) != *only) continue;
      percent = std::max(percent, mark.value());
    }
    if (percent < 0) continue;
    ++limited.count;
    if (percent <= limited.percent) continue;
    limited.fullest = &client;
    limited.percent = percent;
  }
  if (2 * limited.count < limited.took_part) limited.fullest = nullptr;
  return limited;
}

// Stronger the more clients are limited: 0.9 to 1.
FoundLimit FoundOnClients(const LimitedClients& limited, std::string evidence) {
  const double all = static_cast<double>(std::max<size_t>(1, limited.took_part));
  const double share = std::min(1.0, static_cast<double>(limited.count) / all);
  if (limited.took_part > 1)
    absl::StrAppend(&evidence, " (", limited.count, " of ", limited.took_part, " clients)");
  return {0.9 + 0.1 * share, std::move(evidence)};
}

// Ops that servers work on need no processor of a client, whatever else keeps it busy.
bool ServersHoldOps(const v1::PhaseReport& report, const ExplainFacts& facts) {
  const std::optional<ServerThreads> threads = ThreadsOf(report);
  return threads.has_value() && threads->busy >= kHeldByServers * OpsUnderWay(report, facts);
}

std::optional<FoundLimit> FindCpu(const v1::PhaseReport& report, const ExplainFacts& facts, CpuKind kind,
                                  double share) {
  const LimitedClients limited = ClientsWithMark(report, mark_code::kCpuBound, kind);
  if (limited.fullest == nullptr || limited.percent < 100 * share) return std::nullopt;
  if (kind != CpuKind::kStolen && FindByRule("think-time", report, facts).has_value())
    return std::nullopt;  // lanes think on their processors
  const bool others = limited.fullest->own_cpu_percent() < limited.percent / 2;
  if (kind == CpuKind::kHost && others && ServersHoldOps(report, facts)) return std::nullopt;
  const bool waited = WaitedShare(*limited.fullest) >= kWaitedShare;
  const char* what = kind == CpuKind::kLane && waited ? "too few processors for the lanes: "
                     : kind == CpuKind::kLane         ? "one processor per lane: "
                     : kind == CpuKind::kStolen       ? "CPU time stolen by the hypervisor: "
                     : others                         ? "client CPU, used mostly by others: "
                                                      : "client CPU: ";
  return FoundOnClients(limited,
                        absl::StrCat(what, limited.fullest->host(), " ", PercentText(limited.percent / 100)));
}

}  // namespace

std::string PercentText(double share) {
  return absl::StrCat(std::round(100 * share), " %");
}

bool AnyClientFull(const v1::PhaseReport& report) {
  return HasMarkOfFullClient(report) ||
         std::any_of(report.clients().begin(), report.clients().end(),
                     [](const v1::ClientPhaseReport& client) { return client.cpu_percent() > 100 * kFull; });
}

bool ClientsHaveRoom(const v1::PhaseReport& report) {
  return !report.clients().empty() && !AnyClientFull(report) &&
         std::all_of(
             report.clients().begin(), report.clients().end(), [](const v1::ClientPhaseReport& client) {
               const v1::HostDelta& host = client.host_delta();
               return client.cpu_percent() <= 100 * kRoom &&
                      std::none_of(host.nics().begin(), host.nics().end(), [&](const v1::NicDelta& nic) {
                        return NetworkPercent(host, nic) > 100 * kRoom;
                      });
             });
}

double CountedLanesSeconds(const v1::PhaseReport& report, const ExplainFacts& facts) {
  return report.lanes_wall_s() - facts.warmup_lanes_s;
}

double OpsUnderWay(const v1::PhaseReport& report, const ExplainFacts& facts) {
  const v1::Latency& latency = ServiceTimesIn(report);
  return latency.mean() * static_cast<double>(latency.count()) / 1e6 * report.lane_count() /
         CountedLanesSeconds(report, facts);
}

bool ClientLinksAreKnown(const v1::PhaseReport& report) {
  return std::all_of(
      report.clients().begin(), report.clients().end(), [](const v1::ClientPhaseReport& client) {
        const v1::HostDelta& host = client.host_delta();
        return std::any_of(host.nics().begin(), host.nics().end(),
                           [&](const v1::NicDelta& nic) { return std::isfinite(NetworkPercent(host, nic)); });
      });
}

std::optional<FoundLimit> FindPace(const v1::PhaseReport& report, const ExplainFacts& facts, double) {
  if (!facts.all_paced) return std::nullopt;
  if (report.has_open_loop()) {
    if (!(report.open_loop().done_percent() > 0) || HasMark(report, mark_code::kGeneratorBound))
      return std::nullopt;
    return FoundLimit{1, "the requested rate"};
  }
  if (!(report.paced_ops_per_s() > 0) || HasMark(report, mark_code::kPaceMissed)) return std::nullopt;
  return FoundLimit{1, "the requested pace"};
}

std::optional<FoundLimit> FindCpuQuota(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  const LimitedClients limited = ClientsWithMark(report, mark_code::kCpuQuota);
  if (limited.fullest == nullptr) return std::nullopt;
  const v1::ClientPhaseReport& client = *limited.fullest;
  const double known = WaitedShare(client);
  const double waited = std::isfinite(known) ? known : limited.percent / 100;
  if (!(waited >= share)) return std::nullopt;
  const double processors = client.host_delta().cgroup().cpu_processors();
  return FoundOnClients(
      limited, absl::StrCat("CPU quota of its control group: ", client.host(), ", ", FormatCount(processors),
                            processors == 1 ? " processor" : " processors", ", throttled for ",
                            PercentText(limited.percent / 100), " of the phase"));
}

std::optional<FoundLimit> FindIoLimit(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  const LimitedClients limited = ClientsWithMark(report, mark_code::kIoLimited);
  if (limited.fullest == nullptr || limited.percent < 100 * share) return std::nullopt;
  const v1::IoLimitDelta* const limit = FullestIoLimit(limited.fullest->host_delta());
  if (limit == nullptr) return std::nullopt;
  return FoundOnClients(limited, absl::StrCat("I/O limit of its control group: ", limited.fullest->host(),
                                              ", ", NameOfLimit(*limit)));
}

std::optional<FoundLimit> FindClientCpu(const v1::PhaseReport& report, const ExplainFacts& facts,
                                        double share) {
  return FindCpu(report, facts, CpuKind::kHost, share);
}

std::optional<FoundLimit> FindOneProcessor(const v1::PhaseReport& report, const ExplainFacts& facts,
                                           double share) {
  return FindCpu(report, facts, CpuKind::kLane, share);
}

std::optional<FoundLimit> FindStolenCpu(const v1::PhaseReport& report, const ExplainFacts& facts,
                                        double share) {
  return FindCpu(report, facts, CpuKind::kStolen, share);
}

// Says what keeps the processors busy, so its rule comes before those for processors.
std::optional<FoundLimit> FindMemoryCopy(const v1::PhaseReport& report, const ExplainFacts& facts,
                                         double share) {
  const v1::ReadSources& sources = report.read_sources();
  const bool from_cache = sources.asked_bytes() > 0 && static_cast<double>(sources.cache_bytes()) >=
                                                           kFull * static_cast<double>(sources.asked_bytes());
  if (report.metadata() || report.record_bytes() < kMinCopyBytes) return std::nullopt;
  if (report.mpi_io().collective()) return std::nullopt;  // ranks wait for each other on their processors
  if (!from_cache && !HasMarkOfMemory(report, MemoryPart::kFiles)) return std::nullopt;
  const double in_ops = OpsUnderWay(report, facts) / report.lane_count();
  const double on_processor =
      (report.lanes_cpu_user_s() + report.lanes_cpu_system_s()) / report.lanes_wall_s();
  // Lanes that share full processors wait for them, so their time in ops counts. Otherwise, the least possible overlap
  // of time in ops and time on a processor counts; the kernel's split into user and system time would say more, but
  // some virtual machines count all of it as user time.
  const bool full = ClientsWithMark(report, mark_code::kCpuBound).fullest != nullptr;
  const double copying = full ? in_ops : in_ops + on_processor - 1;
  if (!(copying >= share)) return std::nullopt;
  return FoundLimit{1, absl::StrCat("memory copy: for ", PercentText(std::min(1.0, copying)),
                                    " of the lanes' time a processor moved records from or to memory")};
}

std::optional<FoundLimit> FindClientNetwork(const v1::PhaseReport& report, const ExplainFacts&,
                                            double share) {
  const LimitedClients limited = ClientsWithMark(report, mark_code::kNetworkBound);
  if (limited.fullest == nullptr || limited.percent < 100 * share) return std::nullopt;
  const v1::HostDelta& host = limited.fullest->host_delta();
  std::string evidence =
      absl::StrCat("network of ", limited.fullest->host(), ": ", PercentText(limited.percent / 100));
  for (const v1::NicDelta& nic : host.nics()) {
    if (NetworkPercent(host, nic) != limited.percent) continue;
    absl::StrAppend(&evidence, " of ", nic.name());
    break;
  }
  return FoundOnClients(limited, std::move(evidence));
}

std::optional<FoundLimit> FindCache(const v1::PhaseReport& report, const ExplainFacts& facts, double share) {
  // Weaker than the limits of processors, which a read from memory uses up.
  constexpr double kStrength = 0.85;
  const auto read = static_cast<double>(report.read_sources().asked_bytes());
  const auto buffered = static_cast<double>(report.written_bytes());
  const double written = std::max(facts.written_bytes, buffered);
  const double stayed =
      report.has_reached_bytes() ? buffered - static_cast<double>(report.reached_bytes()) : 0;
  const double in_memory = static_cast<double>(report.read_sources().cache_bytes()) + stayed;
  if (!(in_memory > 0) || in_memory < share * read + kMinLeftInMemory * written) return std::nullopt;
  const double of_all = in_memory / (read + written);
  // Some of the others may have stayed in it, too: without a counter, or on a file system in memory.
  const double uncounted = written - buffered + static_cast<double>(report.read_sources().unknown_bytes());
  const char* const bound = uncounted >= kShownShare * (read + written) ? "at least " : "";
  const char* const how = written == 0 ? " of the bytes read came from it"
                          : read == 0  ? " of the bytes written did not leave it"
                                       : " of the bytes read and written came from it or did not leave it";
  return FoundLimit{kStrength * of_all,
                    absl::StrCat("the clients' memory: ", bound, PercentText(of_all), how)};
}

std::optional<FoundLimit> FindDataWork(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  const v1::RegionSeconds& regions = report.regions_s();
  const double of_ops = report.data_s() / (regions.ops() + regions.fsync() + regions.close());
  if (!(of_ops >= share) || !std::isfinite(of_ops)) return std::nullopt;
  return FoundLimit{
      of_ops, absl::StrCat("generating and checking data: ", PercentText(of_ops), " of the lanes' time")};
}

}  // namespace iobench
