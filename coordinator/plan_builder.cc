#include "coordinator/plan_builder.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/operation.h"
#include "common/status_util.h"
#include "common/units.h"
#include "coordinator/plan_check.h"
#include "coordinator/plan_yaml.h"

namespace iobench {
namespace {

constexpr uint64_t kDefaultRecordBytes = 64_KiB;
constexpr uint64_t kDefaultBytesPerLane = 64_MiB;

absl::StatusOr<uint64_t> BytesOption(const std::string& text, const char* option, uint64_t default_bytes) {
  if (text.empty()) return default_bytes;
  absl::StatusOr<uint64_t> bytes = ParseBytes(text, 1_KiB);  // IOzone: a bare number is KiB
  if (!bytes.ok()) return Annotate(bytes.status(), option);
  return bytes;
}

v1::Operation OperationFrom(const WorkOptions& work, const OperationSpec& spec, uint64_t record_bytes) {
  v1::Operation operation;
  operation.set_name(std::string(spec.name));
  operation.set_engine(work.engine);
  operation.set_record_bytes(record_bytes);
  operation.set_stride_records(work.stride_records);
  operation.set_read_percent(work.mix_percent);
  operation.set_mix_by_lane(work.mix_by_lane && spec.mixes());
  operation.set_direct(work.direct);
  operation.set_sync(work.sync);
  operation.set_dsync(work.dsync);
  operation.set_rotate_clients(work.rotate_clients && !spec.writes());
  return operation;
}

v1::Phase PhaseFrom(const WorkOptions& work, const OperationSpec& spec, uint64_t record_bytes) {
  v1::Phase phase;
  phase.set_name(std::string(spec.name));
  *phase.add_assignments()->mutable_operation() = OperationFrom(work, spec, record_bytes);
  if (work.drop_caches && !spec.writes()) phase.add_before()->mutable_drop_caches();
  v1::TimedRegion& region = *phase.mutable_region();
  region.set_open(work.open_in_timing);
  region.set_fsync(work.fsync_in_timing);
  region.set_close(work.close_in_timing);
  v1::StopRule& stop = *phase.mutable_stop();
  stop.set_time_s(work.time_s);
  stop.set_warmup_s(work.warmup_s);
  stop.set_deadline_s(work.deadline_s);
  stop.set_wear_out(work.wear_out);
  if (work.no_stonewall) {
    phase.set_stonewall(v1::STONEWALL_NONE);
  } else if (work.stop_at_stonewall) {
    v1::TimedRegion effective = region;
    if (!spec.writes()) effective.set_fsync(false);
    const v1::Stonewall usual = DefaultStonewall(phase.assignments(0).operation(), effective);
    phase.set_stonewall(usual == v1::STONEWALL_FLUSHED ? usual : v1::STONEWALL_STOP);
  }
  return phase;
}

void SetTargets(const std::vector<std::string>& paths, v1::Plan& plan) {
  plan.clear_targets();
  for (const std::string& path : paths) plan.add_targets()->set_path(path);
}

void MakePathsAbsolute(v1::Plan& plan) {
  for (v1::Target& target : *plan.mutable_targets()) {
    if (target.path().empty()) continue;
    std::error_code ignored;
    std::filesystem::path path = std::filesystem::absolute(target.path(), ignored).lexically_normal();
    if (!path.has_filename() && path.has_parent_path() && path != path.root_path()) path = path.parent_path();
    target.set_path(path.string());
  }
}

}  // namespace

absl::StatusOr<v1::Plan> BuildPlan(const WorkOptions& work, uint32_t default_lanes) {
  v1::Plan plan;
  if (!work.plan_file.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(plan, LoadPlan(work.plan_file));
    if (!work.paths.empty()) SetTargets(work.paths, plan);
    if (work.keep) plan.set_keep_data(true);
  } else {
    SetTargets(work.paths.empty() ? std::vector<std::string>{"."} : work.paths, plan);
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes_per_lane,
                             BytesOption(work.size, "--size", kDefaultBytesPerLane));
    const uint64_t file_bytes = bytes_per_lane / std::max(1u, work.files_per_lane);
    // The default record shrinks with a small file; one that was asked for does not.
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t record_bytes,
                             BytesOption(work.record, "--record",
                                         std::min(kDefaultRecordBytes, std::max<uint64_t>(1, file_bytes))));
    plan.mutable_files()->set_bytes_per_lane(bytes_per_lane);
    plan.mutable_files()->set_files_per_lane(work.files_per_lane);
    plan.mutable_files()->set_shared_file(work.shared_file);
    plan.set_lanes_per_worker(work.lanes > 0 ? work.lanes : default_lanes);
    plan.set_repetitions(work.repetitions);
    plan.set_seed(work.seed);
    plan.set_keep_data(work.keep);
    const std::vector<std::string> usual = {"0", "1", "2"};
    for (const std::string& text : work.operations.empty() ? usual : work.operations) {
      auto specs = OperationsFor(text);
      if (!specs.ok()) return absl::InvalidArgumentError(specs.status().message());
      const bool by_number = specs->size() > 1 || std::string((*specs)[0]->name) != text;
      for (const OperationSpec* spec : *specs) {
        if (spec->retest && by_number && work.no_retest) continue;
        *plan.add_phases() = PhaseFrom(work, *spec, record_bytes);
      }
    }
  }
  CompletePlan(plan);
  MakePathsAbsolute(plan);
  return plan;
}

v1::Plan EmptyPhases(uint32_t phase_count, uint32_t lanes_per_worker) {
  v1::Plan plan;
  plan.add_targets()->set_path("/");
  plan.mutable_files()->set_bytes_per_lane(4_KiB);
  plan.set_lanes_per_worker(lanes_per_worker);
  plan.set_repetitions(phase_count);
  plan.set_seed(1);
  v1::Operation& operation = *plan.add_phases()->add_assignments()->mutable_operation();
  operation.set_name("read");
  operation.set_engine("null");
  operation.set_record_bytes(4_KiB);
  CompletePlan(plan);
  return plan;
}

}  // namespace iobench
