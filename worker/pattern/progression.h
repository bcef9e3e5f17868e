// Orders that are arithmetic on the op's position: sequential, backward, stride, first record.
#ifndef WORKER_PATTERN_PROGRESSION_H_
#define WORKER_PATTERN_PROGRESSION_H_

#include <memory>

#include "worker/pattern/op_stream.h"

namespace iobench {

// REQUIRES: a shape that MakeOpStream has checked. Files are worked on one after the other, except that the backward
// order begins with the last one.
std::unique_ptr<OpStream> MakeProgression(Pattern pattern, OpKind kind, const StreamShape& shape);

// Sequential; reads and ops of kind `other`, as kinds.h chooses.
std::unique_ptr<OpStream> MakeMixedSequential(OpKind other, const StreamShape& shape);

}  // namespace iobench

#endif  // WORKER_PATTERN_PROGRESSION_H_
