#include "coordinator/plan/plan_fields.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/engine_demand.h"
#include "common/model/metadata_operation.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "coordinator/yaml/message_yaml.h"
#include "google/protobuf/text_format.h"

namespace iobench {
namespace {

// "operation.engine=posix-aio": the field and its value.
struct Assignment {
  std::string root;               // "operation"
  std::vector<std::string> path;  // below it
  std::string text;
  bool is_left_out = false;  // the option's second value was not given: the field is as if left out
};

std::vector<Assignment> AssignmentsOf(const OptionSpec& option, const std::vector<std::string>& parts) {
  std::vector<Assignment> assignments;
  for (const auto& piece : absl::StrSplit(std::string(option.sets), ' ')) {
    const std::pair<std::string, std::string> sides = absl::StrSplit(piece, absl::MaxSplits('=', 1));
    Assignment assignment;
    const std::vector<std::string> path = absl::StrSplit(sides.first, '.');
    assignment.root = path.front();
    assignment.path.assign(path.begin() + 1, path.end());
    if (sides.second.empty() || sides.second == "$") {
      assignment.text = parts[0];
    } else {
      assignment.text = sides.second == "$2" ? parts[1] : sides.second;
      assignment.is_left_out = sides.second == "$2" && parts[1].empty();
    }
    assignments.push_back(std::move(assignment));
  }
  return assignments;
}

absl::Status Set(const Assignment& assignment, const OptionSpec& option, google::protobuf::Message& root) {
  google::protobuf::Message* message = &root;
  for (size_t i = 0; i + 1 < assignment.path.size(); ++i) {
    const auto* field = message->GetDescriptor()->FindFieldByName(assignment.path[i]);
    assert(field != nullptr);
    message = message->GetReflection()->MutableMessage(message, field);
  }
  if (assignment.is_left_out) {
    message->GetReflection()->ClearField(
        message, message->GetDescriptor()->FindFieldByName(assignment.path.back()));
    return absl::OkStatus();
  }
  return Annotate(SetFieldFromText(assignment.path.back(), assignment.text, *message), BothNamesOf(option));
}

const char* WhyNoPhase(OptionFor phases) {
  switch (phases) {
    case OptionFor::kReading:
      return "no operation in this run only reads";
    case OptionFor::kAnyReading:
      return "no operation in this run reads";
    case OptionFor::kAnyWriting:
      return "no operation in this run writes";
    case OptionFor::kRecords:
      return "metadata operations ignore it, and this run has no others";
    case OptionFor::kOpening:
      return "no operation in this run opens files for writing";
    case OptionFor::kMixing:
      return "no operation in this run mixes reads and writes (-i 8)";
    case OptionFor::kCreating:
      return "no operation in this run creates files (-i 0)";
    case OptionFor::kMetadata:
      return "no operation in this run is a metadata operation (--op create …)";
    case OptionFor::kFinding:
      return "no operation in this run is find (--op find)";
    case OptionFor::kSequentialMix:
      return "no operation in this run is sequential-mix (-i 8 with -+B)";
    case OptionFor::kStriding:
      return "no operation in this run is stride-read (-i 5)";
    case OptionFor::kRandomOrder:
      return "no operation in this run uses existing records in random order (-i 2)";
    case OptionFor::kEvery:
      break;
  }
  return "the run has no phases";
}

// True if an operation of a suite or mix goes without the option because its engine cannot do what the option asks.
bool SkipsPhase(const std::vector<Assignment>& assignments, const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  if (spec == nullptr) return false;
  const auto engine = EngineFor(*spec, operation.engine().empty() ? kDefaultEngine : operation.engine());
  if (!engine.ok()) return false;
  for (const EngineDemand& demand : EngineDemands()) {
    if (demand.in_suite != InSuite::kSkipsPhase || Meets(**engine, *spec, demand)) continue;
    const auto sets = [&](const Assignment& each) {
      return each.root == "operation" && absl::StrJoin(each.path, ".") == demand.field;
    };
    if (std::any_of(assignments.begin(), assignments.end(), sets)) return true;
  }
  return false;
}

// `list`: what has the operations, "suite" or "mix".
absl::Status NoEngineFor(const OptionSpec& option, const char* list) {
  return absl::InvalidArgumentError(
      absl::StrCat(BothNamesOf(option), ": no operation of this ", list, " has an engine that supports it"));
}

// Sets a field of every operation for which `takes` returns true, or of its phase. Returns false if there is none.
// InvalidArgument: the field does not accept the value.
absl::StatusOr<bool> SetInPhases(const Assignment& assignment, const OptionSpec& option,
                                 absl::FunctionRef<bool(const v1::Operation&)> takes, v1::Plan& plan) {
  bool any = false;
  for (v1::Phase& phase : *plan.mutable_phases()) {
    bool in_phase = false;
    for (v1::Assignment& of_phase : *phase.mutable_assignments()) {
      v1::Operation& operation = *of_phase.mutable_operation();
      if (!takes(operation)) continue;
      in_phase = true;
      if (assignment.root == "operation") IOBENCH_RETURN_IF_ERROR(Set(assignment, option, operation));
    }
    if (in_phase && assignment.root == "phase") IOBENCH_RETURN_IF_ERROR(Set(assignment, option, phase));
    any |= in_phase;
  }
  return any;
}

absl::Status SetInFiles(const Assignment& assignment, const OptionSpec& option, v1::Plan& plan) {
  IOBENCH_RETURN_IF_ERROR(Set(assignment, option, *plan.mutable_files()));
  for (v1::Phase& phase : *plan.mutable_phases()) {
    if (phase.has_files()) IOBENCH_RETURN_IF_ERROR(Set(assignment, option, *phase.mutable_files()));
  }
  return absl::OkStatus();
}

absl::Status SetFieldsOf(const OptionSpec& option, const GivenOptions& given, v1::Plan& plan) {
  std::vector<Assignment> assignments = AssignmentsOf(option, given.Parts(option));
  if (option.adds) {
    assignments.clear();
    for (const std::vector<std::string>& parts : given.AllParts(option)) {
      for (Assignment& each : AssignmentsOf(option, parts)) assignments.push_back(std::move(each));
    }
  }
  const bool may_skip = given.Has("suite") || given.Has("mix");
  bool any_skipped = false;
  const auto takes = [&](const v1::Operation& operation) {
    if (!IsFor(option, operation)) return false;
    const bool skips = may_skip && SkipsPhase(assignments, operation);
    any_skipped |= skips;
    return !skips;
  };
  for (const Assignment& assignment : assignments) {
    if (assignment.root == "plan") {
      IOBENCH_RETURN_IF_ERROR(Set(assignment, option, plan));
    } else if (assignment.root == "data") {
      IOBENCH_RETURN_IF_ERROR(Set(assignment, option, *plan.mutable_data()));
    } else if (assignment.root == "files") {
      IOBENCH_RETURN_IF_ERROR(SetInFiles(assignment, option, plan));
    } else {
      assert(assignment.root == "phase" || assignment.root == "operation");
      IOBENCH_ASSIGN_OR_RETURN(const bool any, SetInPhases(assignment, option, takes, plan));
      if (any) continue;
      if (option.noted_if_unused && !any_skipped) {
        if (!WorksOnData(plan)) {
          return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(option), ": ", WhyNoPhase(OptionFor::kRecords)));
        }
        plan.add_notes(absl::StrCat(BothNamesOf(option), " has no effect: ", WhyNoPhase(option.phases)));
        continue;
      }
      return any_skipped ? NoEngineFor(option, given.Has("suite") ? "suite" : "mix") : NoPhaseFor(option);
    }
  }
  return absl::OkStatus();
}

// The text of the field, as the option would set it; empty if it has no value.
std::string ValueOf(const Assignment& assignment, const google::protobuf::Message& root) {
  const google::protobuf::Message* message = &root;
  for (size_t i = 0; i + 1 < assignment.path.size(); ++i) {
    const auto* field = message->GetDescriptor()->FindFieldByName(assignment.path[i]);
    message = &message->GetReflection()->GetMessage(*message, field);
  }
  const auto* field = message->GetDescriptor()->FindFieldByName(assignment.path.back());
  if (!message->GetReflection()->HasField(*message, field)) return "";
  std::string text;
  google::protobuf::TextFormat::PrintFieldValueToString(*message, field, -1, &text);
  return text;
}

// Turns off what a plan or suite turns on, in one message. InvalidArgument: the flag stands for a value, such as an engine,
// of which nothing says what would take its place.
absl::Status TurnOffIn(const Assignment& on, const OptionSpec& option, google::protobuf::Message& root) {
  const std::unique_ptr<google::protobuf::Message> as_if_on(root.New());
  IOBENCH_RETURN_IF_ERROR(Set(on, option, *as_if_on));
  if (ValueOf(on, root) != ValueOf(on, *as_if_on)) return absl::OkStatus();
  Assignment off = on;
  off.text = "false";
  if (on.text == "true") return Set(off, option, root);
  return absl::InvalidArgumentError(
      absl::StrCat(BothNamesOf(option), " cannot be turned off here: what runs has ", on.root, ".",
                   absl::StrJoin(on.path, "."), " = ", on.text));
}

// A flag that was given as false.
absl::Status TurnOff(const OptionSpec& option, v1::Plan& plan) {
  for (const Assignment& on : AssignmentsOf(option, {"true"})) {
    if (on.root == "plan") IOBENCH_RETURN_IF_ERROR(TurnOffIn(on, option, plan));
    if (on.root == "data") IOBENCH_RETURN_IF_ERROR(TurnOffIn(on, option, *plan.mutable_data()));
    if (on.root == "files") IOBENCH_RETURN_IF_ERROR(TurnOffIn(on, option, *plan.mutable_files()));
    for (v1::Phase& phase : *plan.mutable_phases()) {
      if (on.root == "files" && phase.has_files()) {
        IOBENCH_RETURN_IF_ERROR(TurnOffIn(on, option, *phase.mutable_files()));
      }
      if (on.root == "phase") IOBENCH_RETURN_IF_ERROR(TurnOffIn(on, option, phase));
      if (on.root != "operation") continue;
      for (v1::Assignment& assignment : *phase.mutable_assignments()) {
        IOBENCH_RETURN_IF_ERROR(TurnOffIn(on, option, *assignment.mutable_operation()));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStrides(const OptionSpec& option, const GivenOptions& given, const v1::Plan& plan) {
  for (const OptionName list : {OptionName("plan"), OptionName("suite")}) {
    if (!given.Has(list)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(option), " lists several strides, each of which would be a phase, but --",
                     std::string(list.text()), " has the phases: give one stride"));
  }
  const bool any = std::any_of(plan.phases().begin(), plan.phases().end(), [&option](const v1::Phase& phase) {
    return !phase.assignments().empty() && IsFor(option, phase.assignments(0).operation());
  });
  return any ? absl::OkStatus() : NoPhaseFor(option);
}

}  // namespace

bool IsFor(const OptionSpec& option, const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  if (spec == nullptr) return option.phases == OptionFor::kEvery;
  switch (option.phases) {
    case OptionFor::kEvery:
      return true;
    case OptionFor::kReading:
      if (spec->is_metadata()) return !EffectOf(*spec).needs.empty();
      return spec->reads() && !spec->writes();
    case OptionFor::kAnyReading:
      return spec->reads();
    case OptionFor::kAnyWriting:
      return spec->writes();
    case OptionFor::kRecords:
      return !spec->is_metadata();
    case OptionFor::kOpening:
      return !spec->is_metadata() || EffectOf(*spec).writes_data;
    case OptionFor::kMixing:
      return spec->mixes();
    case OptionFor::kCreating:
      return spec->creates_files;
    case OptionFor::kMetadata:
      return spec->is_metadata();
    case OptionFor::kFinding:
      return FindsItems(operation);
    case OptionFor::kSequentialMix:
      return spec->pattern == Pattern::kSequentialMix;
    case OptionFor::kStriding:
      return spec->pattern == Pattern::kStride;
    case OptionFor::kRandomOrder:
      return (spec->pattern == Pattern::kRandom || spec->pattern == Pattern::kRandomMix) && !spec->creates_files;
  }
  return false;
}

absl::Status NoPhaseFor(const OptionSpec& option) {
  return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(option), ": ", WhyNoPhase(option.phases)));
}

absl::Status SetPlanFields(const GivenOptions& given, v1::Plan& plan) {
  for (const OptionSpec* option : given.turned_off()) {
    if (!option->sets.empty()) IOBENCH_RETURN_IF_ERROR(TurnOff(*option, plan));
  }
  for (const OptionSpec* option : given.options()) {
    // Several strides are phases of their own, which ListPhases has created.
    const bool is_list = option == &OptionNamed("stride") && given.Count(*option) > 1;
    if (is_list) IOBENCH_RETURN_IF_ERROR(CheckStrides(*option, given, plan));
    if (!option->sets.empty() && !is_list) IOBENCH_RETURN_IF_ERROR(SetFieldsOf(*option, given, plan));
  }
  return absl::OkStatus();
}

}  // namespace iobench
