// The unit of work: one record read or written, or one metadata call.
#ifndef COMMON_MODEL_OP_H_
#define COMMON_MODEL_OP_H_

#include <cstdint>

#include "common/model/enum_set.h"

namespace iobench {

enum class OpKind : uint8_t {  // same numbers and names as v1::OpKind, so new ones come last
  kRead,
  kWrite,
  kUpdate,  // read a record, change it, write it back
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
  kFind,  // look at one entry of a directory listing
  kEnd,   // not a kind
};
inline constexpr int kOpKindCount = static_cast<int>(OpKind::kEnd);
const char* NameOf(OpKind kind);  // "read", "open-close" …, from the name in v1::OpKind

using OpKinds = EnumSet<OpKind>;

struct Op {
  OpKind kind = OpKind::kRead;
  uint32_t object = 0;  // index into the lane's files
  uint64_t offset = 0;  // bytes within the file's extent; metadata: the item's number
  uint32_t length = 0;  // bytes; below 4 GiB
};

}  // namespace iobench

#endif  // COMMON_MODEL_OP_H_
