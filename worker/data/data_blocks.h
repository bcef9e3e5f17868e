// The bytes that data are made of: 4 KiB blocks, each a function of a salt, a file and the block's number. No two of them
// share as much as a few bytes in a row, so no compressor, deduplication or similarity reduction finds one in another.
//
// How: a salt has 128 random words, T0 … T63 and U0 … U63. A block is 8 pieces of 512 bytes; each piece has three keys of
// its own, which follow from salt, file, block and piece, and its word j is (Tj ^ k1)·k2 + (Uj ^ k3), the product of two
// 32-bit numbers. The 1 KiB of words stays in the first-level cache, and a word costs four vector instructions: a block
// takes 35 to 50 ns, little more than storing it does.
#ifndef WORKER_DATA_DATA_BLOCKS_H_
#define WORKER_DATA_DATA_BLOCKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace iobench {

struct BlockContents {
  uint32_t compress_percent = 0;  // so much of every 4 KiB block is zeros, at its end
  uint32_t covered_bytes = 0;  // of each 512 written over later, and not compressible: zeros make up for it
  std::optional<unsigned char> constant = {};  // instead of all that: every byte this one
};

// The ways to make the same bytes; which of them there are depends on the processor.
enum class BlockMaker { kPortable, kAvx2, kAvx512 };
std::span<const BlockMaker> BlockMakersHere();  // the fastest comes last

class DataBlocks {
 public:
  static constexpr size_t kBlockBytes = 4096;
  static constexpr size_t kPieceBytes = 512;

  DataBlocks(uint64_t salt, const BlockContents& contents, BlockMaker maker = BlockMakersHere().back());

  // Makes bytes [position, position + length) of `file`, in whole pieces: `pieces` is where the piece that `position` is
  // in begins, aligned to 64, with room to the end of the last piece. What the first and last piece hold beside those
  // bytes is overwritten.
  void Make(uint32_t file, uint64_t position, uint64_t length, std::byte* pieces) const;

  // The same bytes anywhere, and no others; slower.
  void Copy(uint32_t file, uint64_t position, uint64_t length, std::byte* out) const;

  // The definition: the 8-byte word `word_index` of the file.
  uint64_t WordAt(uint32_t file, uint64_t word_index) const;

  static constexpr size_t kWordsPerPiece = kPieceBytes / sizeof(uint64_t);
  struct alignas(64) Words {
    std::array<uint64_t, kWordsPerPiece> t, u;
  };

 private:
  uint64_t KeyOf(uint32_t file, uint64_t block) const;

  Words words_;
  uint64_t salt_;
  uint64_t random_bytes_;  // of each block; what follows is zeros
  std::optional<unsigned char> constant_;
  BlockMaker maker_;
};

}  // namespace iobench

#endif  // WORKER_DATA_DATA_BLOCKS_H_
