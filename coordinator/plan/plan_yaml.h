// Plans as YAML, with exactly the names of plan.proto. A printed plan can be loaded again.
#ifndef COORDINATOR_PLAN_PLAN_YAML_H_
#define COORDINATOR_PLAN_PLAN_YAML_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Parse a plan, without completing or checking it. InvalidArgument: the message names the position and what is valid
// there ("plan.yaml:7:5: phases[0].operation: unknown field …"). Fields that end in _bytes accept 64k, 4m and 1g as
// well as plain bytes. Enums are written in lower case without their prefix ("flushed"). A repeated field name is an
// error. `drawn_seed`: used if the plan has no seed.
absl::StatusOr<v1::Plan> LoadPlan(const std::string& file, uint64_t drawn_seed);  // NotFound: cannot be read
absl::StatusOr<v1::Plan> ParsePlan(const std::string& text, const std::string& file_name,
                                   uint64_t drawn_seed = 1);

// Sets one scalar field by name, with the syntax of a plan. InvalidArgument: the text is not a valid value. REQUIRES:
// the message has a non-repeated scalar field of that name.
absl::Status SetFieldFromText(const std::string& name, const std::string& text,
                              google::protobuf::Message& message);

// Returns all fields, including defaults, except for messages that are not set.
std::string PlanToYaml(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_PLAN_YAML_H_
