#include "coordinator/yaml/field_presence.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "google/protobuf/descriptor.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

void SetZero(Message& message, const FieldDescriptor& field) {
  const Reflection& to = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return to.SetString(&message, &field, "");
    case FieldDescriptor::CPPTYPE_BOOL:
      return to.SetBool(&message, &field, false);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return to.SetDouble(&message, &field, 0);
    case FieldDescriptor::CPPTYPE_INT32:
      return to.SetInt32(&message, &field, 0);
    case FieldDescriptor::CPPTYPE_UINT32:
      return to.SetUInt32(&message, &field, 0);
    case FieldDescriptor::CPPTYPE_UINT64:
      return to.SetUInt64(&message, &field, 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return to.SetEnumValue(&message, &field, 0);
    default:
      return;
  }
}

absl::Status CheckNoZerosIn(const Message& message, const std::string& prefix, std::string_view except = {}) {
  const Reflection& get = *message.GetReflection();
  std::vector<const FieldDescriptor*> present;
  get.ListFields(message, &present);
  for (const FieldDescriptor* const field : present) {
    if (field->name() == except) continue;
    const std::string place = absl::StrCat(prefix, field->name());
    if (IsMessage(*field)) {
      if (!field->is_repeated()) {
        IOBENCH_RETURN_IF_ERROR(CheckNoZerosIn(get.GetMessage(message, field), absl::StrCat(place, ".")));
      }
      for (int i = 0; field->is_repeated() && i < get.FieldSize(message, field); ++i) {
        IOBENCH_RETURN_IF_ERROR(CheckNoZerosIn(get.GetRepeatedMessage(message, field, i),
                                               absl::StrCat(place, "[", i, "].")));
      }
      continue;
    }
    const auto& options = field->options();
    if (field->is_repeated() || !options.HasExtension(v1::not_zero) || !IsZero(message, *field)) continue;
    const bool is_text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    return absl::InvalidArgumentError(absl::StrCat(
        place, is_text ? " is empty: " : " is 0: ", options.GetExtension(v1::not_zero),
        options.HasExtension(v1::unset) ? ", or leave it out for " : "", options.GetExtension(v1::unset)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckNoZeros(const Message& message, std::string_view except) {
  return CheckNoZerosIn(message, "", except);
}

void WriteOutZeros(Message& message) {
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    if (IsMessage(field)) {
      if (!field.is_repeated() && reflection.HasField(message, &field)) {
        WriteOutZeros(*reflection.MutableMessage(&message, &field));
      }
      for (int item = 0; field.is_repeated() && item < reflection.FieldSize(message, &field); ++item) {
        WriteOutZeros(*reflection.MutableRepeatedMessage(&message, &field, item));
      }
      continue;
    }
    const bool is_open = field.has_presence() && !reflection.HasField(message, &field);
    if (is_open && !field.options().HasExtension(v1::unset)) SetZero(message, field);
  }
}

}  // namespace iobench
