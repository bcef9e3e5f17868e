#include "coordinator/analysis/phase/phase_traits.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/model/engine.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/model/tree_state.h"

namespace iobench {
namespace {

void AddNew(std::vector<std::string>& texts, std::string_view text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.emplace_back(text);
}

void SetStonewall(const v1::Phase& phase, PhaseTraits& traits) {
  traits.stonewall =
      phase.stonewall() == v1::STONEWALL_UNSPECIFIED ? v1::STONEWALL_RETROACTIVE : phase.stonewall();
  switch (traits.stonewall) {
    case v1::STONEWALL_FLUSHED:
      traits.stonewall_name = "flushed";
      break;
    case v1::STONEWALL_STOP:
      traits.stonewall_name = "stop";
      break;
    case v1::STONEWALL_NONE:
      traits.stonewall_name = "none";
      break;
    default:
      traits.stonewall_name = "retroactive";
  }
  traits.headline_name = traits.stonewall == v1::STONEWALL_NONE ? "full" : "stonewalled";
  traits.headline_region = phase.region().open() ? "open+ops" : "ops";
  if (traits.headline_is_retroactive()) return;
  const bool fsync = phase.region().fsync() && traits.writes;  // -e does not apply to reads
  if (fsync) traits.headline_region += "+fsync";
  if (phase.region().close()) traits.headline_region += "+close";
  traits.headline_fsyncs = fsync;
  traits.headline_closes = phase.region().close();
}

}  // namespace

PhaseTraits TraitsOf(const v1::Phase& phase) {
  PhaseTraits traits;
  std::vector<std::string> titles, engines;
  traits.null_engine = traits.unmounted = phase.assignments_size() > 0;
  traits.metadata = traits.metadata_repeats = traits.finds = phase.assignments_size() > 0;
  traits.writes_new_files = phase.assignments_size() > 0;
  for (const v1::Assignment& assignment : phase.assignments()) {
    const v1::Operation& operation = assignment.operation();
    const OperationSpec* const spec = SpecOf(operation);
    AddNew(titles, spec != nullptr ? spec->title : std::string_view(operation.name()));
    AddNew(engines, operation.engine());
    if (traits.record_bytes == 0) traits.record_bytes = operation.record_bytes();
    const bool reads = spec == nullptr || spec->reads();
    const bool writes = spec == nullptr || spec->writes();
    const bool null_engine = MovesNothing(operation);
    const bool unmounted = IsUnmounted(operation);
    const bool metadata = IsMetadata(operation);
    traits.metadata &= metadata;
    traits.finds &= FindsItems(operation) && !null_engine;
    traits.metadata_repeats &= metadata && EffectOf(*spec).repeats;
    traits.needs_items |= metadata && !EffectOf(*spec).needs.empty();
    if (metadata && traits.tree.items_per_lane() == 0) traits.tree = operation.tree();
    traits.reads |= reads;
    traits.writes |= writes;
    traits.null_engine &= null_engine;
    traits.waits_busily |= operation.mpi_io().collective();
    if (writes && !null_engine && WritesThroughMemory(operation)) traits.buffered_writes = true;
    traits.unmounted &= unmounted;
    traits.rotated |= operation.rotate_clients();
    traits.writes_new_files &= spec != nullptr && !metadata && CreatesFiles(operation);
  }
  traits.operation = OperationNames(phase);
  traits.title = absl::StrJoin(titles, " and ");
  traits.engine = absl::StrJoin(engines, "+");
  traits.name = PhaseName(phase);
  traits.headline_in_ops = HeadlineInOps(phase);
  traits.flush_in_region = traits.buffered_writes && (phase.region().fsync() || phase.region().close());
  traits.drops_caches = DropsCaches(phase);
  traits.flushes_passes = phase.region().flush_passes() && traits.writes;
  traits.warmup_s = phase.stop().warmup_s();
  traits.deadline_s = phase.stop().deadline_s();
  SetStonewall(phase, traits);
  return traits;
}

}  // namespace iobench
