// What is written in a message and what is not. Follows the options `unset` and `not_zero` of the fields in plan.proto.
#ifndef COORDINATOR_YAML_FIELD_PRESENCE_H_
#define COORDINATOR_YAML_FIELD_PRESENCE_H_

#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace iobench {

// InvalidArgument: a field that cannot be 0 or empty has this value; the message says where, what to write instead and
// what leaving it out means: "lanes_per_worker is 0: use 1 or more (-t), or leave it out for the plan's number".
// `except`: a field that is not examined, such as a list whose elements are checked one by one.
absl::Status CheckNoZeros(const google::protobuf::Message& message, std::string_view except = {});

// Gives every single field of the message, and of the messages in it, that has no value its 0, false or "", except for
// fields of which that is not what it means that they are left out.
void WriteOutZeros(google::protobuf::Message& message);

}  // namespace iobench

#endif  // COORDINATOR_YAML_FIELD_PRESENCE_H_
