// Which item comes next. Ops as worker/metadata/metadata_engine.h reads them: `object` is the item's directory,
// `offset` the item's number, `length` the bytes of data that the op moves.
#ifndef WORKER_METADATA_METADATA_STREAM_H_
#define WORKER_METADATA_METADATA_STREAM_H_

#include <cstdint>
#include <memory>

#include "common/operation.h"
#include "worker/metadata/item_sizes.h"
#include "worker/metadata/lane_tree.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

struct MetadataShape {
  uint64_t item_count = 0;    // that are worked on, the first so many: 1 … tree.item_count()
  ItemSizes sizes = {};       // moved by operations that read or write files
  bool random_order = false;  // differs by lane, phase and pass
  uint64_t seed = 0;
  uint32_t lane = 0;
  uint32_t phase = 0;
};

// Each item once a pass, or with readdir each directory that holds one. file-mix goes through the items in turn, so
// that the oldest comes first, and does four ops on each: reads it, appends to the one that is half a round younger,
// removes it and makes it anew; so the set stays the same, and every file is read and appended to once in its life.
std::unique_ptr<OpStream> MakeMetadataStream(const OperationSpec& operation, const LaneTree& tree,
                                             const MetadataShape& shape);

// file-mix: ops on one item in turn; after a multiple of them the set is whole.
inline constexpr uint64_t kOpsPerMixCycle = 4;

}  // namespace iobench

#endif  // WORKER_METADATA_METADATA_STREAM_H_
