#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/op.h"
#include "common/text/number_words.h"
#include "common/text/units.h"
#include "coordinator/analysis/explain/finders.h"
#include "coordinator/analysis/phase/latency.h"

namespace iobench {
namespace {

constexpr double kFewSlots = 16;       // with more requests than these in flight, a server is busy
constexpr double kFullTransfer = 0.9;  // of rsize or wsize
constexpr double kFullSlots = 0.8;     // of the most in use: a slot is idle from a reply to the next request
constexpr double kMinSeconds = 1;      // in shorter phases, bursts at the beginning and the end form a queue
constexpr double kBlocked = 0.9;   // of the lanes' time: they wait for requests, and generate none meanwhile
constexpr double kMostTime = 0.7;  // of all requests
// A cause of long requests is weaker than one that makes them queue, and stronger than too few requests (lanes).
constexpr double kLongRequests = 0.61;
constexpr double kMinQueueMs =
    20;  // per request: a few MiB that are sent at once, as by one op, queue as well
constexpr double kMinQueue = 0.3;    // of the time of requests, before they are sent
constexpr double kOverheadMs = 2;    // per request: interrupts and schedulers may need this much
constexpr double kMinQueuedOps = 4;  // in flight: with fewer, the fastest op is hardly faster than the mean
constexpr double kQueuedOverIdle = 4;
constexpr double kMinSeen =
    0.8;  // of the clients' requests, seen by samplers; intervals at either end are partial
constexpr double kMinCommits = 0.1;  // per WRITE: fewer come from the ends of files
// The kernel truncates each time to ms: only many short requests, or fewer long ones, say something.
constexpr uint64_t kMinRpcs = 100;
constexpr uint64_t kMinLongRpcs = 20;
constexpr uint64_t kMinLostSegments = 5;  // fewer are chance
constexpr double kLongRpcMs = 10;

// Summed over all requests of a kind, in ms.
double ExecuteMs(const v1::NfsKindReport& kind) {
  return std::isfinite(kind.execute_ms()) ? kind.execute_ms() * static_cast<double>(kind.rpcs()) : 0;
}

double QueueMs(const v1::NfsKindReport& kind) {
  return std::isfinite(kind.queue_ms()) ? kind.queue_ms() * static_cast<double>(kind.rpcs()) : 0;
}

double AllExecuteMs(const v1::NfsRpcReport& rpc) {
  double all = 0;
  for (const auto& [name, kind] : rpc.kinds()) all += ExecuteMs(kind);
  return all;
}

// Share of all request time. NaN: there is none.
double TimeShare(const v1::NfsRpcReport& rpc, std::initializer_list<const char*> names) {
  double of_names = 0;
  for (const char* name : names) {
    if (const auto kind = rpc.kinds().find(name); kind != rpc.kinds().end())
      of_names += ExecuteMs(kind->second);
  }
  return of_names / AllExecuteMs(rpc);
}

double QueueShare(const v1::NfsRpcReport& rpc) {
  double queue = 0;
  for (const auto& [name, kind] : rpc.kinds()) queue += QueueMs(kind);
  return queue / AllExecuteMs(rpc);
}

double MeanQueueMs(const v1::NfsRpcReport& rpc) {
  return QueueShare(rpc) * AllExecuteMs(rpc) / static_cast<double>(rpc.all_rpcs());
}

bool SaysMuch(const v1::PhaseReport& report) {
  if (!report.has_nfs_rpc()) return false;
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  return rpc.all_rpcs() >= kMinRpcs ||
         (rpc.all_rpcs() >= kMinLongRpcs &&
          AllExecuteMs(rpc) >= kLongRpcMs * static_cast<double>(rpc.all_rpcs()));
}

// TCP measured the way when nothing waited on it.
bool TcpShowsQueue(const v1::PhaseReport& report) {
  return RequestMs(report) >= kQueuedOverIdle * PathRoundTripMs(report);
}

// The fastest op found no queue; the others waited for those before them. On an idle path, most ops would be as fast as
// the fastest; on a distant one, none would be fast.
bool LatencyShowsQueue(const v1::PhaseReport& report, const ExplainFacts& facts) {
  const v1::Latency& latency = ServiceTimesIn(report);
  const double fastest_us = FastestOpUs(report, facts);
  return facts.in_flight >= kMinQueuedOps && fastest_us <= latency.mean() / kQueuedOverIdle &&
         latency.p50() >= kQueuedOverIdle * fastest_us;
}

}  // namespace

double MeanSeconds(const v1::PhaseReport& report) {
  double sum = 0, count = 0;
  for (const v1::ClientPhaseReport& client : report.clients()) {
    if (!(client.host_delta().seconds() > 0)) continue;
    sum += client.host_delta().seconds();
    ++count;
  }
  return sum / count;
}

double BlockedShare(const v1::PhaseReport& report, const ExplainFacts& facts) {
  const double depth = std::isfinite(facts.in_flight) ? facts.in_flight / report.lane_count() : 1;
  const double flush_s = report.lane_count() * (report.regions_s().fsync() + report.regions_s().close());
  const double counted_s = CountedLanesSeconds(report, facts);
  const double ops_s = OpsUnderWay(report, facts) * counted_s / report.lane_count() / depth;
  return (ops_s + flush_s) / counted_s;
}

double FastestOpUs(const v1::PhaseReport& report, const ExplainFacts& facts) {
  const double min_us = ServiceTimesIn(report).min();
  const double first_us = facts.over_time.first_op_us;
  const double fastest_us = min_us > 0 ? min_us : std::numeric_limits<double>::infinity();
  return first_us > 0 ? std::min(first_us, fastest_us) : fastest_us;
}

double PathRoundTripMs(const v1::PhaseReport& report) {
  double sum = 0;
  for (const v1::ClientPhaseReport& client : report.clients()) {
    double least = std::nan("");
    for (const v1::TcpConnectionDelta& connection : client.host_delta().server_connections()) {
      const double ms = connection.smallest_round_trip_ms();
      if (ms > 0 && !(least <= ms)) least = ms;
    }
    sum += least;
  }
  return report.clients().empty() ? std::nan("") : sum / report.clients_size();
}

double RequestMs(const v1::PhaseReport& report) {
  if (!SaysMuch(report)) return std::nan("");
  double sum_ms = 0, count = 0;
  for (const auto& [name, kind] : report.nfs_rpc().kinds()) {
    if (!std::isfinite(kind.round_trip_ms())) continue;
    sum_ms += kind.round_trip_ms() * static_cast<double>(kind.rpcs());
    count += static_cast<double>(kind.rpcs());
  }
  return sum_ms / count;
}

std::optional<RequestsUnderWay> RequestsOf(const v1::PhaseReport& report) {
  const double ms = 1e3 * MeanSeconds(report);
  if (!SaysMuch(report) || !(ms > 0)) return std::nullopt;
  RequestsUnderWay requests;
  for (const auto& [name, kind] : report.nfs_rpc().kinds()) {
    requests.unsent += QueueMs(kind) / ms;
    if (std::isfinite(kind.round_trip_ms()))
      requests.unanswered += kind.round_trip_ms() * static_cast<double>(kind.rpcs()) / ms;
  }
  return requests;
}

double ShareOutsideServers(const v1::PhaseReport& report) {
  const std::optional<RequestsUnderWay> requests = RequestsOf(report);
  const std::optional<ServerThreads> threads = ThreadsOf(report);
  if (!requests.has_value() || !threads.has_value() || !(requests->unanswered > 0)) return std::nan("");
  const double sent_per_s = static_cast<double>(report.nfs_rpc().all_rpcs()) / MeanSeconds(report);
  if (threads->requests_per_s < kMinSeen * sent_per_s) return std::nan("");
  return 1 - std::min(1.0, threads->busy / requests->unanswered);
}

std::optional<FoundLimit> FindLoss(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  constexpr double kStrength = 0.8;
  uint64_t sent = 0, again = 0;
  for (const v1::ClientPhaseReport& client : report.clients()) {
    sent += client.transport().sent_segments();
    again += client.transport().retransmitted_segments();
  }
  const double of_segments = static_cast<double>(again) / static_cast<double>(std::max<uint64_t>(1, sent));
  if (sent >= kMinRpcs && again >= kMinLostSegments && of_segments >= share) {
    return FoundLimit{kStrength, absl::StrFormat("lost packets: %.1f %% of TCP's segments were retransmitted",
                                                 100 * of_segments)};
  }
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  if (rpc.rpcs() < kMinRpcs) return std::nullopt;
  const double of_rpcs = static_cast<double>(rpc.retransmissions()) / static_cast<double>(rpc.rpcs());
  if (of_rpcs < share) return std::nullopt;
  return FoundLimit{
      kStrength,
      absl::StrFormat("lost or late requests: %.1f %% of READ, WRITE and COMMIT were retransmitted",
                      100 * of_rpcs)};
}

// Slots of a session (NFSv4.1) leave no backlog: their requests wait before they ask for a slot of the connection.
std::optional<FoundLimit> FindSlots(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  const std::optional<RequestsUnderWay> requests = RequestsOf(report);
  if (!requests.has_value() || rpc.connections() == 0) return std::nullopt;
  const double waiting = QueueShare(rpc);
  const double used = requests->unanswered / rpc.connections();
  // Where many requests are in flight, a queue before them shows a slow server rather than a small table.
  const bool few = used <= kFewSlots && (!rpc.has_max_slots() || rpc.max_slots() <= kFewSlots);
  // Requests outside of a session, such as those of a mount, take a slot of the connection beside those of the session.
  const bool full = rpc.backlog() >= 1 || (rpc.has_max_slots() && rpc.max_slots() > 1 &&
                                           used >= kFullSlots * static_cast<double>(rpc.max_slots() - 1));
  if (!(waiting >= share) || !full || !few || requests->unsent < 1) return std::nullopt;
  std::string evidence = absl::StrFormat("RPC slots: %.1f requests waited for one", requests->unsent);
  if (rpc.has_max_slots()) absl::StrAppend(&evidence, " of ", rpc.max_slots());
  absl::StrAppend(&evidence, ", ", PercentText(waiting), " of their time");
  return FoundLimit{0.7 + 0.25 * std::min(1.0, waiting), std::move(evidence)};
}

std::optional<FoundLimit> FindNetwork(const v1::PhaseReport& report, const ExplainFacts& facts,
                                      double share) {
  if (!ClientsHaveRoom(report) || !ServersHaveRoom(report, true) || MeanSeconds(report) < kMinSeconds)
    return std::nullopt;
  if (StoodStill(facts)) return std::nullopt;
  const double outside = ShareOutsideServers(report);
  if (!(outside >= share) || !(BlockedShare(report, facts) >= kBlocked)) return std::nullopt;
  const RequestsUnderWay requests = *RequestsOf(report);
  const double each_ms = AllExecuteMs(report.nfs_rpc()) / static_cast<double>(report.nfs_rpc().all_rpcs());
  if (each_ms * outside < kOverheadMs) return std::nullopt;
  if (!(QueueShare(report.nfs_rpc()) >= kMinQueue && MeanQueueMs(report.nfs_rpc()) >= kMinQueueMs) &&
      !LatencyShowsQueue(report, facts) && !TcpShowsQueue(report))
    return std::nullopt;
  // These limits make requests wait in the same way.
  for (const char* name : {"slots", "one-connection", "slow-client", "slow-target"}) {
    if (FindByRule(name, report, facts).has_value()) return std::nullopt;
  }
  return FoundLimit{
      outside, absl::StrFormat("network: of %s unanswered requests, server threads were working on %.1f",
                               FormatSignificant(requests.unanswered, 3), ThreadsOf(report)->busy)};
}

std::optional<FoundLimit> FindOneConnection(const v1::PhaseReport& report, const ExplainFacts&,
                                            double share) {
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  if (!SaysMuch(report) || MeanSeconds(report) < kMinSeconds) return std::nullopt;
  if (!ClientsHaveRoom(report) || !ServersHaveRoom(report, true) || !ClientLinksAreKnown(report) ||
      !ServerLinksAreKnown(report))
    return std::nullopt;
  const bool one_each =
      std::all_of(report.clients().begin(), report.clients().end(),
                  [](const v1::ClientPhaseReport& client) { return client.nfs_rpc().connections() == 1; });
  const double waiting = QueueShare(rpc);
  // A session with all slots in use looks the same, except for the number of requests in flight.
  const bool slots_full =
      !rpc.has_max_slots() || rpc.in_flight() >= kFullTransfer * static_cast<double>(rpc.max_slots());
  if (!one_each || slots_full || !(waiting >= share) || rpc.backlog() >= 1) return std::nullopt;
  if (MeanQueueMs(rpc) < kMinQueueMs) return std::nullopt;
  return FoundLimit{waiting, absl::StrCat("one connection per client: requests waited to be sent for ",
                                          PercentText(waiting), " of their time")};
}

std::optional<FoundLimit> FindTransferSize(const v1::PhaseReport& report, const ExplainFacts&, double bytes) {
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  if (!SaysMuch(report)) return std::nullopt;
  struct Side {
    const char* option;
    const char* request;
    std::optional<uint64_t> size;
    double per_rpc;
  };
  const Side sides[] = {
      {"rsize", "READ", rpc.has_rsize_bytes() ? std::optional(rpc.rsize_bytes()) : std::nullopt,
       rpc.read_bytes_per_rpc()},
      {"wsize", "WRITE", rpc.has_wsize_bytes() ? std::optional(rpc.wsize_bytes()) : std::nullopt,
       rpc.write_bytes_per_rpc()}};
  for (const Side& side : sides) {
    if (!side.size.has_value() || static_cast<double>(*side.size) > bytes) continue;
    if (report.record_bytes() <= *side.size) continue;
    const double share = TimeShare(rpc, {side.request});
    // Requests that take this long wait for something else: a link, a disk.
    if (share > 0 && rpc.kinds().at(side.request).round_trip_ms() >= kLongRpcMs) continue;
    if (!(side.per_rpc >= kFullTransfer * static_cast<double>(*side.size)) || !(share >= 0.5)) continue;
    return FoundLimit{
        0.75 * std::min(1.0, share),
        absl::StrCat(side.option, ": each ", side.request, " moves only ", FormatBytes(side.per_rpc),
                     ", records have ", FormatBytes(static_cast<double>(report.record_bytes())))};
  }
  return std::nullopt;
}

std::optional<FoundLimit> FindCommit(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  if (!SaysMuch(report) || !(rpc.commits_per_write() >= kMinCommits)) return std::nullopt;
  const double of_time = TimeShare(rpc, {"COMMIT"});
  if (!(of_time >= share)) return std::nullopt;
  return FoundLimit{kLongRequests + 0.3 * of_time,
                    absl::StrFormat("COMMIT: %s per WRITE, %s of all request time", FormatSignificant(rpc.commits_per_write(), 2),
                                    PercentText(of_time))};
}

// Running threads do not indicate a disk, so the servers' processor time is subtracted.
std::optional<FoundLimit> FindSyncWrites(const v1::PhaseReport& report, const ExplainFacts& facts,
                                         double share) {
  const std::optional<RequestsUnderWay> requests = RequestsOf(report);
  const auto write = report.nfs_rpc().kinds().find("WRITE");
  if (StoodStill(facts) || !facts.sync_writes || !requests.has_value() ||
      write == report.nfs_rpc().kinds().end())
    return std::nullopt;
  if (!(TimeShare(report.nfs_rpc(), {"WRITE", "COMMIT"}) >= kMostTime)) return std::nullopt;
  const bool short_writes = write->second.round_trip_ms() < kOverheadMs;
  const double waiting = WaitingThreads(report, facts, short_writes) / requests->unanswered;
  if (!(waiting >= share) || !(BlockedShare(report, facts) >= kBlocked)) return std::nullopt;
  if (FindByRule("commit", report, facts).has_value()) return std::nullopt;  // which says the same
  return FoundLimit{
      kLongRequests + 0.1 * std::min(1.0, waiting),
      absl::StrFormat(
          "synchronous writes: for %s of the requests in flight, a server thread was waiting for a disk; each WRITE took %s",
          PercentText(std::min(1.0, waiting)), FormatSeconds(write->second.execute_ms() * 1e-3))};
}

namespace {

// The time that all lanes together were in flush calls: between ops, between passes and at the end.
double CallSeconds(const v1::PhaseReport& report) {
  double us = 0;
  for (const auto& [name, kind] : report.by_kind()) {
    const v1::Latency& latency = kind.latency_us();
    for (int i = 0; i < kOpKindCount; ++i) {
      const auto call = static_cast<OpKind>(i);
      if (kFlushCalls.Has(call) && name == NameOf(call)) us += latency.mean() * static_cast<double>(latency.count());
    }
  }
  return us / 1e6;
}

}  // namespace

std::optional<FoundLimit> FindFlush(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  if (report.has_nfs_rpc() || report.metadata())
    return std::nullopt;  // NFS moves the data itself in these calls
  const v1::RegionSeconds& regions = report.regions_s();
  const double at_end_s = regions.fsync() + regions.close();
  const double flush_s = std::max(at_end_s, CallSeconds(report) / report.lane_count());  // also between ops
  const double of_time = flush_s / (regions.ops() + at_end_s);
  if (!(of_time >= share)) return std::nullopt;
  return FoundLimit{
      of_time, absl::StrCat("flushing: ", PercentText(of_time), " of the lanes' time in flush calls and close")};
}

std::optional<FoundLimit> FindLocks(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  if (!SaysMuch(report)) return std::nullopt;
  const double of_time = TimeShare(report.nfs_rpc(), {"LOCK", "LOCKT", "LOCKU"});
  if (!(of_time >= share)) return std::nullopt;
  return FoundLimit{of_time, absl::StrCat("locks: ", PercentText(of_time), " of all request time")};
}

}  // namespace iobench
