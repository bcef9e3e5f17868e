// Data of which each op's has to be made by itself: sectors that say who wrote them, records that a set of lanes
// shares.
#ifndef WORKER_DATA_RECORD_MAKER_H_
#define WORKER_DATA_RECORD_MAKER_H_

#include <cstddef>

#include "common/op.h"

namespace iobench {

// One per lane, on its thread; called before an op, outside its time. Allocates nothing.
class RecordMaker {
 public:
  virtual ~RecordMaker() = default;

  // op.length bytes, valid until the next call, aligned in memory as op.offset is up to 4 KiB.
  virtual const std::byte* Make(const Op& op) = 0;
};

}  // namespace iobench

#endif  // WORKER_DATA_RECORD_MAKER_H_
