#include "coordinator/plan/check/metadata_plan.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/file_sizes/file_size_law.h"
#include "common/model/engine.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/phase_check.h"
#include "common/model/plan_traits.h"
#include "common/model/tree_state.h"
#include "common/status_util.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr uint64_t kDefaultItems = 10'000;
constexpr uint32_t kDefaultXattrBytes = 64;
constexpr uint64_t kDefaultMixBytes = 4096;

// The properties that make trees different. Files of one random size range or distribution cannot replace those of another.
TreeNumbers::Key KeyOf(const v1::Tree& tree) {
  const bool random = tree.random_sizes() || !tree.sizes().empty();
  return TreeNumbers::Key(tree.items_per_lane(), tree.depth(), tree.branching(), tree.shared_directory(),
                          random, random ? tree.min_file_bytes() : 0, random ? tree.file_bytes() : 0, tree.sizes());
}
using Key = TreeNumbers::Key;

// Calls `use` for every operation that works on a tree.
template <typename Use>
void ForEachOnTree(const v1::Plan& plan, Use use) {
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const v1::Operation& operation = assignment.operation();
      if (IsMetadata(operation) && UsesFiles(operation)) use(operation);
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

// True for operations that do nothing, or little, with empty files.
bool WorksOnContents(const OperationSpec& spec) {
  const TreeEffect& effect = EffectOf(spec);
  return effect.replaces_files || effect.uses_contents || effect.grows;
}

// Returns the total size of a tree's files; for random sizes, the expected size plus one largest file; for a distribution,
// the expected size plus what hardly any tree needs in addition.
uint64_t FileBytesOf(const v1::Tree& tree) {
  if (const auto law = ParseFileSizes(tree.sizes()); !tree.sizes().empty() && law.ok()) {
    constexpr double kDeviations = 6;
    const uint64_t largest = std::max<uint64_t>(1, tree.file_bytes());
    const auto items = static_cast<double>(tree.items_per_lane());
    return static_cast<uint64_t>(items * (law->MeanBytes(largest) + 1) +
                                 kDeviations * std::sqrt(items) * law->DeviationBytes(largest));
  }
  if (!tree.random_sizes()) return tree.items_per_lane() * tree.file_bytes();
  return tree.items_per_lane() * (tree.min_file_bytes() + tree.file_bytes()) / 2 + tree.file_bytes();
}

// Checks a shell pattern that fnmatch would treat as matching nothing, or as plain text. Null: no problem.
const char* WhatIsWrongIn(std::string_view pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      if (++i == pattern.size()) return "ends in a \\ that escapes nothing: write \\\\ for a literal one";
    } else if (pattern[i] == '[') {
      size_t end = i + 1;
      if (end < pattern.size() && (pattern[end] == '!' || pattern[end] == '^')) ++end;
      if (end < pattern.size() && pattern[end] == ']') ++end;  // a leading ']' belongs to the set
      while (end < pattern.size() && pattern[end] != ']') {
        const bool named = pattern[end] == '[' && end + 1 < pattern.size() && pattern[end + 1] == ':';
        const size_t close = named ? pattern.find(":]", end + 2) : std::string_view::npos;
        end = close != std::string_view::npos ? close + 2 : end + (pattern[end] == '\\' ? 2 : 1);
      }
      if (end >= pattern.size()) return "has a [ without a ]: write \\[ for a literal one";
      i = end;
    }
  }
  return nullptr;
}

}  // namespace

bool WorksOnTrees(const v1::Plan& plan) {
  bool any = false;
  ForEachOnTree(plan, [&](const v1::Operation&) { any = true; });
  return any;
}

void CompleteMetadata(v1::Operation& operation) {
  const OperationSpec& spec = *SpecOf(operation);
  operation.clear_record_bytes();
  v1::Tree& tree = *operation.mutable_tree();
  const uint64_t default_items = MetadataSpecOf(spec).default_items;
  if (!tree.has_items_per_lane()) tree.set_items_per_lane(default_items > 0 ? default_items : kDefaultItems);
  if (!tree.has_branching() && tree.depth() == 0) tree.set_branching(1);
  if (!tree.has_xattr_bytes() && MetadataSpecOf(spec).uses_xattrs) tree.set_xattr_bytes(kDefaultXattrBytes);
  if (!tree.has_file_bytes() && !tree.sizes().empty()) tree.set_file_bytes(kLargestTreeFileBytes);
  if (!tree.has_file_bytes() && !tree.random_sizes() && WorksOnContents(spec))
    tree.set_file_bytes(kDefaultMixBytes);
}

absl::Status CheckMetadata(const v1::Operation& operation, const v1::StopRule& stop) {
  const OperationSpec& spec = *SpecOf(operation);
  const TreeEffect effect = EffectOf(spec);
  const v1::Tree& tree = operation.tree();
  IOBENCH_RETURN_IF_ERROR(CheckTree(tree));
  if (tree.has_find() && !FindsItems(operation)) {
    return absl::InvalidArgumentError(absl::StrCat("--find-name and --find-bytes only apply to find, and ",
                                                   operation.name(), " is not find"));
  }
  if (const char* const wrong = WhatIsWrongIn(tree.find().name()); wrong != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--find-name (find.name) \"", tree.find().name(), "\" ", wrong));
  }
  if (tree.random_order() && FindsItems(operation)) {
    return absl::InvalidArgumentError(
        "find visits items in directory order: --random-order cannot be combined with it");
  }
  if (!MetadataSpecOf(spec).cycle.empty() && tree.random_order()) {
    return absl::InvalidArgumentError(absl::StrCat(
        operation.name(), " begins with the oldest file: --random-order cannot be combined with it"));
  }
  if (effect.moves && (tree.depth() == 0 || tree.branching() < 2 || tree.items_per_lane() < 2)) {
    return absl::InvalidArgumentError(absl::StrCat(
        operation.name(), " moves files to another directory, so the tree needs two: use --tree-depth 1 --tree-branching 2 "
        "--items 2 or more"));
  }
  if (MetadataSpecOf(spec).removes_tree && tree.random_order()) {
    return absl::InvalidArgumentError(absl::StrCat(
        operation.name(), " removes items in directory order: --random-order cannot be combined with it"));
  }
  if (MetadataSpecOf(spec).removes_tree && tree.shared_directory()) {
    return absl::InvalidArgumentError(absl::StrCat(
        operation.name(), " removes directories too, which other lanes still use: leave out --shared-directory"));
  }
  if (MetadataSpecOf(spec).shares_items && operation.rotate_clients()) {
    return absl::InvalidArgumentError(absl::StrCat(
        operation.name(), " works on the same files on all clients: leave out --rotate-clients"));
  }
  if (effect.uses_contents && tree.file_bytes() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        operation.name(), " works on what files contain: use 1 or more (--file-bytes)"));
  }
  if (stop.time_s() > 0 && !effect.repeats) {
    return absl::InvalidArgumentError(absl::StrCat(
        operation.name(), " can process each item only once, so --time cannot loop it: --time works with ",
        NamesOfRepeating(), "; use --items, or --deadline to end early"));
  }
  if (stop.deadline_s() > 0 && tree.random_order() && effect.makes.Has(TreePart::kFiles)) {
    return absl::InvalidArgumentError(
        "with --random-order it is unknown which files exist after a --deadline: leave one of the two out");
  }
  return absl::OkStatus();
}

TreeNumbers::TreeNumbers(const v1::Plan& plan) {
  ForEachOnTree(plan, [&](const v1::Operation& operation) {
    number_of_.emplace(KeyOf(operation.tree()), static_cast<uint32_t>(number_of_.size()));
  });
}

uint32_t TreeNumbers::Of(const v1::Operation& operation) const {
  const auto found = number_of_.find(KeyOf(operation.tree()));
  assert(found != number_of_.end());
  return found->second;
}

uint64_t TreeBytesPerLane(const v1::Plan& plan) {
  std::map<Key, uint64_t> bytes_of;  // size of the largest files that an operation requests
  ForEachOnTree(plan, [&](const v1::Operation& operation) {
    // In file-mix, half of the files have been appended to; before that their size is normal.
    const OperationSpec& spec = *SpecOf(operation);
    const bool may_double = EffectOf(spec).replaces_files || EffectOf(spec).grows;
    const uint64_t factor = may_double ? 2 : 1;
    uint64_t& most = bytes_of[KeyOf(operation.tree())];
    most = std::max(most, factor * FileBytesOf(operation.tree()));
  });
  uint64_t bytes = 0;
  for (const auto& [key, of_tree] : bytes_of) bytes += of_tree;
  return bytes;
}

uint64_t NamesOfTree(const v1::Operation& operation, uint64_t lanes) {
  // Its items are turns.
  if (MetadataSpecOf(*SpecOf(operation)).names == OpNames::kLockFile) return 1;
  return (HasItemsPerLane(operation.name()) ? lanes : 1) * operation.tree().items_per_lane();
}

uint64_t TreeNamesPerLane(const v1::Plan& plan) {
  std::map<Key, uint64_t> names_of;
  ForEachOnTree(plan, [&](const v1::Operation& operation) {
    uint64_t& most = names_of[KeyOf(operation.tree())];
    most = std::max(most, NamesOfTree(operation, 1));
  });
  uint64_t names = 0;
  for (const auto& [key, of_tree] : names_of) names += of_tree;
  return names;
}

}  // namespace iobench
