// Looks at what reads brought.
#ifndef WORKER_DATA_DATA_CHECKER_H_
#define WORKER_DATA_DATA_CHECKER_H_

#include <cstddef>

#include "common/op.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// One per lane, on its thread.
class DataChecker {
 public:
  virtual ~DataChecker() = default;

  // After an op that read, outside its time: `data` are op.length bytes. Allocates nothing.
  virtual void Check(const Op& op, const std::byte* data) = 0;

  // What was found so far. In `first`, file is the decimal index among the lane's files and offset counts within it or
  // the lane's extent: where that is on the client is the lane's to say.
  virtual v1::VerifyResult Result() const = 0;
};

}  // namespace iobench

#endif  // WORKER_DATA_DATA_CHECKER_H_
