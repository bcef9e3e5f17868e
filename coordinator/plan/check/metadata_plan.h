// Metadata operations in plans: defaults, checks, numbering of trees, and the space that trees need. Pure.
#ifndef COORDINATOR_PLAN_CHECK_METADATA_PLAN_H_
#define COORDINATOR_PLAN_CHECK_METADATA_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

bool WorksOnTrees(const v1::Plan& plan);  // true if some metadata operation runs on a file system

// Fills in the tree's defaults and removes settings that do not apply to metadata operations. REQUIRES: IsMetadata.
void CompleteMetadata(v1::Operation& operation);

// InvalidArgument: the tree or the stop rule is inconsistent. REQUIRES: CompleteMetadata.
absl::Status CheckMetadata(const v1::Operation& operation, const v1::StopRule& stop);

// The trees of a plan. Operations with the same directories and the same random sizes share a tree; trees are numbered
// in the order in which phases mention them. Immutable.
class TreeNumbers {
 public:
  // Examines all phases; does not borrow the plan. REQUIRES: a complete plan.
  explicit TreeNumbers(const v1::Plan& plan);
  // Returns the number of the operation's tree. REQUIRES: IsMetadata(operation), and the operation is part of the plan.
  uint32_t Of(const v1::Operation& operation) const;
  uint32_t count() const { return static_cast<uint32_t>(number_of_.size()); }

  // Items per lane, depth, branching, shared directory, random sizes, and only with these min and max bytes of a file.
  using Key = std::tuple<uint64_t, uint32_t, uint32_t, bool, bool, uint64_t, uint64_t, std::string>;

 private:
  std::map<Key, uint32_t> number_of_;
};

// Returns the total file size of all trees of one lane; an estimate if sizes are random: the expected size plus that of
// one largest file. Directories and names are not counted.
uint64_t TreeBytesPerLane(const v1::Plan& plan);
// Returns how many names `lanes` lanes of one target have together, each of which takes an inode; directories are not
// counted. REQUIRES: IsMetadata(operation), and CompleteMetadata.
uint64_t NamesOfTree(const v1::Operation& operation, uint64_t lanes);
// Returns how many names all trees of one lane have at least.
uint64_t TreeNamesPerLane(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_METADATA_PLAN_H_
