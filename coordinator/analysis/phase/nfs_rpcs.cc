#include "coordinator/analysis/phase/nfs_rpcs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/model/plan_targets.h"
#include "common/not_a_number.h"
#include "coordinator/analysis/phase/phase_view.h"

namespace iobench {
namespace {

using Report = v1::NfsRpcReport;
using Kind = v1::NfsKindReport;

double Mean(double sum, uint64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : kNaN;
}

// Returns the sum from which a mean was computed; 0 if count is 0, where the mean is NaN.
double Total(double mean, uint64_t count) {
  return count > 0 && std::isfinite(mean) ? mean * static_cast<double>(count) : 0;
}

// The mean over both, from the mean of each; an unknown one is ignored.
double Mean(double a, uint64_t a_count, double b, uint64_t b_count) {
  if (std::isnan(a)) a_count = 0;
  if (std::isnan(b)) b_count = 0;
  return Mean(Total(a, a_count) + Total(b, b_count), a_count + b_count);
}

double Larger(double a, double b) {
  if (std::isnan(a)) return b;
  return std::isnan(b) ? a : std::max(a, b);
}

bool MovesData(const std::string& kind) {
  return kind == "READ" || kind == "WRITE" || kind == "COMMIT";
}

uint64_t CountOf(const Report& report, const char* kind) {
  const auto found = report.kinds().find(kind);
  return found == report.kinds().end() ? 0 : found->second.rpcs();
}

uint64_t SentAgain(const v1::NfsOpDelta& op) {
  // The kernel's counters have transmissions >= ops, but they are not read at the same instant.
  return op.transmissions() - std::min(op.transmissions(), op.ops());
}

Kind KindOf(const v1::NfsOpDelta& op) {
  Kind kind;
  kind.set_rpcs(op.ops());
  kind.set_queue_ms(Mean(static_cast<double>(op.queue_ms()), op.ops()));
  kind.set_round_trip_ms(Mean(static_cast<double>(op.rtt_ms()), op.ops()));
  kind.set_execute_ms(Mean(static_cast<double>(op.execute_ms()), op.ops()));
  kind.set_retransmissions(SentAgain(op));
  kind.set_major_timeouts(op.major_timeouts());
  if (op.has_errors()) kind.set_errors(op.errors());
  return kind;
}

Kind SumOf(const Kind& a, const Kind& b) {
  Kind sum;
  sum.set_rpcs(a.rpcs() + b.rpcs());
  sum.set_queue_ms(Mean(a.queue_ms(), a.rpcs(), b.queue_ms(), b.rpcs()));
  sum.set_round_trip_ms(Mean(a.round_trip_ms(), a.rpcs(), b.round_trip_ms(), b.rpcs()));
  sum.set_execute_ms(Mean(a.execute_ms(), a.rpcs(), b.execute_ms(), b.rpcs()));
  sum.set_retransmissions(a.retransmissions() + b.retransmissions());
  sum.set_major_timeouts(a.major_timeouts() + b.major_timeouts());
  if (a.has_errors() && b.has_errors()) sum.set_errors(a.errors() + b.errors());
  return sum;
}

// Fills what follows from the kinds: their share per op, and the sums over those that move data.
void FillFromKinds(Report& report) {
  uint64_t all = 0, data = 0, again = 0, timeouts = 0, errors = 0;
  double queue_ms = 0, round_trip_ms = 0;
  bool errors_known = !report.kinds().empty();
  for (auto& [name, kind] : *report.mutable_kinds()) {
    kind.set_rpcs_per_op(Mean(static_cast<double>(kind.rpcs()), report.app_ops()));
    all += kind.rpcs();
    errors += kind.errors();
    errors_known &= kind.has_errors();
    if (!MovesData(name)) continue;
    data += kind.rpcs();
    queue_ms += Total(kind.queue_ms(), kind.rpcs());
    round_trip_ms += Total(kind.round_trip_ms(), kind.rpcs());
    again += kind.retransmissions();
    timeouts += kind.major_timeouts();
  }
  report.set_rpcs(data);
  report.set_queue_ms(Mean(queue_ms, data));
  report.set_round_trip_ms(Mean(round_trip_ms, data));
  report.set_retransmissions(again);
  report.set_major_timeouts(timeouts);
  report.set_all_rpcs(all);
  report.set_rpcs_per_op(Mean(static_cast<double>(all), report.app_ops()));
  report.set_commits_per_write(
      Mean(static_cast<double>(CountOf(report, "COMMIT")), CountOf(report, "WRITE")));
  if (errors_known) report.set_errors(errors);
}

// The coefficient of variation of the sends over one mount's connections; NaN with fewer than two, or without a send.
double VariationOf(const v1::NfsDelta& nfs) {
  const auto count = static_cast<double>(nfs.connections_size());
  double sum = 0, squares = 0;
  for (const v1::NfsConnectionDelta& connection : nfs.connections()) {
    const auto sends = static_cast<double>(connection.sends());
    sum += sends;
    squares += sends * sends;
  }
  if (count < 2 || sum <= 0) return kNaN;
  const double mean = sum / count;
  return std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean;
}

void FillConnections(const v1::NfsDelta& nfs, Report& report) {
  uint64_t sends = 0, in_flight = 0, backlog = 0, reconnects = 0, bad_xids = 0, max_slots = 0;
  bool slots_known = nfs.connections_size() > 0, reconnects_known = slots_known;
  for (const v1::NfsConnectionDelta& connection : nfs.connections()) {
    sends += connection.sends();
    in_flight += connection.in_flight_sum();
    backlog += connection.backlog_sum();
    reconnects += connection.reconnects();
    bad_xids += connection.bad_xids();
    max_slots = std::max<uint64_t>(max_slots, connection.max_slots());
    slots_known &= connection.has_max_slots();
    reconnects_known &= connection.has_reconnects();
  }
  report.set_connections(static_cast<uint32_t>(nfs.connections_size()));
  report.set_sends(sends);
  report.set_in_flight(Mean(static_cast<double>(in_flight), sends));
  report.set_backlog(Mean(static_cast<double>(backlog), sends));
  report.set_connection_cov(VariationOf(nfs));
  if (slots_known) report.set_max_slots(max_slots);
  if (reconnects_known) report.set_reconnects(reconnects);
  if (nfs.connections_size() > 0) report.set_bad_xids(bad_xids);
}

Report MountReport(const v1::NfsDelta& nfs, const NfsTarget& target, uint64_t app_ops) {
  Report report;
  report.set_app_ops(app_ops);
  for (const auto& [name, op] : nfs.ops()) (*report.mutable_kinds())[name] = KindOf(op);
  FillFromKinds(report);
  report.set_read_bytes_per_rpc(
      nfs.has_server_read_bytes()
          ? Mean(static_cast<double>(nfs.server_read_bytes()), CountOf(report, "READ"))
          : kNaN);
  report.set_write_bytes_per_rpc(
      nfs.has_server_write_bytes()
          ? Mean(static_cast<double>(nfs.server_write_bytes()), CountOf(report, "WRITE"))
          : kNaN);
  if (target.rsize_bytes) report.set_rsize_bytes(*target.rsize_bytes);
  if (target.wsize_bytes) report.set_wsize_bytes(*target.wsize_bytes);
  if (nfs.has_delays()) report.set_delays(nfs.delays());
  if (nfs.has_short_reads()) report.set_short_reads(nfs.short_reads());
  if (nfs.has_short_writes()) report.set_short_writes(nfs.short_writes());
  if (nfs.has_pnfs_reads()) report.set_pnfs_reads(nfs.pnfs_reads());
  if (nfs.has_pnfs_writes()) report.set_pnfs_writes(nfs.pnfs_writes());
  FillConnections(nfs, report);
  return report;
}

// A count that both may know.
struct OptionalCount {
  bool (Report::*has)() const;
  uint64_t (Report::*get)() const;
  void (Report::*set)(uint64_t);
};
#define IOBENCH_COUNT(name) \
  { &Report::has_##name, &Report::name, &Report::set_##name }
constexpr OptionalCount kSums[] = {IOBENCH_COUNT(delays),       IOBENCH_COUNT(short_reads),
                                   IOBENCH_COUNT(short_writes), IOBENCH_COUNT(reconnects),
                                   IOBENCH_COUNT(bad_xids),     IOBENCH_COUNT(pnfs_reads),
                                   IOBENCH_COUNT(pnfs_writes)};
constexpr OptionalCount kSame[] = {IOBENCH_COUNT(rsize_bytes), IOBENCH_COUNT(wsize_bytes)};
#undef IOBENCH_COUNT

// Sums everything but the ops of the lanes, which belong to a client and not to a mount.
Report SumOfRequests(const Report& a, const Report& b, uint64_t app_ops) {
  Report sum;
  sum.set_app_ops(app_ops);
  *sum.mutable_kinds() = a.kinds();
  for (const auto& [name, kind] : b.kinds()) {
    const auto [found, is_new] = sum.mutable_kinds()->insert({name, kind});
    if (!is_new) found->second = SumOf(found->second, kind);
  }
  FillFromKinds(sum);
  const auto reads = [](const Report& report) { return CountOf(report, "READ"); };
  const auto writes = [](const Report& report) { return CountOf(report, "WRITE"); };
  sum.set_read_bytes_per_rpc(Mean(a.read_bytes_per_rpc(), reads(a), b.read_bytes_per_rpc(), reads(b)));
  sum.set_write_bytes_per_rpc(Mean(a.write_bytes_per_rpc(), writes(a), b.write_bytes_per_rpc(), writes(b)));
  for (const OptionalCount& count : kSums) {
    if ((a.*count.has)() && (b.*count.has)()) (sum.*count.set)((a.*count.get)() + (b.*count.get)());
  }
  for (const OptionalCount& count : kSame) {
    const bool same = (a.*count.has)() && (b.*count.has)() && (a.*count.get)() == (b.*count.get)();
    if (same) (sum.*count.set)((a.*count.get)());
  }
  if (a.connections() > 0 && b.connections() > 0) sum.set_connections(a.connections() + b.connections());
  sum.set_sends(a.sends() + b.sends());
  sum.set_in_flight(Mean(a.in_flight(), a.sends(), b.in_flight(), b.sends()));
  sum.set_backlog(Mean(a.backlog(), a.sends(), b.backlog(), b.sends()));
  sum.set_connection_cov(Larger(a.connection_cov(), b.connection_cov()));
  if (a.has_max_slots() && b.has_max_slots()) sum.set_max_slots(std::max(a.max_slots(), b.max_slots()));
  return sum;
}

}  // namespace

std::optional<uint64_t> NumberOfOption(std::string_view options, std::string_view name) {
  for (const absl::string_view option :
       absl::StrSplit(absl::string_view(options.data(), options.size()), ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    uint64_t number = 0;
    if (std::string_view(parts.first.data(), parts.first.size()) == name &&
        absl::SimpleAtoi(parts.second, &number)) {
      return number;
    }
  }
  return std::nullopt;
}

std::map<uint32_t, NfsTarget> NfsTargetsOf(const v1::RunRecord& run, std::span<const uint32_t> workers) {
  std::map<uint32_t, NfsTarget> found;
  for (const uint32_t worker : workers) {
    if (worker >= static_cast<uint32_t>(run.targets_size())) continue;
    const v1::WorkerTargets& seen = run.targets(static_cast<int>(worker));
    for (int i = 0; i < seen.targets_size(); ++i) {
      const uint32_t number = NumberOfSeen(seen, i);
      if (found.contains(number)) continue;
      const v1::TargetFacts& target = seen.targets(i);
      found.emplace(number, NfsTarget{.mount = MountOf(target, number),
                                      .rsize_bytes = NumberOfOption(target.mount_options(), "rsize"),
                                      .wsize_bytes = NumberOfOption(target.mount_options(), "wsize")});
    }
  }
  return found;
}

std::optional<v1::NfsRpcReport> NfsRpcsOf(const v1::HostDelta& host,
                                          const std::map<uint32_t, NfsTarget>& targets, uint64_t app_ops) {
  // Several targets: in the order of their numbers, so that equal records give equal reports.
  const std::map<uint32_t, const v1::NfsDelta*> in_order = [&host] {
    std::map<uint32_t, const v1::NfsDelta*> sorted;
    for (const auto& [target, nfs] : host.nfs()) sorted.emplace(target, &nfs);
    return sorted;
  }();
  std::optional<Report> report;
  std::set<std::string> seen_mounts;
  for (const auto& [number, nfs] : in_order) {
    const auto found = targets.find(number);
    const NfsTarget target = found == targets.end() ? NfsTarget() : found->second;
    const std::string name = target.mount.empty() ? absl::StrCat("target ", number) : target.mount;
    if (!seen_mounts.insert(name).second) continue;
    Report of_mount = MountReport(*nfs, target, app_ops);
    report = report ? SumOfRequests(*report, of_mount, app_ops) : std::move(of_mount);
  }
  return report;
}

v1::NfsRpcReport Sum(const v1::NfsRpcReport& a, const v1::NfsRpcReport& b) {
  return SumOfRequests(a, b, a.app_ops() + b.app_ops());
}

}  // namespace iobench
