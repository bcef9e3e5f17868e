// A plan as YAML: exactly the words of plan.proto. What is printed can be loaded again.
#ifndef COORDINATOR_PLAN_YAML_H_
#define COORDINATOR_PLAN_YAML_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument names the place ("plan.yaml:7:5: phases[0].operation: unknown field …") and what is known there.
// Fields that end in _bytes take 64k, 4m, 1g beside plain bytes; enums are written in lower case without their prefix
// ("flushed"). A field written twice is an error.
// `drawn_seed`: the plan's where it does not say one.
absl::StatusOr<v1::Plan> LoadPlan(const std::string& file, uint64_t drawn_seed);  // NotFound: cannot be read
absl::StatusOr<v1::Plan> ParsePlan(const std::string& text, const std::string& file_name,
                                   uint64_t drawn_seed = 1);

// One scalar field, by its name, as a plan would have it. InvalidArgument: the text is no value of it.
// REQUIRES: the message has a single field of that name that is no message.
absl::Status SetFieldFromText(const std::string& name, const std::string& text,
                              google::protobuf::Message& message);

// Every field, defaults too; messages that are not set are left out.
std::string PlanToYaml(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_YAML_H_
