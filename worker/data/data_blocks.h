// Generates data in blocks of 4 KiB. A block depends on a salt, a pass, a file and the block's number. No two blocks have more
// than a few equal bytes in a row, so compression, deduplication and similarity reduction find nothing in common.
//
// A salt yields 128 random words, T0 … T63 and U0 … U63. A block has 8 pieces of 512 bytes. Each piece has three keys,
// derived from salt, pass, file, block and piece; its word j is (Tj ^ k1)·k2 + (Uj ^ k3), where the product is of two 32-bit
// numbers. The 1 KiB of words stays in the L1 cache, and a word costs four vector instructions: a block takes 35 to 50
// ns, little more than storing it.
#ifndef WORKER_DATA_DATA_BLOCKS_H_
#define WORKER_DATA_DATA_BLOCKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace iobench {

// What blocks contain besides random words.
struct BlockContents {
  // The percentage of each 4 KiB block that is zeros, at its end. Without covered bytes, at least one random word
  // stays, so that blocks differ.
  uint32_t compress_percent = 0;
  // Incompressible bytes per 512 that the caller overwrites later (sector headers). Additional zeros compensate for
  // them.
  uint32_t covered_bytes = 0;
  // If set, every byte has this value, and the other fields are unused.
  std::optional<unsigned char> constant = {};
};

// Implementations that all generate the same bytes. The processor determines which are available.
enum class BlockMaker { kPortable, kAvx2, kAvx512 };
// Returns those that this processor can run, determined once per process. The last is the fastest: early AVX-512
// processors, which lower their clock frequency for it, do not count as having it.
std::span<const BlockMaker> BlockMakersHere();

// A plain value of about 1 KiB: the words of one salt. Make, Copy and WordAt may be called from several threads; they
// neither allocate nor depend on earlier calls of each other.
class DataBlocks {
 public:
  // Blocks start at multiples of their size in the file, and pieces at multiples of theirs.
  static constexpr size_t kBlockBytes = 4096;
  static constexpr size_t kPieceBytes = 512;

  DataBlocks(uint64_t salt, const BlockContents& contents, BlockMaker maker = BlockMakersHere().back());

  // From now on, all blocks differ from those of any other pass. A new object is in pass 0. Costs a few ns.
  void BeginPass(uint64_t pass);

  // Generates bytes [position, position + length) of `file`, in whole pieces. `pieces` is where the piece that contains
  // `position` starts: aligned to 64 bytes, with room up to the end of the last piece. The rest of the first and last
  // piece is overwritten too.
  void Make(uint32_t file, uint64_t position, uint64_t length, std::byte* pieces) const;

  // Generates the same bytes at any address and writes no others; slower.
  void Copy(uint32_t file, uint64_t position, uint64_t length, std::byte* out) const;

  // Defines the data: the 8-byte word number `word_index` of the file.
  uint64_t WordAt(uint32_t file, uint64_t word_index) const;

  static constexpr size_t kWordsPerPiece = kPieceBytes / sizeof(uint64_t);
  struct alignas(64) Words {
    std::array<uint64_t, kWordsPerPiece> t, u;
  };

 private:
  uint64_t KeyOf(uint32_t file, uint64_t block) const;

  Words words_;
  uint64_t salt_;
  uint64_t block_salt_;    // from salt and pass: the keys of blocks
  uint64_t random_bytes_;  // in each block; the rest is zeros
  std::optional<unsigned char> constant_;
  BlockMaker maker_;
};

}  // namespace iobench

#endif  // WORKER_DATA_DATA_BLOCKS_H_
