// Random order: every record of all the lane's files exactly once per pass, as reads, writes or a mix.
#ifndef WORKER_PATTERN_SHUFFLED_H_
#define WORKER_PATTERN_SHUFFLED_H_

#include <memory>

#include "worker/pattern/op_stream.h"

namespace iobench {

// All ops have the same kind. REQUIRES: MakeOpStream has checked the shape.
std::unique_ptr<OpStream> MakeShuffled(OpKind kind, const StreamShape& shape);

// Each op is a read or of kind `other`, as selected by kinds.h.
std::unique_ptr<OpStream> MakeMixedShuffled(OpKind other, const StreamShape& shape);

}  // namespace iobench

#endif  // WORKER_PATTERN_SHUFFLED_H_
