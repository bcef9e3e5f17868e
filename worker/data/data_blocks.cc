#include "worker/data/data_blocks.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <vector>

#include "worker/pattern/mix.h"

namespace iobench {
namespace {

constexpr uint64_t kPiecesPerBlock = DataBlocks::kBlockBytes / DataBlocks::kPieceBytes;
constexpr uint64_t kWordsPerBlock = DataBlocks::kBlockBytes / sizeof(uint64_t);

struct PieceKeys {
  uint64_t of_t, factor, of_u;
};

// The factor is odd and large, so that a product keeps all bits of the other factor and reaches bit 63.
PieceKeys KeysOf(uint64_t block_key, uint64_t piece) {
  const uint64_t step = block_key + (piece + 1) * kGoldenRatio64;
  const uint64_t mixed = Mix(step);
  return {step ^ (mixed >> 32), (mixed & 0xFFFFFFFF) | 0x80000001, mixed * 0xBF58476D1CE4E5B9u};
}

uint64_t WordOf(const PieceKeys& keys, uint64_t t, uint64_t u) {
  return ((t ^ keys.of_t) & 0xFFFFFFFF) * keys.factor + (u ^ keys.of_u);
}

// Generates pieces [first, end) of a block; `out` is the start of the first one.
void MakePiecesPortably(const DataBlocks::Words& words, uint64_t block_key, uint64_t first, uint64_t end,
                        std::byte* out) {
  for (uint64_t piece = first; piece < end; ++piece, out += DataBlocks::kPieceBytes) {
    const PieceKeys keys = KeysOf(block_key, piece);
    std::array<uint64_t, DataBlocks::kWordsPerPiece> made;
    for (size_t j = 0; j < made.size(); ++j) made[j] = WordOf(keys, words.t[j], words.u[j]);
    std::memcpy(out, made.data(), sizeof(made));
  }
}

#if defined(__x86_64__)

[[gnu::target("avx2")]] void MakePiecesWithAvx2(const DataBlocks::Words& words, uint64_t block_key,
                                                uint64_t first, uint64_t end, std::byte* out) {
  const auto* const t = reinterpret_cast<const __m256i*>(words.t.data());
  const auto* const u = reinterpret_cast<const __m256i*>(words.u.data());
  for (uint64_t piece = first; piece < end; ++piece, out += DataBlocks::kPieceBytes) {
    const PieceKeys keys = KeysOf(block_key, piece);
    const __m256i of_t = _mm256_set1_epi64x(static_cast<long long>(keys.of_t));
    const __m256i factor = _mm256_set1_epi64x(static_cast<long long>(keys.factor));
    const __m256i of_u = _mm256_set1_epi64x(static_cast<long long>(keys.of_u));
    auto* const made = reinterpret_cast<__m256i*>(out);
#pragma GCC unroll 16
    for (size_t j = 0; j < DataBlocks::kPieceBytes / sizeof(__m256i); ++j) {
      const __m256i product = _mm256_mul_epu32(_mm256_xor_si256(t[j], of_t), factor);
      _mm256_store_si256(made + j, _mm256_add_epi64(product, _mm256_xor_si256(u[j], of_u)));
    }
  }
}

[[gnu::target("avx512f")]] void MakePiecesWithAvx512(const DataBlocks::Words& words, uint64_t block_key,
                                                     uint64_t first, uint64_t end, std::byte* out) {
  for (uint64_t piece = first; piece < end; ++piece, out += DataBlocks::kPieceBytes) {
    const PieceKeys keys = KeysOf(block_key, piece);
    const __m512i of_t = _mm512_set1_epi64(static_cast<long long>(keys.of_t));
    const __m512i factor = _mm512_set1_epi64(static_cast<long long>(keys.factor));
    const __m512i of_u = _mm512_set1_epi64(static_cast<long long>(keys.of_u));
#pragma GCC unroll 8
    for (size_t j = 0; j < DataBlocks::kWordsPerPiece; j += sizeof(__m512i) / sizeof(uint64_t)) {
      const __m512i t = _mm512_load_si512(words.t.data() + j);
      const __m512i u = _mm512_load_si512(words.u.data() + j);
      // Masked, because the plain intrinsic makes GCC 12 warn about its own header.
      const __m512i product = _mm512_maskz_mul_epu32(0xFF, _mm512_xor_si512(t, of_t), factor);
      _mm512_store_si512(out + j * sizeof(uint64_t), _mm512_add_epi64(product, _mm512_xor_si512(u, of_u)));
    }
  }
}

#endif

std::vector<BlockMaker> FindBlockMakers() {
  std::vector<BlockMaker> makers = {BlockMaker::kPortable};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) makers.push_back(BlockMaker::kAvx2);
  // The first processors with AVX-512 lower their clock frequency when it is used; those with VBMI2 do not.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vbmi2")) {
    makers.push_back(BlockMaker::kAvx512);
  }
#endif
  return makers;
}

uint64_t RandomBytes(const BlockContents& contents) {
  const double zeros = contents.compress_percent / 100.0 * 512 / (512 - contents.covered_bytes);
  const auto words = static_cast<uint64_t>(std::lround(std::max(0.0, kWordsPerBlock * (1 - zeros))));
  // At least one word, because otherwise nothing would make blocks differ.
  return std::max<uint64_t>(words, contents.covered_bytes > 0 ? 0 : 1) * sizeof(uint64_t);
}

}  // namespace

std::span<const BlockMaker> BlockMakersHere() {
  static const std::vector<BlockMaker> makers = FindBlockMakers();
  return makers;
}

DataBlocks::DataBlocks(uint64_t salt, const BlockContents& contents, BlockMaker maker)
    : salt_(salt),
      block_salt_(~salt),
      random_bytes_(RandomBytes(contents)),
      constant_(contents.constant),
      maker_(maker) {
  for (uint64_t j = 0; j < kWordsPerPiece; ++j) {
    words_.t[j] = Mix(salt + j * kGoldenRatio64);
    words_.u[j] = Mix(salt + (kWordsPerPiece + j) * kGoldenRatio64);
  }
}

// Mix(0) is 0, so the blocks of pass 0 do not depend on whether there are passes. Blocks of two passes have equal keys
// only by chance, 1 in 2^64.
void DataBlocks::BeginPass(uint64_t pass) {
  block_salt_ = ~salt_ ^ Mix(pass);
}

uint64_t DataBlocks::KeyOf(uint32_t file, uint64_t block) const {
  return Mix(block_salt_ ^ (block + (uint64_t{file} << 40)) * kGoldenRatio64);
}

uint64_t DataBlocks::WordAt(uint32_t file, uint64_t word_index) const {
  if (constant_) return 0x0101010101010101u * *constant_;
  const uint64_t in_block = word_index % kWordsPerBlock;
  if (in_block * sizeof(uint64_t) >= random_bytes_) return 0;
  const PieceKeys keys = KeysOf(KeyOf(file, word_index / kWordsPerBlock), in_block / kWordsPerPiece);
  return WordOf(keys, words_.t[in_block % kWordsPerPiece], words_.u[in_block % kWordsPerPiece]);
}

void DataBlocks::Make(uint32_t file, uint64_t position, uint64_t length, std::byte* pieces) const {
  assert(reinterpret_cast<uintptr_t>(pieces) % 64 == 0);
  if (constant_) {
    std::memset(pieces + position % kPieceBytes, *constant_, length);
    return;
  }
  const uint64_t end = position + length;
  for (uint64_t at = position / kPieceBytes * kPieceBytes; at < end;) {
    const uint64_t block = at / kBlockBytes;
    const uint64_t from = at % kBlockBytes;
    const uint64_t to = std::min(end - block * kBlockBytes, kBlockBytes);
    if (from < random_bytes_) {
      const uint64_t first = from / kPieceBytes;
      const uint64_t last_end = (std::min(to, random_bytes_) + kPieceBytes - 1) / kPieceBytes;
      switch (maker_) {
#if defined(__x86_64__)
        case BlockMaker::kAvx512:
          MakePiecesWithAvx512(words_, KeyOf(file, block), first, last_end, pieces);
          break;
        case BlockMaker::kAvx2:
          MakePiecesWithAvx2(words_, KeyOf(file, block), first, last_end, pieces);
          break;
#endif
        default:
          MakePiecesPortably(words_, KeyOf(file, block), first, last_end, pieces);
      }
    }
    if (to > random_bytes_) {
      const uint64_t zeros_from = std::max(from, random_bytes_);
      std::memset(pieces + (zeros_from - from), 0, to - zeros_from);
    }
    pieces += kBlockBytes - from;
    at = (block + 1) * kBlockBytes;
  }
}

void DataBlocks::Copy(uint32_t file, uint64_t position, uint64_t length, std::byte* out) const {
  alignas(64) std::array<std::byte, kPieceBytes> piece;
  for (uint64_t done = 0; done < length;) {
    const uint64_t skipped = (position + done) % kPieceBytes;
    const uint64_t count = std::min(kPieceBytes - skipped, length - done);
    Make(file, position + done, count, piece.data());
    std::memcpy(out + done, piece.data() + skipped, count);
    done += count;
  }
}

}  // namespace iobench
