#include "common/model/tree_state.h"

namespace iobench {
namespace {

constexpr TreeParts kWithFiles = {TreePart::kFiles, TreePart::kXattrs};  // they disappear with the files

bool FilesAreShort(const v1::TreeState& state, const TreeEffect& effect, const v1::Tree& tree) {
  return state.files() && effect.needs.Has(TreePart::kFiles) && (effect.reads_data || effect.uses_contents) &&
         state.file_bytes() < tree.file_bytes();
}

enum class Presence { kAbsent, kPresent };

void Set(TreePart part, Presence presence, const v1::Tree& tree, v1::TreeState& state) {
  const bool there = presence == Presence::kPresent;
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
    const bool of_new_files = made_anew && kWithFiles.Has(part);
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
    state.set_renamed(false);  // new files get their first names
    Set(TreePart::kXattrs, Presence::kAbsent, tree, state);
  }
  for (const TreePart part : kTreeParts) {
    if (removed.Has(part)) Set(part, Presence::kAbsent, tree, state);
    if (prepared.Has(part) || effect.makes.Has(part)) Set(part, Presence::kPresent, tree, state);
    if (effect.removes.Has(part)) Set(part, Presence::kAbsent, tree, state);
  }
  if (effect.replaces_files) state.set_file_bytes(tree.file_bytes());
  if (effect.renames) state.set_renamed(!state.renamed());
  if (!state.files()) state.set_renamed(false);
  state.set_unknown(false);
  return state;
}

}  // namespace iobench
