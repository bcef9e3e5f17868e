#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/explain/finders.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/host_delta.h"
#include "coordinator/analysis/phase/latency.h"

namespace iobench {
namespace {

constexpr double kFlat = 0.5;  // of the mean latency: no op is much faster than the others
constexpr uint64_t kMaxSmallBytes = 64 << 10;
constexpr double kHalfOutside = 0.5;    // of the requests in flight
constexpr double kLongPath = 0.5;       // of a request's time: then the way is what takes long
constexpr double kMinDelayMs = 1;       // per request: interrupts and schedulers may need this much
constexpr double kShortRequestMs = 2;   // threads of shorter ones may wait for a processor
constexpr double kMostlyBlocked = 0.7;  // of the lanes' time
constexpr double kSomeStill = 0.05;  // of the phase: then rates and latencies are not those of a steady load
constexpr double kDelayStrength = 0.605;  // stronger than too few requests (lanes), whose cause it is

// The lanes' time with ops in flight, as a share of what depth and time allow; near 1, lanes always wait for ops.
double WaitingShare(const v1::PhaseReport& report, const ExplainFacts& facts) {
  return OpsUnderWay(report, facts) / facts.in_flight;
}

// With one op in flight, the link then accounts for most of the op's time.
bool AnyLinkHalfFull(const v1::PhaseReport& report) {
  return std::any_of(
      report.clients().begin(), report.clients().end(), [](const v1::ClientPhaseReport& client) {
        const v1::HostDelta& host = client.host_delta();
        return std::any_of(host.nics().begin(), host.nics().end(),
                           [&](const v1::NicDelta& nic) { return NetworkPercent(host, nic) > 50; });
      });
}

// Ops that found no queue were much faster, so that additional ones would wait as well.
bool OpsQueue(const v1::PhaseReport& report, const ExplainFacts& facts) {
  return FastestOpUs(report, facts) < kFlat * ServiceTimesIn(report).mean();
}

bool PathIsLong(const v1::PhaseReport& report) {
  return PathRoundTripMs(report) >= kLongPath * RequestMs(report);
}

// What is known of where an op's time passes shows that others would not have to wait for it.
bool OthersWouldNotWait(const v1::PhaseReport& report, const ExplainFacts& facts, bool one_op) {
  if (!one_op && OpsQueue(report, facts)) return false;
  if (!report.has_nfs_rpc()) return true;
  // A link of unknown speed may need the time of a single op to carry its data.
  if (one_op &&
      (report.metadata() || (ClientLinksAreKnown(report) && report.record_bytes() <= kMaxSmallBytes)))
    return true;
  return ShareOutsideServers(report) < kHalfOutside || PathIsLong(report) ||
         (one_op && ClientLinksAreKnown(report) && std::isnan(ShareOutsideServers(report)));
}

}  // namespace

bool StoodStill(const ExplainFacts& facts) {
  return facts.over_time.stalled_share >= kSomeStill;
}

std::optional<FoundLimit> FindStalls(const v1::PhaseReport&, const ExplainFacts& facts, double share) {
  if (!(facts.over_time.stalled_share >= share)) return std::nullopt;
  return FoundLimit{std::max(0.6, std::min(1.0, facts.over_time.stalled_share)),
                    absl::StrFormat("stalls: no op of any lane ended for %s, %s of the phase",
                                    FormatSeconds(facts.over_time.stalled_s),
                                    PercentText(facts.over_time.stalled_share))};
}

std::optional<FoundLimit> FindServerDelay(const v1::PhaseReport& report, const ExplainFacts& facts,
                                          double share) {
  const std::optional<RequestsUnderWay> requests = RequestsOf(report);
  if (!requests.has_value() || !ClientsHaveRoom(report) || !ServersHaveRoom(report, false) ||
      StoodStill(facts) || SharesDirectory(report))
    return std::nullopt;
  if (!(RequestMs(report) >= kMinDelayMs) || !(BlockedShare(report, facts) >= kMostlyBlocked))
    return std::nullopt;
  const double waiting =
      WaitingThreads(report, facts, RequestMs(report) < kShortRequestMs) / requests->unanswered;
  if (!(waiting >= share) || !(ShareOutsideServers(report) < kHalfOutside)) return std::nullopt;
  for (const char* name : {"commit", "sync-writes", "locks", "nfsd-threads"}) {  // which say more
    if (FindByRule(name, report, facts).has_value()) return std::nullopt;
  }
  return FoundLimit{kDelayStrength,
                    absl::StrFormat("server delay: for %s of the time of a request, %s, a "
                                    "server thread was waiting, while nothing there was full",
                                    PercentText(std::min(1.0, waiting)), FormatSeconds(RequestMs(report) * 1e-3))};
}

std::optional<FoundLimit> FindNetworkDelay(const v1::PhaseReport& report, const ExplainFacts& facts,
                                           double share) {
  const double path_ms = PathRoundTripMs(report), request_ms = RequestMs(report);
  if (!(path_ms >= kMinDelayMs) || !(path_ms >= share * request_ms) || StoodStill(facts)) return std::nullopt;
  if (!ClientsHaveRoom(report) || !(BlockedShare(report, facts) >= kMostlyBlocked)) return std::nullopt;
  return FoundLimit{
      kDelayStrength,
      absl::StrFormat("network delay: the way to the servers and back takes %s of the %s of a "
                      "request, without a queue",
                      FormatSeconds(path_ms * 1e-3), FormatSeconds(request_ms * 1e-3))};
}

std::optional<FoundLimit> FindLanes(const v1::PhaseReport& report, const ExplainFacts& facts, double share) {
  if (report.engine() == "null" || HasMarkThatMeans(report, MarkMeans::kClientMemory) ||
      SharesDirectory(report))
    return std::nullopt;
  if (StoodStill(facts) || HasMark(report, mark_code::kStalled)) return std::nullopt;
  if (!report.changes().empty()) return std::nullopt;  // means of two levels are those of neither
  for (const char* name :
       {"slow-client", "slow-target", "packet-loss", "other-load", "read-ahead"}) {  // which more lanes do not change
    if (FindByRule(name, report, facts).has_value()) return std::nullopt;
  }
  const double waiting = WaitingShare(report, facts);
  // With two samples of one op each, "more" than the whole time is an error of the figures.
  if (!(waiting >= share && waiting <= 1.1) || !std::isfinite(facts.in_flight)) return std::nullopt;
  const bool one_op = facts.in_flight == 1 && !AnyClientFull(report) && !AnyLinkHalfFull(report);
  if (!one_op && !(ClientsHaveRoom(report) && ServersHaveRoom(report, true))) return std::nullopt;
  if (!OthersWouldNotWait(report, facts, one_op)) return std::nullopt;
  std::string evidence =
      absl::StrCat("too few lanes: ", FormatCount(facts.in_flight), facts.in_flight == 1 ? " op" : " ops",
                   " in flight, each taking ", FormatSeconds(ServiceTimesIn(report).mean() / 1e6));
  const double outside = ShareOutsideServers(report);
  if (std::isfinite(outside))
    absl::StrAppend(&evidence, ", ", PercentText(1 - outside), " of a request's time at the server");
  return FoundLimit{0.6 * std::min(1.0, waiting), std::move(evidence)};
}

}  // namespace iobench
