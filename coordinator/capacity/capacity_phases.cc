#include "coordinator/capacity/capacity_phases.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/engine.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/text/number_words.h"
#include "common/text/phase_name.h"
#include "common/text/units.h"

namespace iobench {
namespace {

using Kind = CapacityStep::Kind;

absl::Status DecidedByCapacity(const char* name) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, " cannot be combined with capacity, which chooses lanes, loads and times itself: ",
                   "remove it from the plan"));
}

void SetRate(double ops_per_s, v1::Phase& phase) {
  const double planned = DuePerSecond(phase);
  for (v1::Assignment& assignment : *phase.mutable_assignments()) {
    v1::Arrivals& arrivals = *assignment.mutable_operation()->mutable_arrivals();
    arrivals.set_ops_per_s(planned > 0 ? arrivals.ops_per_s() * ops_per_s / planned : ops_per_s);
  }
}

absl::Status CheckOperationLeavesLoad(const v1::Operation& operation) {
  if (operation.arrivals().end_ops_per_s() != 0) {
    return absl::InvalidArgumentError(
        "capacity chooses the load of each phase, so the rate cannot change within a phase (--rate A..B, "
        "end_ops_per_s): give one rate");
  }
  const v1::Between& between = operation.between();
  const v1::Trace& trace = operation.trace();
  for (const auto& [set, name] : {std::pair{operation.arrivals().per_lane(), "--lane-rate (per_lane)"},
                                  std::pair{between.think_ms() > 0, "-J (think_ms)"},
                                  std::pair{between.ops_per_s() > 0, "-+O (between.ops_per_s)"},
                                  std::pair{between.burst_bytes() > 0, "-+b (burst_bytes)"},
                                  std::pair{!trace.read_file().empty(), "-Y (trace.read_file)"},
                                  std::pair{!trace.write_file().empty(), "-X (trace.write_file)"}}) {
    if (set) return DecidedByCapacity(name);
  }
  return absl::OkStatus();
}

// A level of closed loops runs one operation on the clients that the level chooses.
absl::Status CheckClosedLoopLeavesWorkers(const v1::Phase& phase) {
  if (phase.assignments_size() > 1) {
    return absl::InvalidArgumentError(
        "capacity measures closed loops of one operation: leave one assignment in the plan, or give all of them a rate "
        "(arrivals.ops_per_s)");
  }
  for (const v1::Assignment& assignment : phase.assignments()) {
    if (assignment.who().workers().empty()) continue;
    return absl::InvalidArgumentError(
        "who (the workers of an assignment) cannot be combined with capacity, which chooses the workers itself: remove it "
        "from the plan");
  }
  return absl::OkStatus();
}

// Every file system that has O_DIRECT takes multiples of this.
constexpr uint64_t kDirectUnitBytes = 4096;

bool SaysHowItMoves(const GivenOptions& given) {
  static constexpr OptionName kSays[] = {
      "plan",  "suite", "mix",    "existing",    "read-existing", "sync",       "dsync",          "rsync",
      "cold",  "direct", "drop-caches", "remount", "eat-memory", "rotate-clients", "fsync-in-timing", "close-in-timing"};
  return std::any_of(std::begin(kSays), std::end(kSays), [&given](OptionName name) {
    return given.Has(name) || given.turned_off().contains(&name.spec());
  });
}

}  // namespace

double DuePerSecond(const v1::Phase& phase) {
  double ops_per_s = 0;
  for (const v1::Assignment& assignment : phase.assignments())
    ops_per_s += assignment.operation().arrivals().ops_per_s();
  return ops_per_s;
}

void MeasureStorage(const GivenOptions& given, bool direct_works, v1::Plan& plan) {
  if (SaysHowItMoves(given)) return;
  for (v1::Phase& phase : *plan.mutable_phases()) {
    bool reads_cold = false;
    for (v1::Assignment& assignment : *phase.mutable_assignments()) {
      v1::Operation& operation = *assignment.mutable_operation();
      const OperationSpec* const spec = SpecOf(operation);
      const EngineSpec* const engine = EngineOf(operation);
      if (spec == nullptr || engine == nullptr || spec->is_metadata() || !engine->uses_files || !engine->mounted) continue;
      const std::vector<RecordShare> records = RecordsOf(operation);
      const bool fits = std::all_of(records.begin(), records.end(), [](const RecordShare& record) {
        return record.record_bytes % kDirectUnitBytes == 0;
      });
      if (direct_works && engine->Can(EngineFeature::kDirect) && fits) {
        operation.set_direct(true);
        continue;
      }
      if (spec->writes() && engine->Can(EngineFeature::kSync)) operation.set_sync(true);
      reads_cold |= spec->reads();
    }
    if (reads_cold) phase.add_before()->mutable_drop_caches()->set_verify(true);
  }
}

absl::Status CheckLeavesLoad(const v1::Plan& plan) {
  if (plan.soak_s() != 0) return DecidedByCapacity("--soak (soak_s)");
  if (plan.has_until_steady()) return DecidedByCapacity("--until steady (until_steady)");
  if (plan.per_client()) return DecidedByCapacity("--per-client (per_client)");
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.stop().max_ops() > 0) return DecidedByCapacity("--max-ops (stop.max_ops)");
    for (const v1::Assignment& assignment : phase.assignments()) {
      const absl::Status status = CheckOperationLeavesLoad(assignment.operation());
      if (!status.ok()) return status;
    }
    if (DuePerSecond(phase) > 0) continue;
    const absl::Status status = CheckClosedLoopLeavesWorkers(phase);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::string DescriptionOf(const CapacityStep& step, size_t worker_count) {
  const auto in_round = [&step](const std::string& name) {
    return NameInRun(name, static_cast<uint32_t>(step.round), 0, /*in_rounds=*/true);
  };
  switch (step.kind) {
    case Kind::kClients:
      return in_round(Counted(step.clients, "client"));
    case Kind::kLanes:
      return in_round(Counted(static_cast<int64_t>(worker_count * step.lanes_per_worker), "lane"));
    case Kind::kCurve:
      return in_round(absl::StrFormat("open loop, %.0f %%", 100 * step.share_of_max));
    case Kind::kKeepUp:
      return absl::StrFormat("open loop, %s ops/s, %s", FormatSignificant(step.offered_per_s, 4), NameOf(step.purpose));
    case Kind::kSlo:
      return absl::StrFormat("SLO, %s ops/s, %s", FormatSignificant(step.offered_per_s, 4), NameOf(step.purpose));
  }
  return "";
}

v1::Phase PhaseOf(const CapacityStep& step, const v1::Phase& planned,
                  const std::vector<std::vector<uint32_t>>& workers_of_client, size_t number) {
  v1::Phase phase = planned;
  phase.mutable_stop()->set_time_s(planned.stop().warmup_s() + step.seconds);
  phase.set_lanes_per_worker(step.lanes_per_worker);
  size_t worker_count = 0;
  for (const std::vector<uint32_t>& workers : workers_of_client) worker_count += workers.size();
  phase.set_name(absl::StrCat(number, ": ", DescriptionOf(step, worker_count)));
  const size_t clients = workers_of_client.size();
  if (step.clients < clients) {
    v1::WorkerSelector& who = *phase.mutable_assignments(0)->mutable_who();
    who.clear_workers();
    for (size_t i = 0; i < step.clients; ++i) {
      for (const uint32_t worker : workers_of_client[(step.round + i) % clients]) who.add_workers(worker);
    }
  }
  if (step.is_open()) SetRate(step.offered_per_s, phase);
  return phase;
}

}  // namespace iobench
