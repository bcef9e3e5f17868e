// Plans as YAML, with exactly the names of plan.proto. A printed plan can be loaded again.
#ifndef COORDINATOR_PLAN_PLAN_YAML_H_
#define COORDINATOR_PLAN_PLAN_YAML_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Parse a plan, without completing or checking it, as ReadMessage (yaml/message_yaml.h) reads any message. LoadPlan also
// refuses fields that have no effect (CheckFieldsHaveUse).
// InvalidArgument: the message names the position and what is valid there. `drawn_seed`: used if the plan has no seed.
absl::StatusOr<v1::Plan> LoadPlan(const std::string& file, uint64_t drawn_seed);  // NotFound: cannot be read
absl::StatusOr<v1::Plan> ParsePlan(const std::string& text, const std::string& file_name,
                                   uint64_t drawn_seed = 1);

// Returns all fields that have a value; in a complete plan, also those that are 0, false or empty.
std::string PlanToYaml(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_PLAN_YAML_H_
