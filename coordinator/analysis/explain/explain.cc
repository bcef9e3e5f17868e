#include "coordinator/analysis/explain/explain.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "coordinator/analysis/explain/limit_rules.h"
#include "coordinator/analysis/explain/rate_changes.h"
#include "coordinator/analysis/marks/advice.h"
#include "coordinator/analysis/phase/phase_writes.h"

namespace iobench {
namespace {

v1::Limit LimitOf(const LimitRule& rule, const FoundLimit& found) {
  v1::Limit limit;
  limit.set_name(rule.name);
  limit.set_evidence(found.evidence);
  limit.set_advice(rule.advice);
  limit.set_source(rule.source);
  limit.set_strength(std::clamp(found.strength, 0.0, 1.0));
  return limit;
}

double WarmupLanesSeconds(const PhaseView& view) {
  const CoordTime end = CoordTime{view.phase.start_coord_ns()} + NanosFrom(view.traits.warmup_s);
  double seconds = 0;
  for (const AlignedLane& lane : view.aligned.lanes) {
    if (lane.started && end > lane.first_op)
      seconds += SecondsFrom(std::min(end, lane.region_end) - lane.first_op);
  }
  return seconds;
}

bool IsDirect(const v1::Operation& operation) {
  return operation.sync() || operation.dsync() || operation.rsync() || operation.direct();
}

// Engines whose reads and writes are those of the kernel's page cache.
bool UsesPageCache(const v1::Operation& operation) {
  return !operation.direct() &&
         (operation.engine().empty() || operation.engine() == "posix" || operation.engine() == "stdio");
}

bool OnlyDoes(OpKind kind, const v1::Operation& operation) {
  const absl::StatusOr<const OperationSpec*> row = FindOperation(operation.name());
  return row.ok() && (*row)->kinds == OpKinds(kind);
}

bool ReadsInOrder(const v1::Operation& operation) {
  const absl::StatusOr<const OperationSpec*> row = FindOperation(operation.name());
  return row.ok() && (*row)->kinds == OpKinds(OpKind::kRead) && (*row)->pattern == Pattern::kSequential;
}

// Pauses that count in the lane's own time (-+J) are not in pause_s.
double PausedLanesSeconds(const PhaseView& view) {
  const auto& assignments = view.phase.phase().assignments();
  double seconds = 0;
  for (const AlignedLane& lane : view.aligned.lanes) {
    seconds += lane.result->pause_s();
    for (const v1::Assignment& assignment : assignments) {
      const v1::Operation& operation = assignment.operation();
      const bool is_its = assignments.size() == 1 || operation.name() == lane.result->operation();
      if (!is_its || !operation.between().think_in_throughput()) continue;
      seconds += operation.between().think_ms() / 1e3 * static_cast<double>(lane.result->region_ops());
      break;
    }
  }
  return seconds;
}

// Of the targets that the workers' clients have on NFS.
double ReadAheadBytes(const v1::RunRecord& run) {
  double most = std::nan("");
  for (const v1::WorkerTargets& seen : run.targets()) {
    for (const v1::TargetFacts& target : seen.targets()) {
      const auto set = target.settings().find("read_ahead_kb");
      double kib = 0;
      if (!IsNfs(target) || set == target.settings().end() || !absl::SimpleAtod(set->second, &kib))
        return std::nan("");
      if (!(most >= 1024 * kib)) most = 1024 * kib;
    }
  }
  return most;
}

bool HasLocalStorage(const v1::RunRecord& run) {
  bool any = false;
  for (const v1::WorkerTargets& seen : run.targets()) {
    for (const v1::TargetFacts& target : seen.targets()) {
      if (!ChargesItsProcesses(target)) return false;
      any = true;
    }
  }
  return any;
}

// Each fall that nothing else explains has the cause that a rule names.
void FillCauses(const ExplainFacts& facts, v1::PhaseReport& report) {
  if (report.changes().empty()) return;
  const char* cause = "";
  for (const LimitRule& rule : LimitRules()) {
    if (*rule.cause != '\0' && rule.find(report, facts, rule.threshold).has_value()) cause = rule.cause;
  }
  for (v1::RateChange& change : *report.mutable_changes()) {
    if (change.cause().empty() && change.after_per_s() < change.before_per_s()) change.set_cause(cause);
  }
}

}  // namespace

ExplainFacts ExplainFactsOf(const PhaseView& view) {
  ExplainFacts facts;
  if (view.traits.warmup_s > 0) facts.warmup_lanes_s = WarmupLanesSeconds(view);
  for (const v1::ServerRecord& server : view.phase.servers()) {
    // In a damaged record, the number may be too large for an int.
    const bool known = server.sampler() < static_cast<uint32_t>(view.run.samplers_size());
    facts.server_processors.push_back(
        known ? view.run.samplers(static_cast<int>(server.sampler())).processors() : std::nan(""));
  }
  const auto& assignments = view.phase.phase().assignments();
  if (assignments.empty()) return facts;
  facts.written_bytes = AllWrittenBytesOf(view);
  facts.all_paced = std::all_of(assignments.begin(), assignments.end(), [](const v1::Assignment& assignment) {
    return assignment.operation().between().ops_per_s() > 0 || assignment.operation().has_arrivals();
  });
  facts.sync_writes =
      std::all_of(assignments.begin(), assignments.end(),
                  [](const v1::Assignment& assignment) { return IsDirect(assignment.operation()); });
  const auto all = [&assignments](auto&& is) {
    return std::all_of(assignments.begin(), assignments.end(),
                       [&is](const v1::Assignment& assignment) { return is(assignment.operation()); });
  };
  facts.same_work = assignments.size() == 1;
  facts.paused_lanes_s = PausedLanesSeconds(view);
  facts.sequential_reads =
      all([](const v1::Operation& operation) { return UsesPageCache(operation) && ReadsInOrder(operation); });
  facts.buffered_writes = all([](const v1::Operation& operation) {
    return UsesPageCache(operation) && !IsDirect(operation) && OnlyDoes(OpKind::kWrite, operation);
  });
  facts.unflushed_writes = facts.buffered_writes && all([](const v1::Operation& operation) {
                             return FlushEveryOps(operation) == 0;
                           });
  facts.only_writes = all([](const v1::Operation& operation) { return OnlyDoes(OpKind::kWrite, operation); });
  facts.only_reads = all([](const v1::Operation& operation) { return OnlyDoes(OpKind::kRead, operation); });
  facts.local_storage = HasLocalStorage(view.run);
  facts.read_ahead_bytes = ReadAheadBytes(view.run);
  const uint32_t depth = std::max(1u, assignments[0].operation().depth());
  if (std::all_of(assignments.begin(), assignments.end(), [depth](const v1::Assignment& assignment) {
        return std::max(1u, assignment.operation().depth()) == depth;
      })) {
    facts.in_flight = static_cast<double>(view.aligned.lanes.size()) * depth;
  }
  return facts;
}

std::vector<v1::Limit> Explain(const v1::PhaseReport& report, const ExplainFacts& facts) {
  std::vector<v1::Limit> limits;
  for (const LimitRule& rule : LimitRules()) {
    const std::optional<FoundLimit> found = rule.find(report, facts, rule.threshold);
    if (!found.has_value() || std::isnan(found->strength)) continue;
    limits.push_back(LimitOf(rule, *found));
    if (std::string_view(rule.name) == "pace") return limits;  // the requested load was the limit
  }
  std::stable_sort(limits.begin(), limits.end(),
                   [](const v1::Limit& a, const v1::Limit& b) { return a.strength() > b.strength(); });
  if (limits.size() > kMaxLimits) limits.resize(kMaxLimits);
  return limits;
}

void FillLimits(const PhaseView& view, const OverTime& over_time, v1::PhaseReport& report) {
  report.clear_limits();
  ExplainFacts facts = ExplainFactsOf(view);
  facts.over_time = over_time;
  facts.levels = RateLevelsOf(over_time, report);
  for (v1::Limit& limit : Explain(report, facts)) {
    limit.set_advice(AdviceFor(limit.advice(), view.phase.phase()));
    *report.add_limits() = std::move(limit);
  }
  FillCauses(facts, report);
  report.set_limited_by(report.limits().empty() ? "" : report.limits(0).evidence());
}

}  // namespace iobench
