#include "common/model/op.h"

#include <array>
#include <cstddef>

namespace iobench {
namespace {

constexpr std::array<const char*, kOpKindCount> kNames = {
    "read", "write",   "update",    "mkdir",     "create", "open-close", "stat",  "readdir", "rename",
    "link", "symlink", "set-xattr", "get-xattr", "chmod",  "unlink",     "rmdir", "append",  "find"};

}  // namespace

const char* NameOf(OpKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace iobench
