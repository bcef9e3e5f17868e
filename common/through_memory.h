// Whether what an operation writes may stay in memory when its call has returned.
#ifndef COMMON_THROUGH_MEMORY_H_
#define COMMON_THROUGH_MEMORY_H_

#include "iobench/v1/plan.pb.h"

namespace iobench {

// Its writes, if it has any, neither bypass nor flush memory by themselves (without a mount: the server's memory).
inline bool WritesThroughMemory(const v1::Operation& operation) {
  return !operation.direct() && !operation.sync() && !operation.dsync() && !operation.rsync();
}

}  // namespace iobench

#endif  // COMMON_THROUGH_MEMORY_H_
