// Orders that are computed from the op's position: sequential, backward, stride, first record.
#ifndef WORKER_PATTERN_PROGRESSION_H_
#define WORKER_PATTERN_PROGRESSION_H_

#include <memory>

#include "worker/pattern/op_stream.h"

namespace iobench {

// Processes the files one after the other, starting with the first, or with the last in backward order. REQUIRES:
// MakeOpStream has checked the shape.
std::unique_ptr<OpStream> MakeProgression(Pattern pattern, OpKind kind, const StreamShape& shape);

// Sequential; each op is a read or of kind `other`, as selected by kinds.h.
std::unique_ptr<OpStream> MakeMixedSequential(OpKind other, const StreamShape& shape);

}  // namespace iobench

#endif  // WORKER_PATTERN_PROGRESSION_H_
