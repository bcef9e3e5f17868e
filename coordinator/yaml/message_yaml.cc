#include "coordinator/yaml/message_yaml.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/yaml/read_yaml.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "yaml-cpp/yaml.h"

namespace iobench {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr char kMergeKey[] = "<<";
constexpr int kMaxMerges = 16;  // nested in each other

// Returns "flushed" for "STONEWALL_FLUSHED" of enum Stonewall.
std::string ShortName(const EnumDescriptor& type, const std::string& value_name) {
  const std::string name = absl::AsciiStrToLower(value_name);
  const std::string prefix = absl::StrCat(absl::AsciiStrToLower(type.name()), "_");
  return absl::StartsWith(name, prefix) ? name.substr(prefix.size()) : name;
}

// The following read a value as a plan writes it. InvalidArgument: it is not one.

absl::StatusOr<bool> ReadBool(const std::string& text) {
  bool value = false;
  if (YAML::convert<bool>::decode(YAML::Node(text), value)) return value;
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not true or false"));
}

absl::StatusOr<double> ReadDouble(const std::string& text) {
  double value = 0;
  if (YAML::convert<double>::decode(YAML::Node(text), value) && std::isfinite(value)) return value;
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not a number"));
}

absl::StatusOr<int32_t> ReadInt32(const std::string& text) {
  int32_t value = 0;
  if (absl::SimpleAtoi(text, &value)) return value;
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not a whole number"));
}

// Fields of bytes accept units.
absl::StatusOr<uint64_t> ReadUint64(const std::string& text, const FieldDescriptor& field) {
  if (absl::EndsWith(field.name(), "_bytes") || absl::StartsWith(field.name(), "bytes_") ||
      field.name() == "bytes") {
    return ParseBytes(text, 1);
  }
  uint64_t value = 0;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  // yaml-cpp would read 010 as octal.
  if (digits && absl::SimpleAtoi(text, &value)) return value;
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not a whole number of 0 or more"));
}

absl::StatusOr<uint32_t> ReadUint32(const std::string& text, const FieldDescriptor& field) {
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t value, ReadUint64(text, field));
  if (value <= std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(value);
  return absl::InvalidArgumentError(absl::StrCat(text, " is too large"));
}

// "unspecified" is what a field without a value has, so it cannot be written.
absl::StatusOr<int> ReadEnum(const std::string& text, const EnumDescriptor& type) {
  std::vector<std::string> known;
  for (int i = 0; i < type.value_count(); ++i) {
    const std::string name = ShortName(type, type.value(i)->name());
    if (name == "unspecified") continue;
    if (name == absl::AsciiStrToLower(text)) return type.value(i)->number();
    known.push_back(name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not one of: ", absl::StrJoin(known, ", ")));
}

// Sets a single field, or adds one element to a repeated one. InvalidArgument: not a valid value.
absl::Status SetScalar(const std::string& text, const FieldDescriptor& field, Message& message) {
  const Reflection& to = *message.GetReflection();
  const bool repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      repeated ? to.AddString(&message, &field, text) : to.SetString(&message, &field, text);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_BOOL: {
      IOBENCH_ASSIGN_OR_RETURN(const bool value, ReadBool(text));
      repeated ? to.AddBool(&message, &field, value) : to.SetBool(&message, &field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      IOBENCH_ASSIGN_OR_RETURN(const double value, ReadDouble(text));
      repeated ? to.AddDouble(&message, &field, value) : to.SetDouble(&message, &field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_INT32: {
      IOBENCH_ASSIGN_OR_RETURN(const int32_t value, ReadInt32(text));
      repeated ? to.AddInt32(&message, &field, value) : to.SetInt32(&message, &field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_UINT32: {
      IOBENCH_ASSIGN_OR_RETURN(const uint32_t value, ReadUint32(text, field));
      repeated ? to.AddUInt32(&message, &field, value) : to.SetUInt32(&message, &field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      IOBENCH_ASSIGN_OR_RETURN(const uint64_t value, ReadUint64(text, field));
      repeated ? to.AddUInt64(&message, &field, value) : to.SetUInt64(&message, &field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      IOBENCH_ASSIGN_OR_RETURN(const int value, ReadEnum(text, *field.enum_type()));
      repeated ? to.AddEnumValue(&message, &field, value) : to.SetEnumValue(&message, &field, value);
      return absl::OkStatus();
    }
    default:
      return absl::InvalidArgumentError("this field cannot be set in a plan");
  }
}

// Fills a message from a YAML node by reflection. One per document; its only state is the file's name.
class Reader {
 public:
  explicit Reader(std::string file_name) : file_name_(std::move(file_name)) {}

  absl::Status Read(const YAML::Node& node, const std::string& place, Message& message,
                    int merges = 0) const {
    if (node.IsNull()) return absl::OkStatus();  // an empty value, such as "drop_caches:"
    if (!node.IsMap()) return Error(node, place, "expected a mapping of fields");
    const Descriptor& type = *message.GetDescriptor();
    // YAML's merge key, which avoids repetition in plans: the fields next to it override it.
    const YAML::Node merged = node[kMergeKey];
    if (merged.IsDefined()) {
      if (merges == kMaxMerges) {
        return Error(node, place,
                     "merged mappings (<<) refer to each other endlessly, or are nested too deeply");
      }
      IOBENCH_RETURN_IF_ERROR(Read(merged, place, message, merges + 1));
    }
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string name = entry.first.Scalar();
      if (name == kMergeKey) continue;
      const FieldDescriptor* field = type.FindFieldByName(name);
      if (field == nullptr) {
        std::vector<std::string> known;
        known.reserve(static_cast<size_t>(type.field_count()));
        for (int i = 0; i < type.field_count(); ++i) known.push_back(type.field(i)->name());
        return Error(entry.first, place,
                     absl::StrCat("unknown field \"", name, "\"; known: ", absl::StrJoin(known, ", ")));
      }
      if (!seen.insert(name).second)
        return Error(entry.first, place, absl::StrCat("\"", name, "\" appears twice"));
      // Otherwise a list would be added to the merged one, and a mapping mixed with it.
      if (merged.IsDefined()) message.GetReflection()->ClearField(&message, field);
      const std::string field_place = place.empty() ? name : absl::StrCat(place, ".", name);
      IOBENCH_RETURN_IF_ERROR(ReadField(entry.second, field_place, *field, message));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Error(const YAML::Node& node, const std::string& place, const std::string& what) const {
    const YAML::Mark mark = node.Mark();
    const std::string where =
        mark.is_null() ? file_name_ : absl::StrCat(file_name_, ":", mark.line + 1, ":", mark.column + 1);
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": ", place.empty() ? "" : absl::StrCat(place, ": "), what));
  }

  absl::Status ReadField(const YAML::Node& node, const std::string& place, const FieldDescriptor& field,
                         Message& message) const {
    if (!field.is_repeated()) return ReadValue(node, place, field, message);
    if (!node.IsSequence()) return Error(node, place, "expected a list");
    for (size_t i = 0; i < node.size(); ++i) {
      IOBENCH_RETURN_IF_ERROR(ReadValue(node[i], absl::StrCat(place, "[", i, "]"), field, message));
    }
    return absl::OkStatus();
  }

  // Sets a single field, or adds one element to a repeated one.
  absl::Status ReadValue(const YAML::Node& node, const std::string& place, const FieldDescriptor& field,
                         Message& message) const {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const Reflection& reflection = *message.GetReflection();
      return Read(node, place,
                  field.is_repeated() ? *reflection.AddMessage(&message, &field)
                                      : *reflection.MutableMessage(&message, &field));
    }
    if (!node.IsScalar()) return Error(node, place, "expected a single value");
    const absl::Status set = SetScalar(node.Scalar(), field, message);
    return set.ok() ? set : Error(node, place, std::string(set.message()));
  }

  std::string file_name_;
};

void Print(const Message& message, YamlStyle style, YAML::Emitter& out);

void PrintValue(const Message& message, const FieldDescriptor& field, int index, YamlStyle style,
                YAML::Emitter& out) {
  const Reflection& reflection = *message.GetReflection();
  const bool repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      Print(repeated ? reflection.GetRepeatedMessage(message, &field, index)
                     : reflection.GetMessage(message, &field),
            style, out);
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      out << (repeated ? reflection.GetRepeatedString(message, &field, index)
                       : reflection.GetString(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      out << (repeated ? reflection.GetRepeatedBool(message, &field, index)
                       : reflection.GetBool(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      out << (repeated ? reflection.GetRepeatedDouble(message, &field, index)
                       : reflection.GetDouble(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      out << (repeated ? reflection.GetRepeatedInt32(message, &field, index)
                       : reflection.GetInt32(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      out << (repeated ? reflection.GetRepeatedUInt32(message, &field, index)
                       : reflection.GetUInt32(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      out << (repeated ? reflection.GetRepeatedUInt64(message, &field, index)
                       : reflection.GetUInt64(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      out << ShortName(*field.enum_type(), reflection.GetEnum(message, &field)->name());
      break;
    default:
      break;
  }
}

void Print(const Message& message, YamlStyle style, YAML::Emitter& out) {
  const Descriptor& type = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  out << YAML::BeginMap;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.is_repeated()) {
      const int count = reflection.FieldSize(message, &field);
      if (count == 0) continue;
      out << YAML::Key << field.name() << YAML::Value;
      // Numbers of one list belong together: people read them as a row.
      const bool is_row =
          style == YamlStyle::kReadable && field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
      if (is_row) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (int index = 0; index < count; ++index) PrintValue(message, field, index, style, out);
      out << YAML::EndSeq;
      continue;
    }
    if (!reflection.HasField(message, &field)) continue;
    out << YAML::Key << field.name() << YAML::Value;
    PrintValue(message, field, 0, style, out);
  }
  out << YAML::EndMap;
}

}  // namespace

absl::Status ReadMessage(const std::string& text, const std::string& file_name, const std::string& what,
                         google::protobuf::Message& message) {
  return ReadYaml(text, file_name, [&](const YAML::Node& root) -> absl::Status {
    if (!root.IsMap()) return absl::InvalidArgumentError(absl::StrCat(file_name, ": ", what));
    return Reader(file_name).Read(root, "", message);
  });
}

absl::Status SetFieldFromText(const std::string& name, const std::string& text, Message& message) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  assert(field != nullptr && field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE);
  return SetScalar(text, *field, message);
}

std::string MessageToYaml(const google::protobuf::Message& message, YamlStyle style) {
  YAML::Emitter out;
  out.SetDoublePrecision(style == YamlStyle::kExact ? 17 : 6);
  Print(message, style, out);
  return absl::StrCat(out.c_str(), "\n");
}

}  // namespace iobench
