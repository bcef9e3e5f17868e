#include "coordinator/plan/plan_fields.h"

#include <cassert>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/model/engine.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/tree_state.h"
#include "common/status_util.h"
#include "coordinator/plan/plan_yaml.h"

namespace iobench {
namespace {

// "operation.engine=posix-aio": the field and its value.
struct Assignment {
  std::string root;               // "operation"
  std::vector<std::string> path;  // below it
  std::string text;
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
  return Annotate(SetFieldFromText(assignment.path.back(), assignment.text, *message), BothNamesOf(option));
}

const char* WhyNoPhase(const OptionSpec& option) {
  switch (option.phases) {
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
    case OptionFor::kEvery:
      break;
  }
  return "the run has no phases";
}

// For options that select how files are opened: whether the engine supports them.
bool EngineKnows(const OptionSpec& option, const v1::Operation& operation) {
  const auto spec = FindOperation(operation.name());
  if (!spec.ok()) return true;
  const auto engine = EngineFor(**spec, operation.engine().empty() ? "posix" : operation.engine());
  if (!engine.ok()) return true;
  if (option.name == "direct") return (*engine)->direct;
  if (option.name == "buffers" || option.name == "buffer-bytes") {
    return (*engine)->features.Has(EngineFeature::kBuffers);
  }
  const bool syncs = option.name == "sync" || option.name == "dsync" || option.name == "rsync";
  return !syncs || (*engine)->sync;
}

}  // namespace

bool IsFor(const OptionSpec& option, const v1::Operation& operation) {
  const auto spec = FindOperation(operation.name());
  if (!spec.ok()) return option.phases == OptionFor::kEvery;
  switch (option.phases) {
    case OptionFor::kEvery:
      return true;
    case OptionFor::kReading:
      if ((*spec)->is_metadata()) return !EffectOf(**spec).needs.empty();
      return (*spec)->reads() && !(*spec)->writes();
    case OptionFor::kAnyReading:
      return (*spec)->reads();
    case OptionFor::kAnyWriting:
      return (*spec)->writes();
    case OptionFor::kRecords:
      return !(*spec)->is_metadata();
    case OptionFor::kOpening:
      return !(*spec)->is_metadata() || EffectOf(**spec).writes_data;
    case OptionFor::kMixing:
      return (*spec)->mixes();
    case OptionFor::kCreating:
      return (*spec)->creates_files;
    case OptionFor::kMetadata:
      return (*spec)->is_metadata();
    case OptionFor::kFinding:
      return (*spec)->is_metadata() && MetadataSpecOf(**spec).finds_items;
    case OptionFor::kSequentialMix:
      return (*spec)->mixes() && (*spec)->name == "sequential-mix";
    case OptionFor::kStriding:
      return (*spec)->pattern == Pattern::kStride;
  }
  return false;
}

absl::Status NoPhaseFor(const OptionSpec& option) {
  return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(option), ": ", WhyNoPhase(option)));
}

absl::Status SetPlanFields(const GivenOptions& given, bool where_possible, v1::Plan& plan) {
  for (const OptionSpec* option : given.options()) {
    if (option->sets.empty()) continue;
    for (const Assignment& assignment : AssignmentsOf(*option, given.Parts(*option))) {
      if (assignment.root == "plan") {
        IOBENCH_RETURN_IF_ERROR(Set(assignment, *option, plan));
      } else if (assignment.root == "data") {
        IOBENCH_RETURN_IF_ERROR(Set(assignment, *option, *plan.mutable_data()));
      } else if (assignment.root == "files") {
        IOBENCH_RETURN_IF_ERROR(Set(assignment, *option, *plan.mutable_files()));
        for (v1::Phase& phase : *plan.mutable_phases()) {
          if (phase.has_files()) IOBENCH_RETURN_IF_ERROR(Set(assignment, *option, *phase.mutable_files()));
        }
      } else {
        assert(assignment.root == "phase" || assignment.root == "operation");
        bool any = false;
        for (v1::Phase& phase : *plan.mutable_phases()) {
          bool mine = false;
          for (v1::Assignment& of_phase : *phase.mutable_assignments()) {
            v1::Operation& operation = *of_phase.mutable_operation();
            if (!IsFor(*option, operation)) continue;
            if (where_possible && !EngineKnows(*option, operation)) continue;
            mine = true;
            if (assignment.root == "operation") IOBENCH_RETURN_IF_ERROR(Set(assignment, *option, operation));
          }
          if (mine && assignment.root == "phase") IOBENCH_RETURN_IF_ERROR(Set(assignment, *option, phase));
          any |= mine;
        }
        if (!any) return NoPhaseFor(*option);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
