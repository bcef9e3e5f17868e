#include "worker/data/sector.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cassert>
#include <cstring>

namespace iobench {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are written as they stand in memory");

constexpr uint64_t kSectorDomain = 3;
constexpr uint64_t kTinyDomain = 4;

}  // namespace

uint64_t SectorChecksum(const SectorHeader& header, const std::byte* sector, uint64_t length) {
  assert(length >= kSectorHeaderBytes);
  const uint64_t of_contents = XXH3_64bits(sector + kSectorHeaderBytes, length - kSectorHeaderBytes);
  static_assert(offsetof(SectorHeader, checksum) == 0 && offsetof(SectorHeader, magic) == 8);
  return XXH3_64bits_withSeed(&header.magic, sizeof(header) - sizeof(header.checksum), of_contents);
}

void MakeTinySector(const SectorHeader& header, std::byte* sector, uint64_t length) {
  assert(length < kSectorHeaderBytes);
  const uint64_t place = MixAll(header.run, header.owner, header.file, header.offset);
  const uint64_t key = MixAll(place, header.generation, length, kTinyDomain);
  for (uint64_t at = 0; at < length; at += sizeof(uint64_t)) {
    const uint64_t word = Mix(key + at * kGoldenRatio64);
    std::memcpy(sector + at, &word, std::min<uint64_t>(sizeof(word), length - at));
  }
}

DataBlocks SectorBlocks(uint64_t seed, uint32_t owner, uint32_t writer, uint32_t generation,
                        uint32_t compress_percent) {
  return DataBlocks(MixAll(MixAll(seed, owner, writer, generation), 0, 0, kSectorDomain),
                    {.compress_percent = compress_percent, .covered_bytes = kSectorHeaderBytes});
}

}  // namespace iobench
