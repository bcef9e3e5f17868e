// Orders in which ops have several sizes: random places, or one op after the other.
#ifndef WORKER_PATTERN_SEVERAL_SIZES_H_
#define WORKER_PATTERN_SEVERAL_SIZES_H_

#include <memory>

#include "worker/pattern/op_stream.h"

namespace iobench {

// In each pass, the ops have the sizes of shape.records in exact shares and in random order (record_deck.h). Both are for
// ops of one kind; the second pair selects reads and ops of kind `other` as kinds.h does. REQUIRES: MakeOpStream has
// checked the shape.

// Each op draws its place, with replacement: a multiple of its own size, anywhere in the files; with shape.access, a multiple
// of its own size within a record of the largest size, which is drawn from that distribution. A pass moves about as many
// bytes as the files have, so some places are used more than once and others not at all.
std::unique_ptr<OpStream> MakeSizedRandom(OpKind kind, const StreamShape& shape);
std::unique_ptr<OpStream> MakeMixedSizedRandom(OpKind other, const StreamShape& shape);

// Each op begins where the one before it ended, and a file's last one ends with the file, so a pass moves each byte once.
std::unique_ptr<OpStream> MakeSizedSequence(OpKind kind, const StreamShape& shape);
std::unique_ptr<OpStream> MakeMixedSizedSequence(OpKind other, const StreamShape& shape);
// The number of ops in order with which pass 0 begins that together move at least `bytes`, or those of the whole pass. It
// deals them all: 5 ns each.
uint64_t SizedOpsThatMove(uint64_t bytes, const StreamShape& shape);

}  // namespace iobench

#endif  // WORKER_PATTERN_SEVERAL_SIZES_H_
