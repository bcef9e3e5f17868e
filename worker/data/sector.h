// A sector that can be verified: 512 bytes that say which run, file, place, generation and lane they are of, with a
// checksum over all of it.
//
//   bytes  0  checksum         8   XXH3 of the 40 bytes below, seeded with XXH3 of the contents
//          8  magic            8
//         16  run              8   the run that made the data directory
//         24  owner            4   lane whose file it is
//         28  file             4   index among the owner's files
//         32  offset           8   of the sector, within the file or the owner's extent of a shared one
//         40  generation       4   grows with every phase that writes
//         44  writer           4   lane that wrote it
//         48  contents             the blocks of (seed, owner, writer, generation) at this place of the file
//
// Numbers are little-endian. What stands between checksum and contents is masked with words that follow from the
// checksum: it would be alike in all sectors, and 5 % of data that should not compress would. Sectors lie on
// multiples of 512, or where records are not multiples of 512, on multiples of 512 from each record's begin; the last
// of a record or file is shorter then. One of under 48 bytes has no header: its bytes are a hash of what the header
// would say (the writer left out).
#ifndef WORKER_DATA_SECTOR_H_
#define WORKER_DATA_SECTOR_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "worker/data/data_blocks.h"
#include "worker/pattern/mix.h"

namespace iobench {

inline constexpr uint64_t kSectorBytes = 512;
inline constexpr uint64_t kSectorMagic = 0x31746365'53424F49;  // "IOBSect1"

struct SectorHeader {
  uint64_t checksum = 0;
  uint64_t magic = kSectorMagic;
  uint64_t run = 0;
  uint32_t owner = 0;
  uint32_t file = 0;
  uint64_t offset = 0;
  uint32_t generation = 0;
  uint32_t writer = 0;
};
inline constexpr uint64_t kSectorHeaderBytes = sizeof(SectorHeader);
static_assert(kSectorHeaderBytes == 48);

// Into and out of the first 48 bytes of a sector, masked there.
inline void PutHeader(const SectorHeader& header, std::byte* sector) {
  auto words = std::bit_cast<std::array<uint64_t, kSectorHeaderBytes / sizeof(uint64_t)>>(header);
  for (size_t i = 1; i < words.size(); ++i) words[i] ^= Mix(words[0] + i * kGoldenRatio64);
  std::memcpy(sector, words.data(), kSectorHeaderBytes);
}
inline SectorHeader HeaderAt(const std::byte* sector) {
  std::array<uint64_t, kSectorHeaderBytes / sizeof(uint64_t)> words;
  std::memcpy(words.data(), sector, kSectorHeaderBytes);
  for (size_t i = 1; i < words.size(); ++i) words[i] ^= Mix(words[0] + i * kGoldenRatio64);
  return std::bit_cast<SectorHeader>(words);
}

// Of the header's other fields and what follows it: `sector` begins with room for a header, `length` >= 48 with it.
uint64_t SectorChecksum(const SectorHeader& header, const std::byte* sector, uint64_t length);

// The first `length` < 48 bytes of a sector that is too short for a header.
void MakeTinySector(const SectorHeader& header, std::byte* sector, uint64_t length);

// What a generation's contents in an owner's files are cut from; the seed is the run's. Headers do not compress, so the
// contents have to do so by more: at most 90 percent.
DataBlocks SectorBlocks(uint64_t seed, uint32_t owner, uint32_t writer, uint32_t generation,
                        uint32_t compress_percent);

// Calls each(offset, length) for the sectors that begin in [offset, end), in order; one that `end` cuts is shorter.
// `unit_bytes`: 512, or the record size. REQUIRES: `offset` is where a sector begins.
template <typename Each>
void ForEachSector(uint64_t offset, uint64_t end, uint64_t unit_bytes, Each each) {
  while (offset < end) {
    const uint64_t unit_end = std::min(end, (offset / unit_bytes + 1) * unit_bytes);
    for (; offset < unit_end; offset = std::min(offset + kSectorBytes, unit_end)) {
      each(offset, std::min(kSectorBytes, unit_end - offset));
    }
  }
}

}  // namespace iobench

#endif  // WORKER_DATA_SECTOR_H_
