// What a plan may say about data, verification, and what lies between ops.
#ifndef COORDINATOR_DATA_CHECK_H_
#define COORDINATOR_DATA_CHECK_H_

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Defaults written out.
void CompleteData(v1::DataContent& data);
void CompleteBetween(v1::Between& between);

// InvalidArgument names the two things that cannot go together, by their options. REQUIRES: a completed plan.
absl::Status CheckData(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_DATA_CHECK_H_
