#include "common/op.h"

namespace iobench {

const char* NameOf(OpKind kind) {
  return kind == OpKind::kWrite ? "write" : "read";
}

}  // namespace iobench
