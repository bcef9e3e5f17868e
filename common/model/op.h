// The unit of work: one record read or written, or one metadata call.
#ifndef COMMON_MODEL_OP_H_
#define COMMON_MODEL_OP_H_

#include <cstdint>

#include "common/model/enum_set.h"

namespace iobench {

// What an op does. Numbers and names equal those of v1::OpKind, because results store the number as it is; new kinds
// come last. Operations on records use the first three kinds; each of the others is a call on names (see
// metadata_operation.h).
enum class OpKind : uint8_t {
  kRead,
  kWrite,
  // Reads a record, changes it and writes it back; the latency covers all of this, and the bytes count once.
  kUpdate,
  kMkdir,
  kCreate,
  kOpenClose,
  kStat,
  kReaddir,
  kRename,
  kLink,
  kSymlink,
  kSetXattr,
  kGetXattr,
  kChmod,
  kUnlink,
  kRmdir,
  kAppend,
  // Examines one entry of a directory listing. The time of the listing is in the ops that wait for it.
  kFind,
  kChown,
  kUtimes,
  kReadlink,
  kListLong,
  kTruncate,
  kExtend,
  kPunchHole,
  kAllocate,
  kZeroRange,
  kSeekHole,
  kCopy,
  kCopyRange,
  kClone,
  // Flush calls (kFlushCalls).
  kFsync,
  kFdatasync,
  kSyncFileRange,
  kCommit,  // NFS COMMIT, sent by this process
  kClose,
  kLock,  // waits for a lock that others hold, and takes it; an op, unlike the flush calls
  // Not a kind, but the number of kinds; v1::OpKind has no counterpart.
  kEnd,
};
inline constexpr int kOpKindCount = static_cast<int>(OpKind::kEnd);
// Returns the name in reports and plans, "read" or "open-close", which is derived from the name in v1::OpKind. The text
// is never freed. REQUIRES: kind < kEnd.
const char* NameOf(OpKind kind);

using OpKinds = EnumSet<OpKind>;

// The calls that make a lane's data durable, and the close at the end of its timed region. They are no ops: they have
// latencies of their own, but count in no figure of ops or bytes.
inline constexpr OpKinds kFlushCalls = {OpKind::kFsync, OpKind::kFdatasync, OpKind::kSyncFileRange, OpKind::kCommit,
                                        OpKind::kClose};

// One op as an op stream yields it and an engine executes it. It is passed by value inside the timed loop.
struct Op {
  OpKind kind = OpKind::kRead;
  // Index into the files of the lane (FileSet), not a number within the run.
  uint32_t object = 0;
  // Position in bytes within the lane's extent of the file. For calls on names, the number of the item in the tree.
  uint64_t offset = 0;
  // Size in bytes, for a vector of records their sum; it stays below 4 GiB.
  uint32_t length = 0;
};

}  // namespace iobench

#endif  // COMMON_MODEL_OP_H_
