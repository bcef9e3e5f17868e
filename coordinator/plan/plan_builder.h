// Builds a plan from the command line options.
#ifndef COORDINATOR_PLAN_PLAN_BUILDER_H_
#define COORDINATOR_PLAN_PLAN_BUILDER_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/options/option.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Inputs of the plan besides the options.
struct PlanContext {
  uint32_t default_lanes = 1;  // used if -t is not given
  uint32_t worker_count = 0;   // of the run; 0: not known yet
  // Workers are started from a client list: as many as the options' lanes, with one lane each.
  bool client_list = false;
  uint64_t memory_bytes = 0;  // of this host, for suites with files larger than memory; 0: unknown
  // The command decides how it measures (capacity); otherwise MeasureAsUsual does where the user has not.
  bool has_own_method = false;
  std::string queue_engine = "uring";  // of --depth without an engine
  uint64_t drawn_seed = 1;    // used if neither --seed nor a plan gives a seed
};

// Returns the plan that the options describe, or their --plan file with --path and --keep applied, or their --suite
// with its default values replaced. It is complete (CompletePlan) but not checked. Relative paths are resolved against
// the current directory of this process, which workers on other hosts do not share. InvalidArgument: an invalid size or
// operation. NotFound: no such plan or suite. Reads the plan's file, nothing else of the file system. REQUIRES:
// CheckOptions.
absl::StatusOr<v1::Plan> BuildPlan(const GivenOptions& given, const PlanContext& context);

// Returns `path` as plans have it: absolute, without "." and "..", and without a slash at its end; an nfs:// URL in
// libnfs's form, or unchanged if it is invalid. A relative path is resolved against the current directory of this
// process. Reads nothing else of the file system.
std::string AbsolutePath(const std::string& path);

// Returns a plan of `phase_count` phases in which each lane runs one op of the null engine; it measures the tool's own
// cost.
v1::Plan EmptyPhases(uint32_t phase_count, uint32_t lanes_per_worker);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_PLAN_BUILDER_H_
