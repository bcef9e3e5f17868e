// What a plan says of metadata operations: defaults, what is wrong, which trees there are and how much room they take.
// Pure.
#ifndef COORDINATOR_METADATA_PLAN_H_
#define COORDINATOR_METADATA_PLAN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

bool IsMetadata(const v1::Operation& operation);
bool IsMetadata(const v1::Phase& phase);  // all of its assignments
bool WorksOnData(const v1::Plan& plan);   // some operation moves records of files
bool WorksOnTrees(const v1::Plan& plan);  // some operation calls on names, in a file system

// Writes the tree's defaults out, and takes out what an operation on names has no use for. REQUIRES: IsMetadata.
void CompleteMetadata(v1::Operation& operation);

// InvalidArgument: a tree or a rule for its end that makes no sense. REQUIRES: CompleteMetadata.
absl::Status CheckMetadata(const v1::Operation& operation, const v1::StopRule& stop);

// Operations of the same directories, and of the same random sizes, work on the same tree, numbered in the order in
// which phases mention them.
// REQUIRES: IsMetadata(operation), which is one of the plan's.
uint32_t TreeNumberOf(const v1::Plan& plan, const v1::Operation& operation);

// Bytes that the files of all trees of one lane hold together; of random sizes about so many.
uint64_t TreeBytesPerLane(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_METADATA_PLAN_H_
