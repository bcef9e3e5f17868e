#include "worker/data/pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace iobench {

absl::StatusOr<Pool> Pool::Create(const PoolWords& words, size_t longest_bytes) {
  constexpr size_t kPoolBytes = PoolWords::kPoolBytes;
  // A record may begin in the last block of the pool and end in the middle of one.
  absl::StatusOr<AlignedBuffer> window =
      AlignedBuffer::Allocate(kPoolBytes + longest_bytes + 2 * PoolWords::kBlockBytes);
  if (!window.ok()) return window.status();
  for (size_t at = 0; at < kPoolBytes; at += sizeof(uint64_t)) {
    const uint64_t word = words.At(at / sizeof(uint64_t));
    std::memcpy(window->data() + at, &word, sizeof(word));
  }
  for (size_t at = kPoolBytes; at < window->size(); at += kPoolBytes) {
    std::memcpy(window->data() + at, window->data(), std::min(kPoolBytes, window->size() - at));
  }
  return Pool(*std::move(window));
}

}  // namespace iobench
