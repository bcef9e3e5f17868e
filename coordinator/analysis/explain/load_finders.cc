#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/units.h"
#include "coordinator/analysis/explain/finders.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/analysis/phase/host_delta.h"
#include "coordinator/analysis/phase/latency.h"

namespace iobench {
namespace {

constexpr double kMaxSkewPercent = 10;   // of the phase: a larger skew may make a client look slower
constexpr double kMinLaneOps = 20;       // mean over lanes: with fewer, rates differ by chance
constexpr double kMinAtWorkSeconds = 1;  // with all lanes at work
constexpr double kMaxStalled = 0.1;  // of the time, and …
constexpr double kMaxLost = 0.01;    // … of segments: these explain a slow client
constexpr double kHalfTime = 0.5;    // of the lanes'
constexpr double kMaxOnProcessor = 0.5;  // of the lanes' time; copies to memory need a processor
constexpr double kNearlyRsize = 0.9;     // of rsize
constexpr double kNearWindow = 1.1;      // of the read-ahead
constexpr double kMinPerS = 10;          // requests of others: fewer are housekeeping
constexpr double kMinBytesPerS = 100e3;

size_t LanesOf(const v1::ClientPhaseReport& client) {
  size_t lanes = 0;
  for (const v1::WorkerPhaseReport& worker : client.workers()) {
    lanes += static_cast<size_t>(
        std::count_if(worker.lanes().begin(), worker.lanes().end(),
                      [](const v1::LanePhaseReport& lane) { return !lane.sat_out() && !lane.failed(); }));
  }
  return lanes;
}

bool IsExplained(const v1::ClientPhaseReport& client, double seconds) {
  return client.pauses().stalled_s() >= kMaxStalled * seconds ||
         (client.transport().sent_segments() > 0 && client.transport().retransmitted_share() >= kMaxLost);
}

}  // namespace

std::optional<FoundLimit> FindThinkTime(const v1::PhaseReport& report, const ExplainFacts& facts,
                                        double share) {
  const double paused = facts.paused_lanes_s / report.lanes_wall_s();
  if (!(paused >= share) || !std::isfinite(paused)) return std::nullopt;
  return FoundLimit{std::min(1.0, paused),
                    absl::StrCat("think time: the plan's pauses took ", PercentText(std::min(1.0, paused)),
                                 " of the lanes' time")};
}

// A READ that is smaller than rsize, in a file that is read in order, is as large as the kernel lets it be.
std::optional<FoundLimit> FindReadAhead(const v1::PhaseReport& report, const ExplainFacts& facts,
                                        double share) {
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  const auto read = rpc.kinds().find("READ");
  if (!facts.sequential_reads || !RequestsOf(report).has_value() || read == rpc.kinds().end() ||
      !rpc.has_rsize_bytes())
    return std::nullopt;
  const double per_rpc = rpc.read_bytes_per_rpc();
  const auto rsize = static_cast<double>(rpc.rsize_bytes());
  if (!(facts.read_ahead_bytes < kNearlyRsize * rsize) || !(per_rpc < kNearlyRsize * rsize))
    return std::nullopt;
  if (!(per_rpc <=
        kNearWindow * std::max(facts.read_ahead_bytes, static_cast<double>(report.record_bytes()))))
    return std::nullopt;
  if (!ClientsHaveRoom(report) || !(BlockedShare(report, facts) >= share)) return std::nullopt;
  // Each lane then has no more of its file on the way than the read-ahead allows.
  const double on_the_way = RequestsOf(report)->all() / report.lane_count() * per_rpc;
  if (on_the_way > 2 * std::max(facts.read_ahead_bytes, static_cast<double>(report.record_bytes())))
    return std::nullopt;
  return FoundLimit{
      0.65, absl::StrCat("read-ahead of ", FormatBytes(facts.read_ahead_bytes), ": each READ moves only ",
                         FormatBytes(per_rpc), " of an rsize of ", FormatBytes(rsize))};
}

// A write to memory takes as long as its copy, unless the kernel makes the writer wait until less of it is unwritten.
std::optional<FoundLimit> FindDirtyLimit(const v1::PhaseReport& report, const ExplainFacts& facts,
                                         double share) {
  if (!facts.buffered_writes || report.metadata() || !report.has_nfs_rpc()) return std::nullopt;
  const auto& kinds = report.nfs_rpc().kinds();
  if (kinds.contains("READ") || !kinds.contains("WRITE"))
    return std::nullopt;  // READ: parts of pages are written
  const double in_ops = OpsUnderWay(report, facts) / report.lane_count();
  const double on_processor =
      (report.lanes_cpu_user_s() + report.lanes_cpu_system_s()) / report.lanes_wall_s();
  if (!(in_ops >= share) || !(on_processor <= kMaxOnProcessor * in_ops)) return std::nullopt;
  // One that waits for a processor is not held back.
  double delay_s = 0;
  for (const v1::ClientPhaseReport& client : report.clients()) delay_s += client.lanes_run_delay_s();
  const double waiting = in_ops - on_processor - delay_s / report.lanes_wall_s();
  if (!(waiting >= share)) return std::nullopt;
  return FoundLimit{0.6 * std::min(1.0, waiting),
                    absl::StrCat("dirty limit: the kernel held writers back for ", PercentText(waiting),
                                 " of their time, until less was unwritten")};
}

std::optional<FoundLimit> FindOtherLoad(const v1::PhaseReport& report, const ExplainFacts& facts,
                                        double share) {
  if (report.servers().empty() || !report.has_nfs_rpc() || !(BlockedShare(report, facts) >= kHalfTime))
    return std::nullopt;
  double requests = 0, bytes = 0;
  for (const v1::ServerReport& server : report.servers()) {
    if (!server.problem().empty()) return std::nullopt;
    requests += server.nfsd().rpcs_per_s();
    bytes += server.nfsd().read_bytes_per_s() + server.nfsd().write_bytes_per_s();
  }
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  // The counters may have been read long before the phase started, which must not make the run's own share smaller.
  const double seconds =
      report.duration_s() > 0 ? std::min(report.duration_s(), MeanSeconds(report)) : MeanSeconds(report);
  const auto moved = [&rpc](const char* kind, double per_rpc) {
    const auto found = rpc.kinds().find(kind);
    return found == rpc.kinds().end() || !std::isfinite(per_rpc)
               ? 0
               : per_rpc * static_cast<double>(found->second.rpcs());
  };
  if (!(seconds >= kMinAtWorkSeconds)) return std::nullopt;
  const double own_requests = static_cast<double>(rpc.all_rpcs()) / seconds;
  const double own_bytes =
      (moved("READ", rpc.read_bytes_per_rpc()) + moved("WRITE", rpc.write_bytes_per_rpc())) / seconds;
  const double other_requests = requests - own_requests, other_bytes = bytes - own_bytes;
  const bool by_requests = other_requests >= kMinPerS && other_requests >= share * requests;
  const bool by_bytes = other_bytes >= kMinBytesPerS && other_bytes >= share * bytes;
  if (!by_requests && !by_bytes) return std::nullopt;
  const double of_all =
      std::max(by_requests ? other_requests / requests : 0, by_bytes ? other_bytes / bytes : 0);
  return FoundLimit{
      0.75 + 0.2 * of_all,
      absl::StrFormat("load of others: %s of the %s that the sampled servers served were not the run's",
                      PercentText(of_all), by_bytes && other_bytes / bytes == of_all ? "bytes" : "requests")};
}

std::optional<FoundLimit> FindSlowClient(const v1::PhaseReport& report, const ExplainFacts& facts,
                                         double share) {
  if (report.start().skew_percent() > kMaxSkewPercent || !facts.same_work || !report.not_whole().empty())
    return std::nullopt;
  // The client may have more of its files there than others.
  if (FindByRule("slow-target", report, facts).has_value()) return std::nullopt;
  // One client's memory may take or have more than another's.
  if (HasMarkThatMeans(report, MarkMeans::kClientMemory)) return std::nullopt;
  const OverTime& over_time = facts.over_time;
  if (!(over_time.seconds >= kMinAtWorkSeconds) ||
      over_time.lane_rates.size() != static_cast<size_t>(report.clients_size()))
    return std::nullopt;
  size_t slowest = 0;
  double min = 0, sum = 0;
  size_t count = 0;
  const auto rate_of = [&](const v1::ClientPhaseReport& client) {
    return report.headline_in_ops() ? client.ops_per_s() : client.bytes_per_s();
  };
  for (int i = 0; i < report.clients_size(); ++i) {
    const v1::ClientPhaseReport& client = report.clients(i);
    const size_t lanes = LanesOf(client);
    const double rate = rate_of(client) / static_cast<double>(lanes);
    if (lanes == 0 || !std::isfinite(rate)) continue;
    ++count;
    sum += rate;
    if (count > 1 && rate >= min) continue;
    slowest = static_cast<size_t>(i);
    min = rate;
  }
  if (count < 2 || static_cast<double>(report.measured_ops()) < kMinLaneOps * report.lane_count())
    return std::nullopt;
  const double others = (sum - min) / static_cast<double>(count - 1);
  if (!(min < share * others)) return std::nullopt;
  const v1::ClientPhaseReport& slow = report.clients(static_cast<int>(slowest));
  if (IsExplained(slow, over_time.seconds) || !IsSlowThroughout(over_time.lane_rates, slowest, share))
    return std::nullopt;
  // A stonewalled figure ends with the first lane and only lacks what the slow client did not do.
  const double weight = report.headline().name() == "full" ? 1 : 0.6;
  const std::string reached = PercentText(min / others);
  return FoundLimit{weight * (1 - min / others), absl::StrCat("one client: ", slow.host(), " at ", reached,
                                                              " of the others' rate per lane")};
}

std::optional<FoundLimit> FindSlowTarget(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  // The clients' memory may take or have more of one target's data than of another's.
  if (HasMarkThatMeans(report, MarkMeans::kClientMemory)) return std::nullopt;
  std::vector<const v1::StorageTargetReport*> slow;
  for (const v1::StorageTargetReport& target : report.storage_targets()) {  // the slowest is the first
    if (target.slow()) slow.push_back(&target);
  }
  if (slow.empty()) return std::nullopt;
  // A stonewalled figure ends with the first lane and only lacks what the slow target's lanes did not do.
  const double weight = report.headline().name() == "full" ? 1 : 0.6;
  // It is slow among the lanes of each client; over all, slow clients may hold the median down.
  const double reached = slow[0]->share_of_median();
  const std::string more = slow.size() > 1 ? absl::StrCat(" (and ", slow.size() - 1, " more)") : std::string();
  return FoundLimit{weight * (1 - std::min(reached, share)),
                    absl::StrCat(slow.size() == 1 ? "one storage target: " : "storage targets: ", slow[0]->name(), more,
                                 " at ", PercentText(reached), " of the median rate per lane")};
}

}  // namespace iobench
