// Messages as YAML, with exactly the names of their .proto file. A printed message can be read again.
#ifndef COORDINATOR_YAML_MESSAGE_YAML_H_
#define COORDINATOR_YAML_MESSAGE_YAML_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace iobench {

// Fills a message from text. InvalidArgument: the message names the position and what is valid there ("plan.yaml:7:5:
// phases[0].operation: unknown field …"), or says `what` if the text is not a mapping at all. Fields that end in _bytes
// accept 64k, 4m and 1g as well as plain bytes. Enums are written in lower case without their prefix ("flushed"). A
// repeated field name is an error. A field next to a merge key (<<) replaces the merged one, as a whole.
absl::Status ReadMessage(const std::string& text, const std::string& file_name, const std::string& what,
                         google::protobuf::Message& message);

// Sets one scalar field by name, with the same syntax; a repeated one gets one element more. InvalidArgument: the text
// is not a valid value. REQUIRES: the message has a field of that name, and it holds no messages.
absl::Status SetFieldFromText(const std::string& name, const std::string& text,
                              google::protobuf::Message& message);

// All fields that have a value (of fields without presence: that is not 0, false or empty). kExact: doubles can be read
// again without loss; kReadable: they have six digits, and lists of numbers are rows.
enum class YamlStyle { kExact, kReadable };
std::string MessageToYaml(const google::protobuf::Message& message, YamlStyle style);

}  // namespace iobench

#endif  // COORDINATOR_YAML_MESSAGE_YAML_H_
