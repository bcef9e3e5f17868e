#include "common/memory/own_lines.h"

#include <new>

namespace iobench {

void* AllocateOnOwnLines(size_t bytes) {
  return static_cast<std::byte*>(::operator new(bytes + 2 * kOwnLinesBytes)) + kOwnLinesBytes;
}

void FreeOnOwnLines(void* memory) {
  if (memory != nullptr) ::operator delete(static_cast<std::byte*>(memory) - kOwnLinesBytes);
}

}  // namespace iobench
