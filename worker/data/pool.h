// The bytes that data are cut from: 512 KiB of random words, made from a salt, repeated so that a record of any length
// lies in one piece at every position.
//
// Why 512 KiB: file and pool share the second-level cache. On a processor with 2 MiB of it, rewriting cached 4 KiB
// records runs at 0.97 of writing a constant buffer; with a pool of 1 MiB at 0.92 to 0.95. What a compressor sees is
// random as far as it looks back less than that; one with larger blocks and a longer window would find repetitions.
#ifndef WORKER_DATA_POOL_H_
#define WORKER_DATA_POOL_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "worker/aligned_buffer.h"
#include "worker/pattern/mix.h"

namespace iobench {

// What the pool's words are; the same for every word of a run.
struct PoolContents {
  uint32_t compress_percent = 0;  // so much of every 4 KiB block is zeros, at its end
  uint32_t covered_bytes = 0;  // of each 512 written over later, and not compressible: zeros make up for it
  std::optional<unsigned char> constant = {};  // instead of all that: every byte this one
};

// The word at a position of the pool: word_index counts 8-byte words from the begin of the file.
class PoolWords {
 public:
  static constexpr size_t kPoolBytes = 512 << 10;
  static constexpr size_t kBlockBytes = 4096;

  PoolWords(uint64_t salt, const PoolContents& contents)
      : salt_(salt),
        random_words_per_block_(contents.constant ? 0 : RandomWords(contents)),
        constant_(contents.constant ? 0x0101010101010101u * *contents.constant : 0) {}

  uint64_t At(uint64_t word_index) const {
    if (word_index % kWordsPerBlock >= random_words_per_block_) return constant_;
    return Mix(salt_ + word_index % (kPoolBytes / sizeof(uint64_t)) * kGoldenRatio64);
  }

 private:
  static constexpr uint64_t kWordsPerBlock = kBlockBytes / sizeof(uint64_t);

  static uint64_t RandomWords(const PoolContents& contents) {
    const double zeros = contents.compress_percent / 100.0 * 512 / (512 - contents.covered_bytes);
    return static_cast<uint64_t>(std::lround(std::max(0.0, kWordsPerBlock * (1 - zeros))));
  }
  uint64_t salt_;
  uint64_t random_words_per_block_;
  uint64_t constant_;
};

// The pool in memory. Move only.
class Pool {
 public:
  // `longest_bytes`: of what At is asked for. ResourceExhausted.
  static absl::StatusOr<Pool> Create(const PoolWords& words, size_t longest_bytes);

  // The bytes at this position of a file, aligned in memory as the position is up to 4 KiB. At least longest_bytes are
  // there, and the rest of the block that they end in.
  std::byte* At(uint64_t position) { return window_.data() + position % PoolWords::kPoolBytes; }
  const std::byte* At(uint64_t position) const { return window_.data() + position % PoolWords::kPoolBytes; }

 private:
  explicit Pool(AlignedBuffer window) : window_(std::move(window)) {}
  AlignedBuffer window_;
};

}  // namespace iobench

#endif  // WORKER_DATA_POOL_H_
