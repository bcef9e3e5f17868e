// Facts that follow from a plan alone. Everything that needs one of them takes it from here. Pure.
#ifndef COMMON_MODEL_PLAN_TRAITS_H_
#define COMMON_MODEL_PLAN_TRAITS_H_

#include <cstdint>

#include "common/model/operation.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// The directory below each target that holds a run's data.
inline constexpr char kDataDirectoryName[] = "cluster-iobench.data";

// Returns the row of the operation table; null: there is no such operation.
const OperationSpec* SpecOf(const v1::Operation& operation);

bool IsMetadata(const v1::Operation& operation);
bool IsMetadata(const v1::Phase& phase);  // true if it has assignments and all of them are

// True if writes of this operation would neither bypass memory nor flush it (no -I, -o, -+D or -+r). Without a mount,
// this refers to the server's memory.
bool WritesThroughMemory(const v1::Operation& operation);

// True if a client of our own transfers the bytes, which caches nothing in the client's memory.
bool IsUnmounted(const v1::Operation& operation);

// Returns the first assignment that selects this worker, or null if the worker sits out.
const v1::Assignment* AssignmentOf(const v1::Phase& phase, uint32_t worker);

}  // namespace iobench

#endif  // COMMON_MODEL_PLAN_TRAITS_H_
