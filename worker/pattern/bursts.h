// Random order of bursts: several records in a row from each place.
#ifndef WORKER_PATTERN_BURSTS_H_
#define WORKER_PATTERN_BURSTS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

// The files are divided into bursts of shape.burst_records records; a file's last burst may be shorter. They are visited in
// the random order that single records would have: each once per pass, or, with shape.access, drawn with replacement (there,
// only from whole bursts). Within a burst, records follow each other. The first function is for ops of one kind; in the
// second, each op is a read or of kind `other`, as selected by kinds.h. REQUIRES: MakeOpStream has checked the shape.
std::unique_ptr<OpStream> MakeBursts(OpKind kind, const StreamShape& shape);
std::unique_ptr<OpStream> MakeMixedBursts(OpKind other, const StreamShape& shape);

}  // namespace iobench

#endif  // WORKER_PATTERN_BURSTS_H_
