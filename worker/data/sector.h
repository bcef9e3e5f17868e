// The format of verifiable sectors. A sector of 512 bytes identifies its run, file, offset, generation and lane, and
// has a checksum over all of it.
//
//   bytes  0  checksum         8   XXH3 of the 40 bytes below, seeded with XXH3 of the contents
//          8  magic            8
//         16  run              8   the run that created the data directory
//         24  owner            4   lane that owns the file
//         28  file             4   index among the owner's files
//         32  offset           8   of the sector, within the file or the owner's extent of a shared file
//         40  generation       4   increases with every phase that writes
//         44  writer           4   lane that wrote the sector
//         48  contents             the blocks of (seed, owner, writer, generation) at this offset of the file
//
// Numbers are little-endian. The fields between checksum and contents are masked with words derived from the checksum;
// otherwise they would be similar in all sectors, and 5 % of data that is meant to be incompressible could be
// compressed. Sectors start at multiples of 512 bytes, or, if the record size is not a multiple of 512, at multiples of
// 512 from the start of each record; the last sector of a record or file is then shorter. A sector of less than 48
// bytes has no header: its bytes are a hash of the header's fields without the writer.
#ifndef WORKER_DATA_SECTOR_H_
#define WORKER_DATA_SECTOR_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/model/data_content.h"
#include "worker/data/data_blocks.h"
#include "worker/pattern/mix.h"

namespace iobench {

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

// Write and read the 48-byte header at the start of a sector, where it is stored masked.
inline void WriteHeader(const SectorHeader& header, std::byte* sector) {
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

// Returns the checksum over the header's other fields and the contents. `sector` starts with room for the header;
// `length` includes it and is >= 48.
uint64_t SectorChecksum(const SectorHeader& header, const std::byte* sector, uint64_t length);

// Writes a sector of `length` < 48 bytes, which is too short for a header.
void MakeTinySector(const SectorHeader& header, std::byte* sector, uint64_t length);

// Returns the contents of a generation in an owner's files; `seed` is that of the run. Since headers do not compress,
// the contents must compress more to reach `compress_percent`, which is at most 90.
DataBlocks SectorBlocks(uint64_t seed, uint32_t owner, uint32_t writer, uint32_t generation,
                        uint32_t compress_percent);

// Calls each(offset, length) in order for the sectors that start in [offset, end). The last one is shorter if `end`
// cuts it. `unit_bytes`: 512 or the record size. REQUIRES: a sector starts at `offset`.
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
