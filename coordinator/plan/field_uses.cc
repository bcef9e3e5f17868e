#include "coordinator/plan/field_uses.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "coordinator/options/option.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_fields.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace iobench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

using FieldPath = std::vector<const FieldDescriptor*>;

std::string FieldName(const FieldPath& path) {
  return absl::StrJoin(path, ".", [](std::string* text, const FieldDescriptor* field) {
    absl::StrAppend(text, field->name());
  });
}

// Calls `use` for every single field that has a value, in the message and in those in it.
template <typename Use>
absl::Status ForEachField(const Message& message, FieldPath& path, Use use) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (field->is_repeated()) continue;
    path.push_back(field);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      IOBENCH_RETURN_IF_ERROR(ForEachField(message.GetReflection()->GetMessage(message, field), path, use));
    } else {
      IOBENCH_RETURN_IF_ERROR(use(path, message));
    }
    path.pop_back();
  }
  return absl::OkStatus();
}

// The message of the last field; null: one on the way has no value.
Message* MessageOf(const FieldPath& path, Message& root) {
  Message* message = &root;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    if (!message->GetReflection()->HasField(*message, path[i])) return nullptr;
    message = message->GetReflection()->MutableMessage(message, path[i]);
  }
  return message;
}

std::string ValueIn(const Message& message, const FieldDescriptor& field) {
  std::string text;
  google::protobuf::TextFormat::PrintFieldValueToString(message, &field, -1, &text);
  return text;
}

bool IsZero(const Message& message, const FieldDescriptor& field) {
  const std::unique_ptr<Message> unset(message.New());
  return ValueIn(message, field) == ValueIn(*unset, field);
}

// What completing the plan writes if the field is left out.
bool IsCompletedTo(const std::string& value, const FieldPath& path, const v1::Operation& operation) {
  v1::Plan plan;
  v1::Operation& without = *plan.add_phases()->add_assignments()->mutable_operation();
  without = operation;
  if (Message* const message = MessageOf(path, without); message != nullptr) {
    message->GetReflection()->ClearField(message, path.back());
  }
  CompletePlan(plan);
  const Message* const completed = MessageOf(path, without);
  return completed != nullptr && completed->GetReflection()->HasField(*completed, path.back()) &&
         ValueIn(*completed, *path.back()) == value;
}

// The options that set a field, such as "operation.direct" or "phase.region.fsync", to any value.
std::vector<const OptionSpec*> OptionsThatSet(const std::string& field) {
  std::vector<const OptionSpec*> options;
  for (const OptionSpec& option : kPlanOptions) {
    for (const absl::string_view piece : absl::StrSplit(absl::string_view(option.sets.data(), option.sets.size()), ' ')) {
      const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(piece, absl::MaxSplits('=', 1));
      if (sides.first == field) options.push_back(&option);
    }
  }
  return options;
}

// More operations use these fields than those for which there are options: operations that also write can work on the
// files of others, and jitter the reads among their ops.
bool IsForMore(const std::string& field) {
  return field == "rotate_clients" || field == "jitter_every";
}

// The option that sets a field that the operation does not use; null: it uses it.
const OptionSpec* UnusedOption(const std::string& field, const v1::Operation& operation) {
  // -r shapes the list of phases, so no field stands in its row.
  if (field == "record_bytes") return IsMetadata(operation) ? &OptionNamed("record") : nullptr;
  const std::vector<const OptionSpec*> options = OptionsThatSet(absl::StrCat("operation.", field));
  const bool is_used = options.empty() || IsForMore(field) ||
                       std::any_of(options.begin(), options.end(),
                                   [&](const OptionSpec* option) { return IsFor(*option, operation); });
  return is_used ? nullptr : options.front();
}

absl::Status CheckFieldsOf(const v1::Operation& operation) {
  FieldPath path;
  return ForEachField(operation, path, [&operation](const FieldPath& field, const Message& message) {
    const OptionSpec* const option = UnusedOption(FieldName(field), operation);
    if (option == nullptr || IsZero(message, *field.back()) ||
        IsCompletedTo(ValueIn(message, *field.back()), field, operation)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(operation.name(), " does not use ", FieldName(field), " (",
                                                   ShortNameOf(*option), "): leave it out"));
  });
}

// The same for the fields of a phase that options set for its operations. One that uses the field is enough.
absl::Status CheckRegionOf(const v1::Phase& phase) {
  FieldPath path;
  return ForEachField(phase.region(), path, [&phase](const FieldPath& field, const Message& message) {
    const std::vector<const OptionSpec*> options = OptionsThatSet(absl::StrCat("phase.region.", FieldName(field)));
    const auto uses = [&options](const v1::Assignment& assignment) {
      return SpecOf(assignment.operation()) == nullptr || IsFor(*options.front(), assignment.operation());
    };
    const auto& assignments = phase.assignments();
    if (options.empty() || IsZero(message, *field.back()) || assignments.empty() ||
        std::any_of(assignments.begin(), assignments.end(), uses)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(assignments[0].operation().name(), " does not use region.",
                                                   FieldName(field), " (", ShortNameOf(*options.front()),
                                                   "): leave it out"));
  });
}

}  // namespace

absl::Status CheckFieldsHaveUse(const v1::Plan& plan) {
  for (const v1::Phase& phase : plan.phases()) {
    if (const absl::Status status = CheckRegionOf(phase); !status.ok()) {
      return Annotate(status, absl::StrCat("phase ", PhaseName(phase)));
    }
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (SpecOf(assignment.operation()) == nullptr) continue;  // CheckPlan refuses it
      const absl::Status status = CheckFieldsOf(assignment.operation());
      if (status.ok()) continue;
      return Annotate(status, absl::StrCat("phase ", phase.has_name() ? phase.name() : assignment.operation().name()));
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
