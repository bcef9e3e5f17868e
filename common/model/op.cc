#include "common/model/op.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "iobench/v1/result.pb.h"

namespace iobench {
namespace {

static_assert(kOpKindCount == v1::OpKind_ARRAYSIZE);

// "OP_OPEN_CLOSE" becomes "open-close".
std::array<std::string, kOpKindCount> KindNames() {
  constexpr size_t kPrefixBytes = 3;
  std::array<std::string, kOpKindCount> names;
  for (int i = 0; i < kOpKindCount; ++i) {
    const std::string name = v1::OpKind_Name(static_cast<v1::OpKind>(i)).substr(kPrefixBytes);
    names[static_cast<size_t>(i)] = absl::StrReplaceAll(absl::AsciiStrToLower(name), {{"_", "-"}});
  }
  return names;
}

}  // namespace

const char* NameOf(OpKind kind) {
  static const std::array<std::string, kOpKindCount> names = KindNames();
  assert(kind < OpKind::kEnd);
  return names[static_cast<size_t>(kind)].c_str();
}

}  // namespace iobench
