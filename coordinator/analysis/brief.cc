#include "coordinator/analysis/brief.h"

#include <algorithm>

#include "common/model/op.h"

namespace iobench {
namespace {

void AddOnce(const v1::Mark& mark, const std::string& subject, v1::PhaseReport& brief) {
  const bool known = std::any_of(brief.marks().begin(), brief.marks().end(),
                                 [&mark](const v1::Mark& other) { return other.code() == mark.code(); });
  if (known) return;
  v1::Mark& added = *brief.add_marks();
  added = mark;
  added.set_subject(subject);
}

}  // namespace

bool SelectsWorkers(const v1::Phase& planned) {
  return std::any_of(planned.assignments().begin(), planned.assignments().end(),
                     [](const v1::Assignment& assignment) { return !assignment.who().workers().empty(); });
}

v1::PhaseReport BriefOf(const v1::PhaseReport& phase, WorkersInBrief workers) {
  v1::PhaseReport brief;
  brief.set_index(phase.index());
  brief.set_repetition(phase.repetition());
  brief.set_name(phase.name());
  brief.set_operation(phase.operation());
  brief.set_title(phase.title());
  brief.set_engine(phase.engine());
  brief.set_record_bytes(phase.record_bytes());
  brief.set_bytes(phase.bytes());
  brief.set_ops(phase.ops());
  brief.set_measured_bytes(phase.measured_bytes());
  brief.set_measured_ops(phase.measured_ops());
  brief.set_duration_s(phase.duration_s());
  brief.set_headline_s(phase.headline_s());
  *brief.mutable_headline() = phase.headline();
  if (phase.has_first_pass()) *brief.mutable_first_pass() = phase.first_pass();
  *brief.mutable_start() = phase.start();
  *brief.mutable_latency_us() = phase.latency_us();
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto found = phase.by_kind().find(NameOf(static_cast<OpKind>(i)));
    if (kFlushCalls.Has(static_cast<OpKind>(i)) && found != phase.by_kind().end())
      (*brief.mutable_by_kind())[found->first] = found->second;  // criteria are judged by them
  }
  if (phase.has_lanes_bytes_per_s()) *brief.mutable_lanes_bytes_per_s() = phase.lanes_bytes_per_s();
  if (phase.has_lanes_ops_per_s()) *brief.mutable_lanes_ops_per_s() = phase.lanes_ops_per_s();
  *brief.mutable_changes() = phase.changes();
  brief.set_fixed_cost_s(phase.fixed_cost_s());
  brief.set_workers_lost(phase.workers_lost());
  brief.set_lanes_failed(phase.lanes_failed());
  brief.set_lanes_sat_out(phase.lanes_sat_out());
  brief.set_interrupted(phase.interrupted());
  brief.set_not_whole(phase.not_whole());
  brief.set_bytes_per_lane(phase.bytes_per_lane());
  brief.set_grown_bytes_per_lane(phase.grown_bytes_per_lane());
  brief.set_lane_count(phase.lane_count());
  brief.set_target(phase.target());
  brief.set_metadata(phase.metadata());
  brief.set_headline_in_ops(phase.headline_in_ops());
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    if (workers == WorkersInBrief::kLeftOut) break;
    v1::ClientPhaseReport& kept = *brief.add_clients();
    for (int i = 0; i < client.workers_size(); ++i)
      kept.add_workers()->set_worker(client.workers(i).worker());
  }
  if (phase.has_found_items()) brief.set_found_items(phase.found_items());
  for (const v1::Mark& mark : phase.marks()) AddOnce(mark, mark.subject(), brief);
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    for (const v1::Mark& mark : client.marks()) {
      const bool of_client = mark.subject().empty() || mark.subject() == "phase";
      AddOnce(mark, of_client ? client.host() : mark.subject(), brief);
    }
  }
  return brief;
}

}  // namespace iobench
