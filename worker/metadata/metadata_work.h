// What a phase requires from one lane that works on a tree.
#ifndef WORKER_METADATA_METADATA_WORK_H_
#define WORKER_METADATA_METADATA_WORK_H_

#include <algorithm>
#include <cstdint>

#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/tree_state.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "worker/metadata/item_sizes.h"
#include "worker/metadata/lane_tree.h"

namespace iobench {

// What the operation, the plan and the state of the tree together ask of one lane. Plain values that do not change in
// the phase; they do no I/O. `operation` must be a metadata operation.
struct MetadataWork {
  // `found`: the state at the start of the phase. `owner`: the lane whose items are used. `seed` is the run's.
  MetadataWork(const OperationSpec& spec, const v1::Tree& of_tree, const v1::TreeState& found, uint32_t owner,
               uint32_t phase_index, uint64_t seed)
      : operation(&spec),
        effect(EffectOf(spec)),
        tree(of_tree),
        state(found),
        names(of_tree, found.number(), owner),
        sizes(of_tree, seed, owner),
        phase(phase_index),
        lane(owner) {
    // Without a count, use all items; an operation that creates all of them does not depend on the previous number.
    item_count = state.items() == 0 ? names.item_count() : std::min(state.items(), names.item_count());
  }

  const OperationSpec* operation;  // a row of the table
  TreeEffect effect;
  v1::Tree tree;
  v1::TreeState state;  // at the start of the phase, before any preparation
  LaneTree names;       // names in the owner's part
  ItemSizes sizes;
  uint64_t item_count = 0;
  uint32_t phase = 0;
  uint32_t lane = 0;  // that works on it; the constructor takes it to be the owner

  // Whether the ops transfer file contents: the operation does so, and the files of the tree have any.
  bool reads_data() const { return effect.reads_data && tree.file_bytes() > 0; }
  bool writes_data() const { return effect.writes_data && tree.file_bytes() > 0; }
  // The size of the largest file, at most 1 GiB.
  uint32_t file_bytes() const { return static_cast<uint32_t>(tree.file_bytes()); }
  // The start of an item's data in everything that the lane writes: each file starts at its own 4 KiB boundary.
  uint64_t DataBeginOf(uint64_t item) const { return item * ((tree.file_bytes() + 4095) / 4096 * 4096); }
  // The names of the files when the operation starts, and those that rename gives them.
  NameKind file_names() const { return NamesFor(renamed_at_begin()); }
  NameKind other_file_names() const { return NamesFor(!renamed_at_begin()); }

 private:
  // Files have one of two names; rename switches between them.
  static NameKind NamesFor(bool renamed) { return renamed ? NameKind::kMoved : NameKind::kItem; }
  // Files that are prepared get their first names.
  bool renamed_at_begin() const {
    const bool kept = !state.unknown() && state.files() && !effect.makes.Has(TreePart::kFiles) &&
                      !PartsInTheWay(state, effect, tree).Has(TreePart::kFiles);
    return kept && state.renamed();
  }
};

// Files are written and read in pieces of at most this size, so that the buffers of a lane stay small.
inline constexpr uint32_t kLargestPieceBytes = 1 << 20;
// The extended attribute that set-xattr and get-xattr use. User attributes need no privileges.
inline constexpr char kXattrName[] = "user.cluster-iobench";

}  // namespace iobench

#endif  // WORKER_METADATA_METADATA_WORK_H_
