// Preconditions and effects of metadata operations on a lane's part of a tree. The coordinator uses them to track the
// tree state over the phases of a run; a worker uses them to find what it must prepare. Pure functions.
#ifndef COMMON_MODEL_TREE_STATE_H_
#define COMMON_MODEL_TREE_STATE_H_

#include <cstdint>

#include "common/model/enum_set.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// What the items of a tree may have. Either all items of a lane have a part, or none has it.
enum class TreePart {
  kFiles,
  kXattrs,    // of the files
  kLinks,     // hard links to the files
  kSymlinks,  // symbolic links to the files' names
  kLeaves,    // empty directories, for mkdir and rmdir
};
using TreeParts = EnumSet<TreePart>;
inline constexpr TreePart kTreeParts[] = {TreePart::kFiles, TreePart::kXattrs, TreePart::kLinks,
                                          TreePart::kSymlinks, TreePart::kLeaves};

struct TreeEffect {
  TreeParts needs = {};
  TreeParts in_the_way = {};  // must not exist
  TreeParts makes = {};
  TreeParts removes = {};
  bool renames = false;         // the files switch to their other names
  bool replaces_files = false;  // removes files and creates new ones with the same names
  bool reads_data = false;      // reads file contents, if files have any
  bool writes_data = false;     // writes file contents, if files should have any
  bool repeats = false;         // can loop for a time: a pass leaves its preconditions intact

  // True if a lane that ends early leaves the items in different states, so that the tree state is unknown.
  bool changes_names() const {
    return renames || replaces_files || makes.Has(TreePart::kFiles) || makes.Has(TreePart::kLinks) ||
           makes.Has(TreePart::kSymlinks) || makes.Has(TreePart::kLeaves) || removes.Has(TreePart::kFiles) ||
           removes.Has(TreePart::kLeaves);
  }
};

// The parts that exist according to `state`.
TreeParts PartsThere(const v1::TreeState& state);

// The parts that must be created before the operation can run. Files that are too short count as missing.
TreeParts PartsMissing(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree);

// The parts that must be removed before the operation can run: those in its way, and files that are too short together
// with everything that depends on them.
TreeParts PartsInTheWay(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree);

// The state after the operation and its preparation have been applied to every item.
v1::TreeState StateAfter(const v1::TreeState& before, const TreeEffect& effect, const v1::Tree& tree);

}  // namespace iobench

#endif  // COMMON_MODEL_TREE_STATE_H_
