#include "common/tree_state.h"

#include <cassert>

namespace iobench {
namespace {

constexpr TreeParts kFiles = TreePart::kFiles;
constexpr TreeParts kFilesAndXattrs = {TreePart::kFiles, TreePart::kXattrs};

bool FilesAreShort(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree) {
  return state.files() && effect.needs.Has(TreePart::kFiles) && effect.reads_data &&
         state.file_bytes() < tree.file_bytes();
}

void Set(TreePart part, bool there, const v1::Tree& tree, v1::TreeState& state) {
  switch (part) {
    case TreePart::kFiles:
      state.set_files(there);
      state.set_file_bytes(there ? tree.file_bytes() : 0);
      break;
    case TreePart::kXattrs:
      state.set_xattr_bytes(there ? tree.xattr_bytes() : 0);
      break;
    case TreePart::kLinks:
      state.set_links(there);
      break;
    case TreePart::kSymlinks:
      state.set_symlinks(there);
      break;
    case TreePart::kLeaves:
      state.set_leaves(there);
      break;
  }
}

}  // namespace

TreeEffect EffectOf(const OperationSpec& operation) {
  assert(operation.is_metadata());
  const OpKinds kinds = operation.kinds;
  if (kinds.Has(OpKind::kAppend)) {
    return {.needs = kFiles,
            .removes = TreePart::kXattrs,
            .replaces_files = true,
            .reads_data = true,
            .writes_data = true,
            .repeats = true};
  }
  if (kinds.Has(OpKind::kMkdir)) return {.in_the_way = TreePart::kLeaves, .makes = TreePart::kLeaves};
  if (kinds.Has(OpKind::kCreate)) {
    return {.in_the_way = kFilesAndXattrs, .makes = kFiles, .writes_data = true};
  }
  if (kinds.Has(OpKind::kOpenClose)) return {.needs = kFiles, .reads_data = true, .repeats = true};
  if (kinds.Has(OpKind::kRename)) return {.needs = kFiles, .renames = true};
  if (kinds.Has(OpKind::kLink)) {
    return {.needs = kFiles, .in_the_way = TreePart::kLinks, .makes = TreePart::kLinks};
  }
  if (kinds.Has(OpKind::kSymlink)) return {.in_the_way = TreePart::kSymlinks, .makes = TreePart::kSymlinks};
  if (kinds.Has(OpKind::kSetXattr)) return {.needs = kFiles, .makes = TreePart::kXattrs, .repeats = true};
  if (kinds.Has(OpKind::kGetXattr)) return {.needs = kFilesAndXattrs, .repeats = true};
  if (kinds.Has(OpKind::kUnlink)) return {.needs = kFiles, .removes = kFilesAndXattrs};
  if (kinds.Has(OpKind::kRmdir)) return {.needs = TreePart::kLeaves, .removes = TreePart::kLeaves};
  return {.needs = kFiles, .repeats = true};  // stat, readdir, find, chmod
}

TreeParts PartsThere(const v1::TreeState& state) {
  TreeParts there;
  if (state.files()) there = there | TreePart::kFiles;
  if (state.xattr_bytes() > 0) there = there | TreePart::kXattrs;
  if (state.links()) there = there | TreePart::kLinks;
  if (state.symlinks()) there = there | TreePart::kSymlinks;
  if (state.leaves()) there = there | TreePart::kLeaves;
  return there;
}

TreeParts PartsMissing(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree) {
  const TreeParts there = PartsThere(state);
  const bool made_anew = FilesAreShort(state, effect, tree);
  TreeParts missing;
  for (const TreePart part : kTreeParts) {
    if (!effect.needs.Has(part)) continue;
    const bool of_new_files = made_anew && kFilesAndXattrs.Has(part);
    const bool other_size = part == TreePart::kXattrs && state.xattr_bytes() != tree.xattr_bytes();
    if (!there.Has(part) || of_new_files || other_size) missing = missing | part;
  }
  return missing;
}

TreeParts PartsInTheWay(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree) {
  const TreeParts there = PartsThere(state);
  TreeParts in_the_way;
  for (const TreePart part : kTreeParts) {
    if (effect.in_the_way.Has(part) && there.Has(part)) in_the_way = in_the_way | part;
  }
  if (FilesAreShort(state, effect, tree)) in_the_way = in_the_way | TreePart::kFiles;
  return in_the_way;
}

v1::TreeState StateAfter(const v1::TreeState& before, const TreeEffect& effect, const v1::Tree& tree) {
  v1::TreeState state = before;
  const TreeParts removed = PartsInTheWay(before, effect, tree);
  const TreeParts prepared = PartsMissing(before, effect, tree);
  if (removed.Has(TreePart::kFiles)) {
    state.set_renamed(false);  // new ones get their first names
    Set(TreePart::kXattrs, false, tree, state);
  }
  for (const TreePart part : kTreeParts) {
    if (removed.Has(part)) Set(part, false, tree, state);
    if (prepared.Has(part) || effect.makes.Has(part)) Set(part, true, tree, state);
    if (effect.removes.Has(part)) Set(part, false, tree, state);
  }
  if (effect.replaces_files) state.set_file_bytes(tree.file_bytes());
  if (effect.renames) state.set_renamed(!state.renamed());
  if (!state.files()) state.set_renamed(false);
  state.set_unknown(false);
  return state;
}

}  // namespace iobench
