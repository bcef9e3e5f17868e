// The table of metadata operations: what each does to a tree of names, and what a server sees of it. Their rows of the
// operation table (operation.h) follow from it. A new one is a row here, a kind (op.h) and a function of the engine
// (worker/metadata/metadata_engine.cc); CONTRIBUTING.md lists its tests.
#ifndef COMMON_MODEL_METADATA_OPERATION_H_
#define COMMON_MODEL_METADATA_OPERATION_H_

#include <span>
#include <string_view>

#include "common/model/op.h"
#include "common/model/operation.h"
#include "common/model/tree_state.h"

namespace iobench {

// What the names are of that an op works on.
enum class OpNames { kFiles, kLeaves, kLinks, kSymlinks, kDirectories, kFoundItems };

struct MetadataSpec {
  std::string_view name;   // kebab-case
  std::string_view title;  // display name
  OpKind kind;             // of its ops; of a mix, the kind that no other operation has
  OpNames names;
  TreeEffect effect;
  // The NFS requests of which the server gets at least one for each op, in any version, where the client does not answer
  // from memory. Empty: the op changes something, so it always reaches the server.
  std::span<const std::string_view> requests = {};
  bool uses_xattrs = false;
  bool finds_items = false;  // its results say how many items it found
  OpKinds other_kinds = {};  // of a mix: the kinds of its ops that other operations have too
};

// One row for each metadata operation.
std::span<const MetadataSpec> MetadataOperations();

// REQUIRES: operation.is_metadata().
const MetadataSpec& MetadataSpecOf(const OperationSpec& operation);
inline const TreeEffect& EffectOf(const OperationSpec& operation) { return MetadataSpecOf(operation).effect; }

// The row whose ops are of this kind; null: no metadata operation has it.
const MetadataSpec* FindMetadataSpec(OpKind kind);

}  // namespace iobench

#endif  // COMMON_MODEL_METADATA_OPERATION_H_
