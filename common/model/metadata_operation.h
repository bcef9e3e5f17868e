// The table of metadata operations: what each does to a tree of names, and which requests a server receives. Their rows
// of the operation table (operation.h) follow from it. A new one is a row here, a kind (op.h) and a function of the
// engine (worker/metadata/metadata_engine.cc); CONTRIBUTING.md lists its tests.
#ifndef COMMON_MODEL_METADATA_OPERATION_H_
#define COMMON_MODEL_METADATA_OPERATION_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "common/model/op.h"
#include "common/model/operation.h"
#include "common/model/tree_state.h"

namespace iobench {

// The kind of names that an op works on. The engine builds each name from this kind and the number of the item.
enum class OpNames { kFiles, kLeaves, kLinks, kSymlinks, kDirectories, kFoundItems, kLockFile };

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
  // The NFS requests with which the server does the whole op. Where it cannot, the client may do it itself, unseen by the
  // program; the mark `not_offloaded` compares them with the counters of the mount. Empty: there are none.
  std::span<const std::string_view> offloaded_by = {};
  // The op sets or reads an extended attribute, which the target's file system must support.
  bool uses_xattrs = false;
  // The results say how many items met the criteria (v1::Find).
  bool finds_items = false;
  // The ops on each file in turn, which leave the set of files as it was; empty: one op on each item, of `kind`. A cycle
  // with a rename creates the file under its other name. Reports split the ops by kind.
  std::span<const OpKind> cycle = {};
  // Lists each directory, removes what it holds and then the directory itself; an op is one of these removals.
  bool removes_tree = false;
  // All lanes on a target, whatever their client, work on the items of its first lane.
  bool shares_items = false;
  // The number of items if none is given; 0: that of all operations.
  uint64_t default_items = 0;
  // What reports call its items: they need not be names.
  std::string_view items_word = "items";
  // Files of a cycle are created with O_EXCL, for which an NFS client sends a SETATTR too; most programs do without.
  bool creates_exclusively = false;

  // The kinds of all its ops.
  OpKinds kinds() const {
    OpKinds all = kind;
    for (const OpKind each : cycle) all = all | each;
    if (removes_tree) all = all | OpKind::kRmdir;
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

// What the items of an operation are: "items", "turns"; "items" if it is not of this version, or no metadata operation.
std::string_view ItemsWordOf(std::string_view operation);
// True if they are those of one lane: each lane has as many. Otherwise all lanes of a target have the same ones.
bool HasItemsPerLane(std::string_view operation);

// Returns the first row that is known for this kind; null: no metadata operation is.
const MetadataSpec* FindMetadataSpec(OpKind kind);

}  // namespace iobench

#endif  // COMMON_MODEL_METADATA_OPERATION_H_
