// One record moved, or one metadata call.
#ifndef COMMON_OP_H_
#define COMMON_OP_H_

#include <cstdint>

#include "common/enum_set.h"

namespace iobench {

enum class OpKind : uint8_t {  // same numbers as v1::OpKind
  kRead,
  kWrite,
  kUpdate,  // read, change, write back
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
  kFind,  // look at one item of a directory that is listed
};
inline constexpr int kOpKindCount = 18;
const char* NameOf(OpKind kind);  // "read", "open-close" …

using OpKinds = EnumSet<OpKind>;

struct Op {
  OpKind kind = OpKind::kRead;
  uint32_t object = 0;  // index into the lane's file set
  uint64_t offset = 0;  // within the object's extent, bytes; metadata: the item's number
  uint32_t length = 0;  // bytes; < 4 GiB
};

}  // namespace iobench

#endif  // COMMON_OP_H_
