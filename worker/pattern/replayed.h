// The ops of a trace, in its order.
#ifndef WORKER_PATTERN_REPLAYED_H_
#define WORKER_PATTERN_REPLAYED_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/pattern/op_stream.h"

namespace iobench {

// A line of a trace. 16 bytes: there may be many.
struct TraceOp {
  uint64_t offset = 0;
  uint32_t length = 0;
  uint32_t delay_us = 0;  // between the end of the op before and the beginning of this one

  friend bool operator==(const TraceOp&, const TraceOp&) = default;
};
static_assert(sizeof(TraceOp) == 16);

// On the lane's only file; each pass goes through all of it. The trace is shared by the lanes that replay it.
std::unique_ptr<OpStream> MakeReplayed(OpKind kind, std::shared_ptr<const std::vector<TraceOp>> trace);

}  // namespace iobench

#endif  // WORKER_PATTERN_REPLAYED_H_
