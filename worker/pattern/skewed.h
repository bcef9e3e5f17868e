// Random order in which some records are used more often than others, as reads, writes or a mix.
#ifndef WORKER_PATTERN_SKEWED_H_
#define WORKER_PATTERN_SKEWED_H_

#include <memory>

#include "worker/pattern/op_stream.h"

namespace iobench {

// Each op draws its record from shape.access, with replacement. The hot records lie anywhere in the files, and are the
// same in every phase of a run and every pass. The last record of a file is not used if it is shorter than the others.
// All ops have the same kind. REQUIRES: MakeOpStream has checked the shape.
std::unique_ptr<OpStream> MakeSkewed(OpKind kind, const StreamShape& shape);

// Each op is a read or of kind `other`, as selected by kinds.h.
std::unique_ptr<OpStream> MakeMixedSkewed(OpKind other, const StreamShape& shape);

}  // namespace iobench

#endif  // WORKER_PATTERN_SKEWED_H_
