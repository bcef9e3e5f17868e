#include "coordinator/metadata_plan.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/engine.h"
#include "common/operation.h"
#include "common/phase_check.h"
#include "common/status_util.h"
#include "common/tree_state.h"
#include "common/units.h"

namespace iobench {
namespace {

constexpr uint64_t kUsualItems = 10'000;
constexpr uint32_t kUsualXattrBytes = 64;
constexpr uint64_t kUsualMixBytes = 4096;

const OperationSpec* SpecOf(const v1::Operation& operation) {
  auto found = FindOperation(operation.name());
  return found.ok() ? *found : nullptr;
}

// What makes a tree another tree. Files of random sizes cannot stand in for those of other ones.
auto KeyOf(const v1::Tree& tree) {
  const bool random = tree.random_sizes();
  return std::tuple(tree.items_per_lane(), tree.depth(), tree.branching(), tree.shared_directory(), random,
                    random ? tree.least_file_bytes() : 0, random ? tree.file_bytes() : 0);
}
using Key = decltype(KeyOf(v1::Tree()));

// Calls `use` for every operation on a tree.
template <typename Use>
void ForEachOnTree(const v1::Plan& plan, Use use) {
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const v1::Operation& operation = assignment.operation();
      if (IsMetadata(operation) && EngineUsesFiles(operation.engine())) use(operation);
    }
  }
}

std::string NamesOfRepeating() {
  std::vector<std::string> names;
  for (const OperationSpec& spec : Operations()) {
    if (spec.is_metadata() && EffectOf(spec).repeats) names.emplace_back(spec.name);
  }
  return absl::StrJoin(names, ", ");
}

// Of a tree's files together; of random sizes what is likely, and one largest file more.
uint64_t FileBytesOf(const v1::Tree& tree) {
  if (!tree.random_sizes()) return tree.items_per_lane() * tree.file_bytes();
  return tree.items_per_lane() * (tree.least_file_bytes() + tree.file_bytes()) / 2 + tree.file_bytes();
}

bool Finds(const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  return spec != nullptr && spec->kinds.Has(OpKind::kFind);
}

// Of a shell pattern, which fnmatch would take for one that matches nothing, or for plain text. Null: nothing.
const char* WhatIsWrongIn(std::string_view pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      if (++i == pattern.size()) return "ends in a \\ that escapes nothing: write \\\\ for one of its own";
    } else if (pattern[i] == '[') {
      size_t end = i + 1;
      if (end < pattern.size() && (pattern[end] == '!' || pattern[end] == '^')) ++end;
      if (end < pattern.size() && pattern[end] == ']') ++end;  // the first one is of the set
      while (end < pattern.size() && pattern[end] != ']') {
        const bool named = pattern[end] == '[' && end + 1 < pattern.size() && pattern[end + 1] == ':';
        const size_t close = named ? pattern.find(":]", end + 2) : std::string_view::npos;
        end = close != std::string_view::npos ? close + 2 : end + (pattern[end] == '\\' ? 2 : 1);
      }
      if (end >= pattern.size()) return "has a [ without its ]: write \\[ for one of its own";
      i = end;
    }
  }
  return nullptr;
}

}  // namespace

bool IsMetadata(const v1::Operation& operation) {
  const OperationSpec* const spec = SpecOf(operation);
  return spec != nullptr && spec->is_metadata();
}

bool IsMetadata(const v1::Phase& phase) {
  return !phase.assignments().empty() &&
         std::all_of(phase.assignments().begin(), phase.assignments().end(),
                     [](const v1::Assignment& assignment) { return IsMetadata(assignment.operation()); });
}

bool WorksOnData(const v1::Plan& plan) {
  return std::any_of(plan.phases().begin(), plan.phases().end(),
                     [](const v1::Phase& phase) { return !IsMetadata(phase); });
}

bool WorksOnTrees(const v1::Plan& plan) {
  bool any = false;
  ForEachOnTree(plan, [&](const v1::Operation&) { any = true; });
  return any;
}

void CompleteMetadata(v1::Operation& operation) {
  const OperationSpec& spec = *SpecOf(operation);
  operation.clear_record_bytes();
  if (!operation.has_tree()) operation.mutable_tree()->set_items_per_lane(kUsualItems);
  v1::Tree& tree = *operation.mutable_tree();
  if (tree.depth() == 0) tree.set_branching(1);
  if (tree.xattr_bytes() == 0 && (spec.kinds.Has(OpKind::kSetXattr) || spec.kinds.Has(OpKind::kGetXattr))) {
    tree.set_xattr_bytes(kUsualXattrBytes);
  }
  if (tree.file_bytes() == 0 && !tree.random_sizes() && EffectOf(spec).replaces_files)
    tree.set_file_bytes(kUsualMixBytes);
}

absl::Status CheckMetadata(const v1::Operation& operation, const v1::StopRule& stop) {
  const OperationSpec& spec = *SpecOf(operation);
  const TreeEffect effect = EffectOf(spec);
  const v1::Tree& tree = operation.tree();
  IOBENCH_RETURN_IF_ERROR(CheckTree(tree));
  if (tree.has_find() && !Finds(operation)) {
    return absl::InvalidArgumentError(
        absl::StrCat("what to find (--find-name, --find-bytes) is for find, and ", operation.name(),
                     " looks for nothing"));
  }
  if (const char* const wrong = WhatIsWrongIn(tree.find().name()); wrong != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--find-name (find.name) \"", tree.find().name(), "\" ", wrong));
  }
  if (tree.random_order() && Finds(operation)) {
    return absl::InvalidArgumentError(
        "find takes the items as their directories list them: --random-order cannot go with it");
  }
  if (effect.replaces_files && tree.random_order()) {
    return absl::InvalidArgumentError(absl::StrCat(
        operation.name(), " removes the oldest file and makes a new one: --random-order cannot go with it"));
  }
  if (stop.time_s() > 0 && !effect.repeats) {
    return absl::InvalidArgumentError(absl::StrCat(
        operation.name(), " can do each item only once, so --time cannot make it go round: it is for ",
        NamesOfRepeating(), "; use --items, or --deadline to end early"));
  }
  if (stop.deadline_s() > 0 && tree.random_order() && effect.makes.Has(TreePart::kFiles)) {
    return absl::InvalidArgumentError(
        "with --random-order nobody would know which files there are after a --deadline: leave one of the "
        "two out");
  }
  return absl::OkStatus();
}

uint32_t TreeNumberOf(const v1::Plan& plan, const v1::Operation& operation) {
  std::vector<Key> keys;
  ForEachOnTree(plan, [&](const v1::Operation& other) {
    const Key key = KeyOf(other.tree());
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  });
  const auto found = std::find(keys.begin(), keys.end(), KeyOf(operation.tree()));
  assert(found != keys.end());
  return static_cast<uint32_t>(found - keys.begin());
}

uint64_t TreeBytesPerLane(const v1::Plan& plan) {
  std::map<Key, uint64_t> bytes_of;  // of the largest files that an operation asks for
  ForEachOnTree(plan, [&](const v1::Operation& operation) {
    // Half of the files of a mix have been appended to; before that they are as others are.
    const uint64_t factor = EffectOf(*SpecOf(operation)).replaces_files ? 2 : 1;
    uint64_t& most = bytes_of[KeyOf(operation.tree())];
    most = std::max(most, factor * FileBytesOf(operation.tree()));
  });
  uint64_t bytes = 0;
  for (const auto& [key, of_tree] : bytes_of) bytes += of_tree;
  return bytes;
}

}  // namespace iobench
