// The interface for what a lane does between ops: think time, pacing, cache purges, generating data, checking what was
// read. This counts in no op's latency; the loop adds it up, so that reports can show its share of the lane's time.
#ifndef WORKER_LOOP_OP_HOOK_H_
#define WORKER_LOOP_OP_HOOK_H_

#include <cstddef>

#include "common/model/op.h"
#include "common/time.h"

namespace iobench {

// When an op began and ended, on the lane's tick clock: the two readings that its latency is computed from.
struct OpTimes {
  Ticks begin, end;
};

// Each lane has its own, used on its thread. Calls do not allocate, lock or log.
class OpHook {
 public:
  virtual ~OpHook() = default;

  // Called before `next` begins; may sleep. Afterwards the data that `next` writes is ready in the lane's Payload.
  virtual void Before(const Op& next) = 0;

  // Called if the phase ended while Before, or the op itself, was waiting: `next` did not begin, and After is not called. If the
  // lane continues later, Before is called again for the same op.
  virtual void NotBegun() {}

  // Called after `done` has succeeded. `data` holds the done.length bytes that a read, or the read of an update,
  // returned; null if the engine did not keep them. With several ops in flight, calls come in the order in which ops
  // ended.
  virtual void After(const Op& done, const std::byte* data, OpTimes times) = 0;
};

}  // namespace iobench

#endif  // WORKER_LOOP_OP_HOOK_H_
