// What a metadata operation needs of a lane's part of a tree, and what it leaves there. Pure: the coordinator follows
// the phases of a run with it, a worker finds with it what must be prepared.
#ifndef COMMON_TREE_STATE_H_
#define COMMON_TREE_STATE_H_

#include <cstdint>

#include "common/enum_set.h"
#include "common/operation.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// What an item of a tree may have; each is there for all items or for none.
enum class TreePart {
  kFiles,
  kXattrs,    // of the files
  kLinks,     // second, hard links to the files
  kSymlinks,  // to the files' names
  kLeaves,    // empty directories, of mkdir and rmdir
};
using TreeParts = EnumSet<TreePart>;
inline constexpr TreePart kTreeParts[] = {TreePart::kFiles, TreePart::kXattrs, TreePart::kLinks,
                                          TreePart::kSymlinks, TreePart::kLeaves};

struct TreeEffect {
  TreeParts needs = {};
  TreeParts in_the_way = {};  // must not be there
  TreeParts makes = {};
  TreeParts removes = {};
  bool renames = false;         // the files get their other names
  bool replaces_files = false;  // removes files and makes others of the same names
  bool reads_data = false;      // of files that have any
  bool writes_data = false;     // into files that shall have any
  bool repeats = false;         // may go round for a time: what it needs is still there after a pass

  // A lane that ends early leaves some items changed and some not.
  bool changes_names() const {
    return renames || replaces_files || makes.Has(TreePart::kFiles) || makes.Has(TreePart::kLinks) ||
           makes.Has(TreePart::kSymlinks) || makes.Has(TreePart::kLeaves) || removes.Has(TreePart::kFiles) ||
           removes.Has(TreePart::kLeaves);
  }
};

// REQUIRES: operation.is_metadata().
TreeEffect EffectOf(const OperationSpec& operation);

TreeParts PartsThere(const v1::TreeState& state);

// What is to be made before the operation can run. Files that are too short for it count as missing.
TreeParts PartsMissing(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree);

// What is to be removed before: parts in the way, and files that are too short, with what hangs on them.
TreeParts PartsInTheWay(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree);

// The operation, its preparation included, has been done on every item.
v1::TreeState StateAfter(const v1::TreeState& before, const TreeEffect& effect, const v1::Tree& tree);

}  // namespace iobench

#endif  // COMMON_TREE_STATE_H_
