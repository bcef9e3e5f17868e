#include "coordinator/plan/check/criteria_check.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/criterion.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/near_names.h"

namespace iobench {
namespace {

constexpr size_t kMaxNamesListed = 12;

// Every name that a criterion may use, each once: phases and, where they differ, their operations.
std::vector<std::string> NamesOfPhases(const v1::Plan& plan) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const v1::Phase& phase : plan.phases()) {
    const std::string operations = OperationNames(phase);
    if (AppliesTo({.phases = operations}, phase)) add(operations);
  }
  for (const v1::Phase& phase : plan.phases()) add(phase.name());
  return names;
}

absl::Status NoSuchPhase(const std::string& text, const std::string& typed, const v1::Plan& plan) {
  const std::vector<std::string> names = NamesOfPhases(plan);
  std::vector<std::string> lower;
  for (const std::string& name : names) lower.push_back(absl::AsciiStrToLower(name));
  std::vector<std::string_view> candidates(lower.begin(), lower.end());
  std::string suggestion = DidYouMean(typed, candidates);
  if (suggestion.empty()) {
    const size_t listed = std::min(names.size(), kMaxNamesListed);
    suggestion = absl::StrCat("; it has ", absl::StrJoin(names.begin(), names.begin() + listed, ", "),
                              listed < names.size() ? " …" : "");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("criterion \"", text, "\": the run has no phase \"", typed, "\"", suggestion));
}

// The first phase of which the criterion names only a part. Null: there is none, or a phase has this name.
const v1::Phase* PhaseOfPart(const Criterion& criterion, const v1::Plan& plan) {
  const v1::Phase* with_part = nullptr;
  for (const v1::Phase& phase : plan.phases()) {
    if (criterion.phases == phase.name() || criterion.phases == phase.interference().phase()) return nullptr;
    if (with_part == nullptr && NamesPart(criterion, phase)) with_part = &phase;
  }
  return with_part;
}

const char* HowToMake(OpKind call) {
  switch (call) {
    case OpKind::kFsync:
      return "add -e or --fsync-every N";
    case OpKind::kCommit:
      return "only --engine libnfs sends them itself, with -e, -c or --fsync-every N";
    case OpKind::kClose:
      return "add -c";
    case OpKind::kFdatasync:
      return "add --fsync-every N --flush-call fdatasync";
    default:
      return "add --fsync-every N --flush-call sync-file-range";
  }
}

// Says which flush calls there are, if there are others, or how to have this one.
std::string WhatToDoWithout(OpKind call, OpKinds made) {
  std::vector<std::string> names;
  for (int i = 0; i < kOpKindCount; ++i) {
    // A close makes nothing durable but over NFS.
    if (const auto kind = static_cast<OpKind>(i); made.Has(kind) && kind != OpKind::kClose) names.emplace_back(NameOf(kind));
  }
  if (names.empty() || call == OpKind::kClose) return absl::StrCat(": ", HowToMake(call));
  return absl::StrCat(", but ", absl::StrJoin(names, " and "), ": write ", names.front(), " in its place");
}

absl::Status CheckCriterion(const std::string& text, const v1::Plan& plan) {
  IOBENCH_ASSIGN_OR_RETURN(const Criterion criterion, ParseCriterion(text));
  if (const v1::Phase* const phase = PhaseOfPart(criterion, plan); phase != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "criterion \"", text, "\": ", criterion.phases, " is only a part of phase \"", phase->name(),
        "\", whose figures cover all its operations: begin the criterion with the name of a phase"));
  }
  bool any = false;
  for (const v1::Phase& phase : plan.phases()) {
    if (!AppliesTo(criterion, phase)) continue;
    any = true;
    if (criterion.call.has_value() && !FlushCallsOf(phase).Has(*criterion.call)) {
      return absl::InvalidArgumentError(absl::StrCat("criterion \"", text, "\": phase \"", phase.name(), "\" makes no ",
                                                     NameOf(*criterion.call), " call in its timed region",
                                                     WhatToDoWithout(*criterion.call, FlushCallsOf(phase))));
    }
    if (criterion.figure != Criterion::Figure::kBytesPerSecond || !IsMetadata(phase)) continue;
    return absl::InvalidArgumentError(absl::StrCat("criterion \"", text, "\": ", phase.name(),
                                                   " is a metadata operation, whose figure is in ops/s"));
  }
  if (any) return absl::OkStatus();
  if (criterion.call.has_value() && criterion.phases == "*") {
    OpKinds made;
    for (const v1::Phase& phase : plan.phases()) made = made | FlushCallsOf(phase);
    return absl::InvalidArgumentError(absl::StrCat("criterion \"", text, "\": no phase makes a ",
                                                   NameOf(*criterion.call), " call in its timed region",
                                                   WhatToDoWithout(*criterion.call, made)));
  }
  if (criterion.phases == "*") {
    return absl::InvalidArgumentError(absl::StrCat(
        "criterion \"", text, "\": the run has only metadata operations, whose figures are in ops/s"));
  }
  return NoSuchPhase(text, criterion.phases, plan);
}

}  // namespace

absl::Status CheckCriteria(const v1::Plan& plan) {
  for (const std::string& text : plan.criteria()) IOBENCH_RETURN_IF_ERROR(CheckCriterion(text, plan));
  return absl::OkStatus();
}

}  // namespace iobench
