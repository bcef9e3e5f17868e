// Messages as JSON, in the style of result.json, and by what writes it (json_writer.cc).
#ifndef COORDINATOR_REPORT_JSON_TEXT_H_
#define COORDINATOR_REPORT_JSON_TEXT_H_

#include <ostream>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace iobench {

// Writes a message with all of its fields, and flushes `out`: names are those of the .proto file (or json_name),
// numbers are numbers, non-finite ones are null, messages and optional fields that are not set are left out. REQUIRES:
// no fields of type float. DataLoss: not everything could be written.
absl::Status WriteJsonText(const google::protobuf::Message& message, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_JSON_TEXT_H_
