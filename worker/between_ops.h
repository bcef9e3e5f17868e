// What a lane does between its ops: think, keep a pace, purge caches, make data, check what was read. It is in no op's
// time; the loop adds it up, so that a report can say how much of a lane's time it was.
#ifndef WORKER_BETWEEN_OPS_H_
#define WORKER_BETWEEN_OPS_H_

#include <cstddef>

#include "common/op.h"

namespace iobench {

// One per lane, on its thread. No call allocates, locks or logs.
class BetweenOps {
 public:
  virtual ~BetweenOps() = default;

  // Before `next` begins; may sleep. Data that it writes are ready in the lane's Payload afterwards.
  virtual void Before(const Op& next) = 0;

  // In place of After: the phase ended while Before waited, so that `next` does not begin. Where the lane goes on later,
  // Before comes again for it.
  virtual void NotBegun() {}

  // After `done` has succeeded. `data`: what a read, or the read of an update, brought, done.length bytes; null where
  // the engine kept none. With several ops in flight it comes in the order of their ends.
  virtual void After(const Op& done, const std::byte* data) = 0;
};

}  // namespace iobench

#endif  // WORKER_BETWEEN_OPS_H_
