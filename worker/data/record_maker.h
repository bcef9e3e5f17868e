// The interface for data that must be generated separately for each op: sectors that identify their writer, and records
// that several lanes share.
#ifndef WORKER_DATA_RECORD_MAKER_H_
#define WORKER_DATA_RECORD_MAKER_H_

#include <cstddef>

#include "common/model/op.h"

namespace iobench {

// Each lane has its own, used on its thread. Called before an op, outside its latency. Must not allocate.
class RecordMaker {
 public:
  virtual ~RecordMaker() = default;

  // Returns op.length bytes, valid until the next call. The address has the same offset from a 4 KiB boundary as
  // op.offset.
  virtual const std::byte* Make(const Op& op) = 0;
};

}  // namespace iobench

#endif  // WORKER_DATA_RECORD_MAKER_H_
