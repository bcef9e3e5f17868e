#include <algorithm>
#include <numeric>

#include "common/model/engine.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"

namespace iobench {
namespace {

// Growing files may take this part of what is free: others write too, and phases with other lanes have files of their own.
constexpr uint64_t kShareOfFree = 4;

}  // namespace

bool CanGrow(const v1::FileLayout& files, const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  if (spec == nullptr || spec->is_metadata() || !spec->creates_files) return false;
  const auto engine = EngineFor(*spec, operation.has_engine() ? operation.engine() : kDefaultEngine);
  if (!engine.ok() || !(*engine)->uses_files) return false;
  const bool one_file = !files.shared_file() && files.files_per_lane() <= 1 && files.existing_files().empty();
  return one_file && spec->pattern == Pattern::kSequential && !(*engine)->Can(EngineFeature::kMapping) &&
         !operation.preallocate() && !operation.keep_existing() && !operation.first_lane_files() &&
         operation.trace().read_file().empty();
}

bool GrowsFiles(const v1::Plan& plan, const v1::Phase& phase) {
  const v1::FileLayout files = ShapeOf(plan, phase).files;
  return phase.stop().time_s() > 0 && files.bytes_per_lane() > plan.files().bytes_per_lane() &&
         std::all_of(phase.assignments().begin(), phase.assignments().end(),
                     [&files](const v1::Assignment& each) { return CanGrow(files, each.operation()); });
}

bool GrowsFiles(const v1::Plan& plan) {
  return std::any_of(plan.phases().begin(), plan.phases().end(),
                     [&plan](const v1::Phase& phase) { return GrowsFiles(plan, phase); });
}

PhaseShape LeastShapeOf(const v1::Plan& plan, const v1::Phase& phase) {
  PhaseShape shape = ShapeOf(plan, phase);
  if (GrowsFiles(plan, phase)) shape.files.set_bytes_per_lane(plan.files().bytes_per_lane());
  return shape;
}

uint64_t WholeRecordsIn(uint64_t bytes, const v1::Phase& phase) {
  uint64_t unit = 1;
  for (const v1::Assignment& assignment : phase.assignments()) {
    unit = std::lcm(unit, std::max<uint64_t>(1, assignment.operation().record_bytes()));
  }
  return bytes / unit * unit;
}

uint64_t MostGrownBytes(const v1::Plan& plan, const v1::Phase& phase, std::optional<uint64_t> free_bytes,
                        uint64_t lane_count) {
  const uint64_t least = plan.files().bytes_per_lane();
  if (!free_bytes.has_value()) return least;
  const uint64_t share = *free_bytes / kShareOfFree / std::max<uint64_t>(1, lane_count);
  return std::max(least, WholeRecordsIn(std::min(share, phase.files().bytes_per_lane()), phase));
}

}  // namespace iobench
