#include "coordinator/plan/phase_list.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/plan/check/metadata_plan.h"
#include "coordinator/plan/plan_fields.h"
#include "coordinator/plan/sweep.h"

namespace iobench {
namespace {

constexpr int kMixNumber = 8;
constexpr std::string_view kSequentialMix = "sequential-mix";

// Returns the default operations: 0 1 2; in automatic mode, all that IOzone runs with one lane; with -E, also those
// that it calls extended. A soak has operations of its own.
std::vector<std::string> UsualOperations(const GivenOptions& given) {
  // Reads what the previous round has left before overwriting it, and reads what is written in the same round.
  if (given.Has("soak")) return {"read", "write", "reread"};
  if (!given.Has("auto") && !given.Has("extended")) return {"0", "1", "2"};
  std::vector<std::string> numbers;
  for (const OperationSpec& spec : Operations()) {
    const int number = spec.iozone_number;
    const bool extended = number >= 9 && number <= 12;
    const bool wanted = (number >= 0 && number <= 7) || (extended && given.Has("extended"));
    const std::string text = absl::StrCat(number);
    if (wanted && (numbers.empty() || numbers.back() != text)) numbers.push_back(text);
  }
  return numbers;
}

absl::StatusOr<std::vector<const OperationSpec*>> OperationsOf(const GivenOptions& given) {
  std::vector<const OperationSpec*> list;
  bool mix_replaced = false;
  const std::vector<std::string> texts = given.Has("op") ? given.Texts("op") : UsualOperations(given);
  for (const std::string& text : texts) {
    auto specs = OperationsFor(text);
    if (!specs.ok()) return absl::InvalidArgumentError(specs.status().message());
    const bool by_number = specs->front()->name != text;
    // With the user's own files, -i 2 means only its reading half.
    const bool reads_only =
        (given.Has("existing") || given.Has("read-existing")) &&
        std::any_of(specs->begin(), specs->end(), [](const OperationSpec* spec) { return !spec->writes(); });
    for (const OperationSpec* spec : *specs) {
      if (by_number && spec->retest && given.Has("no-retest")) continue;
      if (by_number && reads_only && spec->writes()) continue;
      if (by_number && spec->iozone_number == kMixNumber) {
        if (spec->name == kSequentialMix) continue;  // only by name, or with -+B
        if (given.Has("sequential-mix")) {
          auto sequential = FindOperation(kSequentialMix);
          if (!sequential.ok()) {
            return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(OptionNamed("sequential-mix")),
                                                           " is not available in this version"));
          }
          spec = *sequential;
          mix_replaced = true;
        }
      }
      list.push_back(spec);
    }
  }
  if (given.Has("sequential-mix") && !mix_replaced) {
    return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(OptionNamed("sequential-mix")),
                                                   " needs -i 8, the mix that it makes sequential"));
  }
  return list;
}

// "4k", or of several sizes with shares "4k-1m".
std::string RecordsInName(const Sweep& sweep, const SweepCell& cell) {
  if (sweep.shares.size() < 2) return ShortSize(cell.record_bytes);
  const auto smallest = std::min_element(
      sweep.shares.begin(), sweep.shares.end(),
      [](const RecordShare& a, const RecordShare& b) { return a.record_bytes < b.record_bytes; });
  return absl::StrCat(ShortSize(smallest->record_bytes), "-", ShortSize(cell.record_bytes));
}

// Returns a name that shows what changes between the phases of the run: "write", "write 64k/4k", "write 64k/4k, 3
// lanes" (or "workers", by `lane_word`).
std::string NameOf(const OperationSpec& spec, const Sweep& sweep, const SweepCell& cell,
                   std::string_view lane_word) {
  std::string name(spec.name);
  if ((sweep.several_sizes || sweep.several_records) && !spec.is_metadata()) {
    absl::StrAppend(&name, " ", ShortSize(cell.bytes), "/", RecordsInName(sweep, cell));
  }
  if (sweep.several_lanes) {
    absl::StrAppend(&name, ", ", cell.lanes, " ", std::string(lane_word), cell.lanes == 1 ? "" : "s");
  }
  return name;
}

// -+k: each lane of the run gets an equal share of whole records.
absl::StatusOr<uint64_t> BytesPerLane(const GivenOptions& given, const PlanContext& context,
                                      const SweepCell& cell) {
  if (!given.Has("constant-total")) return cell.bytes;
  const std::string option = BothNamesOf(OptionNamed("constant-total"));
  const bool counts_workers = LanesAreWorkers(given, context);
  if (context.worker_count == 0 && !counts_workers) {
    return absl::InvalidArgumentError(absl::StrCat(
        option,
        ": the launcher does not announce the number of workers; set the size per lane with -s instead"));
  }
  const uint64_t lanes = counts_workers ? cell.lanes : uint64_t{context.worker_count} * cell.lanes;
  const uint64_t files = std::max<uint64_t>(1, given.Number("files-per-lane", 1));
  const uint64_t record_bytes = std::max<uint64_t>(1, cell.record_bytes);
  const uint64_t share = cell.bytes / lanes / files / record_bytes * record_bytes * files;
  if (share == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, ": ", FormatBytes(static_cast<double>(cell.bytes)), " for ", lanes,
        " lanes is less per lane than a record of ", FormatBytes(static_cast<double>(cell.record_bytes))));
  }
  return share;
}

// The strides of the phases of an operation. 0: a single phase, whose stride is set as any other field of the plan.
std::vector<uint64_t> StridesOf(const OperationSpec& spec, const GivenOptions& given) {
  std::vector<uint64_t> strides = given.Numbers("stride");
  if (spec.pattern != Pattern::kStride || strides.size() < 2) return {0};
  return strides;
}

// Reading what the client itself still has in memory would not check the storage.
bool MayReadFromMemory(const v1::Phase& phase) {
  return std::any_of(phase.assignments().begin(), phase.assignments().end(), [](const v1::Assignment& each) {
    const v1::Operation& operation = each.operation();
    const OperationSpec* const spec = SpecOf(operation);
    const bool reads = spec != nullptr && !spec->is_metadata() && spec->reads();
    return reads && !operation.direct() && !IsUnmounted(operation) && !MovesNothing(operation);
  });
}

}  // namespace

v1::Operation OperationOf(const OperationSpec& spec, uint64_t record_bytes, uint32_t stride_records) {
  v1::Operation operation;
  operation.set_name(std::string(spec.name));
  operation.set_record_bytes(record_bytes);
  if (stride_records > 0) operation.set_stride_records(stride_records);
  if (spec.name == kSequentialMix) operation.set_mix_by_lane(true);
  return operation;
}

void SetRecordShares(std::span<const RecordShare> shares, v1::Operation& operation) {
  operation.clear_records();
  uint64_t largest_bytes = 0;
  for (const RecordShare& share : shares) largest_bytes = std::max(largest_bytes, share.record_bytes);
  operation.set_record_bytes(largest_bytes);
  if (shares.size() == 1 && shares.front().percent == 100) return;
  for (const RecordShare& share : shares) {
    v1::RecordShare& added = *operation.add_records();
    added.set_record_bytes(share.record_bytes);
    added.set_percent(share.percent);
  }
}

v1::Phase OfWorkers(const std::vector<uint32_t>& workers, const v1::Phase& phase) {
  v1::Phase own = phase;
  own.clear_assignments();
  std::map<const v1::Assignment*, v1::Assignment*> own_of;
  for (const uint32_t worker : workers) {
    const v1::Assignment* const assignment = AssignmentOf(phase, worker);
    if (assignment == nullptr) continue;
    v1::Assignment*& mine = own_of[assignment];
    if (mine == nullptr) {
      mine = own.add_assignments();
      *mine->mutable_operation() = assignment->operation();
    }
    mine->mutable_who()->add_workers(worker);
  }
  return own;
}

absl::Status ListPhases(const GivenOptions& given, const PlanContext& context, v1::Plan& plan) {
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<const OperationSpec*> operations, OperationsOf(given));
  IOBENCH_ASSIGN_OR_RETURN(const Sweep sweep, SweepOf(given, given.Has("auto") ? 1 : context.default_lanes));
  plan.set_lanes_per_worker(sweep.max_lanes());
  const bool counts_workers = LanesAreWorkers(given, context);
  if (counts_workers && !context.client_list && context.worker_count > 0 &&
      sweep.max_lanes() > context.worker_count) {
    return absl::InvalidArgumentError(absl::StrCat(
        BothNamesOf(OptionNamed("max-lanes")), " ", sweep.max_lanes(), " asks for more workers than the ",
        context.worker_count,
        " of this run, with one lane each: start more workers, or sweep over lanes per worker with -t 1 -t 2 -t 4"));
  }
  // The next client after a phase's last worker does not take part in the phase, so the reader would have to write its
  // files, which would then be in its cache.
  if (counts_workers && sweep.several_lanes && given.Has("rotate-clients")) {
    return absl::InvalidArgumentError(absl::StrCat(
        BothNamesOf(OptionNamed("rotate-clients")),
        " cannot be combined with a sweep over workers: a phase would read files of workers that are not in it; use "
        "--drop-caches instead"));
  }
  uint64_t max_bytes = 0;
  for (const SweepCell& cell : sweep.cells) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes, BytesPerLane(given, context, cell));
    max_bytes = std::max(max_bytes, bytes);
  }
  plan.mutable_files()->set_bytes_per_lane(max_bytes);
  std::map<std::string, int> times;
  std::set<uint32_t> lanes_seen;
  for (const SweepCell& cell : sweep.cells) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes, BytesPerLane(given, context, cell));
    const bool first_of_lanes = lanes_seen.insert(cell.lanes).second;
    for (const OperationSpec* spec : operations) {
      // Sizes and records do not apply to metadata operations, so they run once for each number of lanes.
      if (spec->is_metadata() && !first_of_lanes) continue;
      for (const uint64_t stride : StridesOf(*spec, given)) {
        std::string name = NameOf(*spec, sweep, cell, counts_workers ? "worker" : "lane");
        if (stride > 0) absl::StrAppend(&name, ", stride ", stride);
        if (const int nth = ++times[name]; nth > 1) absl::StrAppend(&name, " (", nth, ")");
        v1::Phase& phase = *plan.add_phases();
        phase.set_name(std::move(name));
        v1::Operation& operation = *phase.add_assignments()->mutable_operation();
        operation = OperationOf(*spec, cell.record_bytes, static_cast<uint32_t>(stride));
        if (!sweep.shares.empty() && !spec->is_metadata()) SetRecordShares(sweep.shares, operation);
        if (sweep.several_lanes) phase.set_lanes_per_worker(cell.lanes);
        if (spec->is_metadata()) continue;
        if (sweep.several_sizes || bytes != max_bytes) phase.mutable_files()->set_bytes_per_lane(bytes);
      }
    }
  }
  return absl::OkStatus();
}

bool LanesAreWorkers(const GivenOptions& given, const PlanContext& context) {
  return context.client_list || (given.Has("max-lanes") && context.worker_count != 1);
}

void LanesBecomeWorkers(uint32_t worker_count, v1::Plan& plan) {
  for (v1::Phase& phase : *plan.mutable_phases()) {
    const uint32_t count = phase.has_lanes_per_worker() ? phase.lanes_per_worker() : plan.lanes_per_worker();
    phase.clear_lanes_per_worker();
    if (count == worker_count) continue;
    for (v1::Assignment& assignment : *phase.mutable_assignments()) {
      for (uint32_t worker = 0; worker < count; ++worker) assignment.mutable_who()->add_workers(worker);
    }
  }
  plan.set_lanes_per_worker(1);
}

void LetEachClientWorkAlone(std::span<const WorkersOfClient> clients, v1::Plan& plan) {
  plan.clear_per_client();
  const google::protobuf::RepeatedPtrField<v1::Phase> phases = std::move(*plan.mutable_phases());
  plan.clear_phases();
  for (const v1::Phase& phase : phases) {
    std::vector<v1::Phase> alone;
    for (const WorkersOfClient& client : clients) {
      v1::Phase own = OfWorkers(client.workers, phase);
      if (own.assignments().empty()) continue;
      own.set_name(absl::StrCat(phase.name(), " on ", client.name));
      own.mutable_alone()->set_phase(phase.name());
      own.mutable_alone()->set_client(client.name);
      own.clear_score();
      alone.push_back(std::move(own));
    }
    if (alone.size() > 1) plan.mutable_phases()->Add(alone.begin(), alone.end());
    *plan.add_phases() = phase;
  }
}

void LeaveOutWhatTheEngineCannot(const GivenOptions& given, v1::Plan& plan) {
  if (given.Has("op")) return;
  auto& phases = *plan.mutable_phases();
  const auto kept = std::remove_if(phases.begin(), phases.end(), [](const v1::Phase& phase) {
    // The user has named a load, and CheckPlan refuses a phase without assignments.
    if (phase.background() || phase.assignments().empty()) return false;
    const v1::Operation& operation = phase.assignments(0).operation();
    const OperationSpec* const spec = SpecOf(operation);
    return spec != nullptr && EngineOf(operation) != nullptr && !EngineFor(*spec, operation.engine()).ok();
  });
  phases.DeleteSubrange(static_cast<int>(kept - phases.begin()), static_cast<int>(phases.end() - kept));
}

absl::Status AddSteps(const GivenOptions& given, const PlanContext& context, v1::Plan& plan) {
  const double rest_s = given.Decimal("rest");
  const OptionSpec& drop_caches = OptionNamed("drop-caches");
  const bool cold = given.Has("cold");
  const bool own_soak = given.Has("soak") && !given.Has("plan") && !given.Has("suite");
  const bool cold_as_usual = !context.has_own_method && ReadsColdAsUsual(given);
  bool first = true, any_reads = false;
  for (v1::Phase& phase : *plan.mutable_phases()) {
    if (phase.background()) continue;  // it is part of the others
    if (given.Has("eat-memory") && first) {
      const auto percent = static_cast<uint32_t>(given.Number("eat-memory", 0));
      phase.add_before()->mutable_eat_memory()->set_percent(percent);
    }
    if (given.Has("fill") && first) {
      phase.add_before()->mutable_fill()->set_percent(static_cast<uint32_t>(given.Number("fill", 0)));
    }
    first = false;
    if (given.Has("rest")) {
      v1::Rest& rest = *phase.add_before()->mutable_rest();
      rest.set_seconds(rest_s);
      rest.set_not_first(true);  // this phase is run again in other repetitions, or by each client
    }
    if (given.Has("remount")) phase.add_before()->mutable_remount()->set_mount_point(given.Text("remount"));
    const bool reads =
        std::any_of(phase.assignments().begin(), phase.assignments().end(),
                    [&](const v1::Assignment& each) { return IsFor(drop_caches, each.operation()); });
    if ((cold || given.Has("drop-caches")) && reads) {
      phase.add_before()->mutable_drop_caches()->set_verify(cold);
      any_reads = true;
    } else if (((own_soak && reads) || cold_as_usual) && MayReadFromMemory(phase)) {
      phase.add_before()->mutable_drop_caches()->set_verify(cold_as_usual);
    }
  }
  if (any_reads) return absl::OkStatus();
  if (cold) return NoPhaseFor(OptionNamed("cold"));
  return given.Has("drop-caches") ? NoPhaseFor(drop_caches) : absl::OkStatus();
}

}  // namespace iobench
