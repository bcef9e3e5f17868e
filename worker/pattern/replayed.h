// The ops of a trace, in the trace's order.
#ifndef WORKER_PATTERN_REPLAYED_H_
#define WORKER_PATTERN_REPLAYED_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/pattern/op_stream.h"

namespace iobench {

// One line of a trace. Limited to 16 bytes, because a trace may have many lines.
struct TraceOp {
  uint64_t offset = 0;  // in bytes from the start of the file
  uint32_t length = 0;  // in bytes
  // From the end of the previous op to the start of this one. Streams ignore it; TraceHook waits.
  uint32_t delay_us = 0;

  friend bool operator==(const TraceOp&, const TraceOp&) = default;
};
static_assert(sizeof(TraceOp) == 16);

// All ops use the lane's only file and have the same kind. Each pass runs the whole trace. The lanes that replay a
// trace share it, because it may be large. REQUIRES: the trace has an op, and its ops fit into the file (trace_file.h
// checks both).
std::unique_ptr<OpStream> MakeReplayed(OpKind kind, std::shared_ptr<const std::vector<TraceOp>> trace);

}  // namespace iobench

#endif  // WORKER_PATTERN_REPLAYED_H_
