// The table of metadata operations: what each does to a tree of names, and which requests a server receives. Their rows
// of the operation table (operation.h) follow from it. A new one is a row here, a kind (op.h) and a function of the
// engine (worker/metadata/metadata_engine.cc); CONTRIBUTING.md lists its tests.
#ifndef COMMON_MODEL_METADATA_OPERATION_H_
#define COMMON_MODEL_METADATA_OPERATION_H_

#include <span>
#include <string_view>

#include "common/model/op.h"
#include "common/model/operation.h"
#include "common/model/tree_state.h"

namespace iobench {

// The kind of names that an op works on. The engine builds each name from this kind and the number of the item.
enum class OpNames { kFiles, kLeaves, kLinks, kSymlinks, kDirectories, kFoundItems };

// One row of the table. Rows are constants; pointers to them stay valid until the program ends.
struct MetadataSpec {
  std::string_view name;   // kebab-case
  std::string_view title;  // display name
  // The kind of its ops; of an operation with a cycle, the kind that it is known for.
  OpKind kind;
  OpNames names;
  // What must exist before the phase, what must not, and what exists afterwards (tree_state.h).
  TreeEffect effect;
  // The NFS requests, of any protocol version, of which the server gets at least one per op unless the client answers
  // from memory. Empty: the op changes something, so it always reaches the server. The mark `cached` compares them with
  // the counters of the mount.
  std::span<const std::string_view> requests = {};
  // The op sets or reads an extended attribute, which the target's file system must support.
  bool uses_xattrs = false;
  // The results say how many items met the criteria (v1::Find).
  bool finds_items = false;
  // The ops on each file in turn, which leave the set of files as it was; empty: one op on each item, of `kind`. A cycle
  // with a rename creates the file under its other name. Reports split the ops by kind.
  std::span<const OpKind> cycle = {};
  // Files of a cycle are created with O_EXCL, for which an NFS client sends a SETATTR too; most programs do without.
  bool creates_exclusively = false;

  // The kinds of all its ops.
  OpKinds kinds() const {
    OpKinds all = kind;
    for (const OpKind each : cycle) all = all | each;
    return all;
  }
};

// One row for each metadata operation.
std::span<const MetadataSpec> MetadataOperations();

// REQUIRES: operation.is_metadata().
const MetadataSpec& MetadataSpecOf(const OperationSpec& operation);
inline const TreeEffect& EffectOf(const OperationSpec& operation) {
  return MetadataSpecOf(operation).effect;
}

// Returns the first row that is known for this kind; null: no metadata operation is.
const MetadataSpec* FindMetadataSpec(OpKind kind);

}  // namespace iobench

#endif  // COMMON_MODEL_METADATA_OPERATION_H_
