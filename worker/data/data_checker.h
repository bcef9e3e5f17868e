// The interface for checking data that has been read.
#ifndef WORKER_DATA_DATA_CHECKER_H_
#define WORKER_DATA_DATA_CHECKER_H_

#include <cstddef>

#include "common/memory/own_lines.h"
#include "common/model/op.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Each lane has its own, used on its thread.
class DataChecker : public OnOwnLines {
 public:
  virtual ~DataChecker() = default;

  // Checks the data of an op that read, outside its latency. `data` has op.length bytes. Must not allocate.
  virtual void Check(const Op& op, const std::byte* data) = 0;

  // Returns what has been found so far. In its `first`, `file` is the decimal index among the lane's files, and
  // `offset` counts within the file or the lane's extent; the lane converts both to real paths and offsets.
  virtual v1::VerifyResult Result() const = 0;
};

}  // namespace iobench

#endif  // WORKER_DATA_DATA_CHECKER_H_
