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

  // The ops that follow belong to this pass over the lane's records (OpStream::Restart), and their data differs from
  // that of other passes, except for what is meant to be equal.
  virtual void BeginPass(uint64_t pass) = 0;

  // Returns op.length bytes, valid until the next call. The address has the same offset from a 4 KiB boundary as
  // op.offset.
  virtual const std::byte* Make(const Op& op) = 0;
};

}  // namespace iobench

#endif  // WORKER_DATA_RECORD_MAKER_H_
