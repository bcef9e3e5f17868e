// Random order: every record of all the lane's files exactly once a pass; reads, writes, or a mix of both.
#ifndef WORKER_PATTERN_SHUFFLED_H_
#define WORKER_PATTERN_SHUFFLED_H_

#include <memory>

#include "worker/pattern/op_stream.h"

namespace iobench {

// All ops of one kind. REQUIRES: a shape that MakeOpStream has checked.
std::unique_ptr<OpStream> MakeShuffled(OpKind kind, const StreamShape& shape);

// Reads and ops of kind `other`, as kinds.h chooses.
std::unique_ptr<OpStream> MakeMixedShuffled(OpKind other, const StreamShape& shape);

}  // namespace iobench

#endif  // WORKER_PATTERN_SHUFFLED_H_
