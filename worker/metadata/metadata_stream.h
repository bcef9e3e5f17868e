// The order of items. Ops have the format that worker/metadata/metadata_engine.h expects: `object` is the item's
// directory, `offset` the item's number, `length` the bytes of data that the op transfers.
#ifndef WORKER_METADATA_METADATA_STREAM_H_
#define WORKER_METADATA_METADATA_STREAM_H_

#include <cstdint>
#include <memory>

#include "common/model/operation.h"
#include "worker/metadata/item_sizes.h"
#include "worker/metadata/lane_tree.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

// What a stream needs to know besides the operation and the tree. Streams of equal shapes yield equal ops.
struct MetadataShape {
  // The items used, from the first: 1 … tree.item_count(). After a deadline there may be fewer than the tree has.
  uint64_t item_count = 0;
  ItemSizes sizes = {};  // used by operations that read or write files
  // Visit the items in an order that differs between lanes, phases and passes, instead of by number.
  bool random_order = false;
  uint64_t seed = 0;
  uint32_t lane = 0;
  uint32_t phase = 0;
};

// Visits each item once per pass; readdir visits each directory with items. An operation with a cycle processes the
// items in rotation, oldest first, with the ops of the cycle on each, after which the set of files is complete. An append
// is to the item that is half a round younger, so that every file is appended to once in its lifetime. Of a move and the
// move back, `object` is the directory that the item leaves.
// remove-tree: each item, which the listing determines; and of a directory, `object` is the last one of the lowest level below
// it, or itself, and `offset` its level: 1 is below the root.
std::unique_ptr<OpStream> MakeMetadataStream(const OperationSpec& operation, const LaneTree& tree,
                                             const MetadataShape& shape);

}  // namespace iobench

#endif  // WORKER_METADATA_METADATA_STREAM_H_
