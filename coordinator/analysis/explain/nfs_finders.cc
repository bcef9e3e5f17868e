#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/units.h"
#include "coordinator/analysis/explain/finders.h"

namespace iobench {
namespace {

constexpr double kFewSlots = 16;       // more requests than these under way keep a server busy
constexpr double kFullTransfer = 0.9;  // of rsize or wsize
constexpr double kMinCommits = 0.1;    // per WRITE: fewer are the end of a file
constexpr uint64_t kMinRpcs = 100;     // the kernel's times are in ms, and few of them say little

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

// Share of the time of all requests. NaN: there is none.
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

bool SaysMuch(const v1::PhaseReport& report) {
  return report.has_nfs_rpc() && report.nfs_rpc().all_rpcs() >= kMinRpcs;
}

}  // namespace

std::optional<Finding> FindLoss(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  if (rpc.rpcs() < kMinRpcs) return std::nullopt;
  const double again = static_cast<double>(rpc.retransmissions()) / static_cast<double>(rpc.rpcs());
  if (again < share) return std::nullopt;
  return Finding{0.8,
                 absl::StrFormat("lost or late requests: %.1f %% of READ, WRITE and COMMIT were sent again",
                                 100 * again)};
}

std::optional<Finding> FindSlots(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  if (!SaysMuch(report) || rpc.connections() == 0) return std::nullopt;
  const double waiting = QueueShare(rpc);
  // Where many requests are under way, a queue before them shows a slow server rather than a small table.
  const bool few = rpc.in_flight() <= kFewSlots && (!rpc.has_max_slots() || rpc.max_slots() <= kFewSlots);
  if (!(waiting >= share) || !(rpc.backlog() >= 1) || !few) return std::nullopt;
  std::string evidence = absl::StrFormat("RPC slots: %.1f requests waited for one", rpc.backlog());
  if (rpc.has_max_slots()) absl::StrAppend(&evidence, " of ", rpc.max_slots());
  absl::StrAppend(&evidence, ", ", PercentText(waiting), " of their time before they were sent");
  return Finding{waiting, std::move(evidence)};
}

std::optional<Finding> FindOneConnection(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  if (!SaysMuch(report) || !ClientsHaveRoom(report) || !ServersHaveRoom(report, true)) return std::nullopt;
  const bool one_each =
      std::all_of(report.clients().begin(), report.clients().end(),
                  [](const v1::ClientPhaseReport& client) { return client.nfs_rpc().connections() == 1; });
  const double waiting = QueueShare(rpc);
  // All slots of a session in use look the same, but for the number of requests under way.
  const bool slots_full =
      !rpc.has_max_slots() || rpc.in_flight() >= kFullTransfer * static_cast<double>(rpc.max_slots());
  if (!one_each || slots_full || !(waiting >= share) || rpc.backlog() >= 1) return std::nullopt;
  return Finding{waiting, absl::StrCat("one connection for each client: requests waited ",
                                       PercentText(waiting), " of their time to be sent")};
}

std::optional<Finding> FindTransferSize(const v1::PhaseReport& report, const ExplainFacts&, double bytes) {
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
    if (!(side.per_rpc >= kFullTransfer * static_cast<double>(*side.size)) || !(share >= 0.5)) continue;
    return Finding{
        0.75 * std::min(1.0, share),
        absl::StrCat(side.option, ": each ", side.request, " moves only ", FormatBytes(side.per_rpc),
                     ", records have ", FormatBytes(static_cast<double>(report.record_bytes())))};
  }
  return std::nullopt;
}

std::optional<Finding> FindCommit(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  const v1::NfsRpcReport& rpc = report.nfs_rpc();
  if (!SaysMuch(report) || !(rpc.commits_per_write() >= kMinCommits)) return std::nullopt;
  const double of_time = TimeShare(rpc, {"COMMIT"});
  if (!(of_time >= share)) return std::nullopt;
  return Finding{of_time, absl::StrFormat("COMMIT: %.2g for each WRITE, %s of the time of all requests",
                                          rpc.commits_per_write(), PercentText(of_time))};
}

std::optional<Finding> FindFlush(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  if (report.has_nfs_rpc() || report.metadata())
    return std::nullopt;  // NFS moves the data itself in these calls
  const v1::RegionSeconds& regions = report.regions_s();
  const double flush_s = regions.fsync() + regions.close();
  const double of_time = flush_s / (regions.ops() + flush_s);
  if (!(of_time >= share)) return std::nullopt;
  return Finding{of_time,
                 absl::StrCat("flushing: ", PercentText(of_time), " of the lanes' time in fsync and close")};
}

std::optional<Finding> FindLocks(const v1::PhaseReport& report, const ExplainFacts&, double share) {
  if (!SaysMuch(report)) return std::nullopt;
  const double of_time = TimeShare(report.nfs_rpc(), {"LOCK", "LOCKT", "LOCKU"});
  if (!(of_time >= share)) return std::nullopt;
  return Finding{of_time, absl::StrCat("locks: ", PercentText(of_time), " of the time of all requests")};
}

}  // namespace iobench
