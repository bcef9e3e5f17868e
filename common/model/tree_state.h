// Preconditions and effects of metadata operations on a lane's part of a tree. The coordinator uses them to track the
// tree state over the phases of a run; a worker uses them to find what it must prepare. Pure functions.
#ifndef COMMON_MODEL_TREE_STATE_H_
#define COMMON_MODEL_TREE_STATE_H_

#include <cstdint>

#include "common/model/enum_set.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// What the items of a tree may have. Either all items of a lane have a part, or none has.
enum class TreePart {
  kFiles,
  // One extended attribute of each file. It disappears with its file.
  kXattrs,
  // One hard link to each file.
  kLinks,
  // One symbolic link to the name of each file; it does not need the file.
  kSymlinks,
  // Empty directories among the files, which only mkdir and rmdir work on.
  kLeaves,
};
using TreeParts = EnumSet<TreePart>;
// All parts, in the order in which a worker can create them: files come before what depends on them.
inline constexpr TreePart kTreeParts[] = {TreePart::kFiles, TreePart::kXattrs, TreePart::kLinks,
                                          TreePart::kSymlinks, TreePart::kLeaves};

// What an operation needs from the tree and what it leaves behind. This is the only description: the preparation by the
// worker, the tracking by the coordinator and the checks of the plan are all derived from it.
struct TreeEffect {
  TreeParts needs = {};
  // Parts that must not exist, because the operation creates them, or removes a tree of files alone.
  TreeParts in_the_way = {};
  TreeParts makes = {};
  TreeParts removes = {};
  // The files switch to their other names, and back again the next time.
  bool renames = false;
  // In between, files are in other directories than their own: one that fails, or is lost, leaves some there.
  bool moves = false;
  // The operation removes files and creates new ones with the same names, so that their attributes are gone.
  bool replaces_files = false;
  bool reads_data = false;   // reads file contents, if files have any
  bool writes_data = false;  // writes file contents, if files should have any
  bool uses_contents = false;  // works on file contents without moving them, so files must have their full size
  bool grows = false;  // each pass makes the files longer: a loop would have no bound
  // The operation can loop for a time (--time), because each pass leaves what the next one needs.
  bool repeats = false;

  // True if a lane that ends early leaves the items in different states, so that the tree state is unknown.
  bool changes_names() const {
    return renames || moves || replaces_files || makes.Has(TreePart::kFiles) || makes.Has(TreePart::kLinks) ||
           makes.Has(TreePart::kSymlinks) || makes.Has(TreePart::kLeaves) || removes.Has(TreePart::kFiles) ||
           removes.Has(TreePart::kLeaves);
  }
};

// Returns the parts that exist according to `state`. Ignores `unknown`; the caller clears such a state first.
TreeParts PartsThere(const v1::TreeState& state);

// Returns the parts that must be created before the operation can run. Files that are too short for an operation that
// reads them count as missing, and so do attributes of another size than the tree's.
TreeParts PartsMissing(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree);

// Returns the parts that must be removed before the operation can run: those in its way, and files that are too short
// for it, which are created anew.
TreeParts PartsInTheWay(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree);

// Returns the state after the operation and its preparation have been applied to every item. A lane that ended early
// left something else (TreeEffect::changes_names).
v1::TreeState StateAfter(const v1::TreeState& before, const TreeEffect& effect, const v1::Tree& tree);

}  // namespace iobench

#endif  // COMMON_MODEL_TREE_STATE_H_
