// One record moved, or one metadata call.
#ifndef COMMON_OP_H_
#define COMMON_OP_H_

#include <cstdint>

namespace iobench {

enum class OpKind : uint8_t { kRead = 0, kWrite = 1 };  // same numbers as v1::OpKind
inline constexpr int kOpKindCount = 2;
const char* NameOf(OpKind kind);  // "read" | "write"

struct Op {
  OpKind kind = OpKind::kRead;
  uint32_t object = 0;  // index into the lane's file set
  uint64_t offset = 0;  // within the object's extent, bytes
  uint32_t length = 0;  // bytes; < 4 GiB
};

}  // namespace iobench

#endif  // COMMON_OP_H_
