#include "worker/data/sector_checker.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace iobench {
namespace {

// How many generations back to search for the other part of a torn sector.
constexpr uint32_t kMaxGenerationsBack = 16;
// How many generations a sector without room for a header is compared with; each takes some ns.
constexpr uint32_t kMaxTinyGenerations = 4096;
// A single wrong byte often matches one of 16 other writes by chance; this many bytes never do.
constexpr uint64_t kFewestTornBytes = 8;

bool AllZeros(const std::byte* data, uint64_t length) {
  return std::all_of(data, data + length, [](std::byte b) { return b == std::byte{0}; });
}

// Generates the contents of a sector that begins at `offset`: `length` includes the header, which is left out.
void MakeContents(const DataBlocks& blocks, uint32_t file, uint64_t offset, uint64_t length,
                  std::byte* sector) {
  blocks.Copy(file, offset + kSectorHeaderBytes, length - kSectorHeaderBytes, sector + kSectorHeaderBytes);
}

using Sector = std::array<std::byte, kSectorBytes>;

}  // namespace

SectorHeader SectorChecker::HeaderOf(uint32_t file, uint64_t offset) const {
  return {.run = expected_.run, .owner = expected_.owner, .file = file, .offset = offset};
}

void SectorChecker::Check(const Op& op, const std::byte* data) {
  // Skips to the first sector that begins in the op; ops of a plan begin with one.
  const uint64_t in_unit = op.offset % expected_.unit_bytes;
  uint64_t begin = op.offset - in_unit;
  begin += std::min((in_unit + kSectorBytes - 1) / kSectorBytes * kSectorBytes, expected_.unit_bytes);
  const uint64_t end = op.offset + op.length;
  ForEachSector(begin, end, expected_.unit_bytes, [&](uint64_t offset, uint64_t length) {
    const uint64_t sector_end = offset + length;
    const bool whole = length == kSectorBytes || sector_end % expected_.unit_bytes == 0 ||
                       sector_end == expected_.file_bytes;
    if (whole) CheckSector(op.object, offset, data + (offset - op.offset), length);
  });
}

void SectorChecker::CheckSector(uint32_t file, uint64_t offset, const std::byte* sector, uint64_t length) {
  log_.CountSector();
  if (length < kSectorHeaderBytes) return CheckTiny(file, offset, sector, length);
  const SectorHeader header = HeaderAt(sector);
  const Generations expected = GenerationsAt(file, offset);
  const bool right = header.magic == kSectorMagic && header.run == expected_.run &&
                     header.owner == expected_.owner && header.file == file && header.offset == offset &&
                     header.generation >= expected.low && header.generation <= expected.high &&
                     header.checksum == SectorChecksum(header, sector, length);
  if (right) [[likely]] {
    if (expected.low != expected.high) log_.CountUndetermined();
    return;
  }
  Note(Classify(file, offset, sector, length));
}

void SectorChecker::Note(const FoundSector& found) {
  const bool may_be = found.what == v1::Mismatch::ZEROS || found.what == v1::Mismatch::STALE ||
                      found.what == v1::Mismatch::TORN;
  if (may_be && expected_.unacknowledged) {
    log_.CountUndetermined();
  } else {
    log_.Note(found);
  }
}

void SectorChecker::CheckTiny(uint32_t file, uint64_t offset, const std::byte* sector, uint64_t length) {
  SectorHeader header = HeaderOf(file, offset);
  Sector made;
  const auto is_of = [&](uint32_t generation) {
    header.generation = generation;
    MakeTinySector(header, made.data(), length);
    return std::memcmp(made.data(), sector, length) == 0;
  };
  const Generations expected = GenerationsAt(file, offset);
  const uint32_t untried = expected.high - std::min(expected.high - expected.low, kMaxTinyGenerations);
  for (uint32_t generation = expected.high; generation >= untried; --generation) {
    if (is_of(generation)) {
      if (expected.low != expected.high) log_.CountUndetermined();
      return;
    }
    if (generation == 0) break;
  }
  // It may have one of those that were not tried.
  if (untried > expected.low && !AllZeros(sector, length)) return log_.CountUndetermined();
  FoundSector found{.what = v1::Mismatch::CORRUPT, .file = file, .offset = offset};
  found.header.magic = 0;
  std::memcpy(&found.header.checksum, sector, std::min(sizeof(found.header.checksum), length));
  if (AllZeros(sector, length)) found.what = v1::Mismatch::ZEROS;
  const uint32_t oldest = expected.low - std::min(expected.low, kMaxTinyGenerations);
  for (uint32_t generation = expected.low;
       generation-- > std::max(1u, oldest) && found.what == v1::Mismatch::CORRUPT;) {
    if (!is_of(generation)) continue;
    found.what = v1::Mismatch::STALE;
    found.header = header;
  }
  Note(found);
}

FoundSector SectorChecker::Classify(uint32_t file, uint64_t offset, const std::byte* sector,
                                    uint64_t length) const {
  FoundSector found{
      .what = v1::Mismatch::CORRUPT, .file = file, .offset = offset, .header = HeaderAt(sector)};
  const SectorHeader& header = found.header;
  if (header.magic != kSectorMagic) {
    if (AllZeros(sector, length)) found.what = v1::Mismatch::ZEROS;
    return found;
  }
  if (header.checksum != SectorChecksum(header, sector, length)) {
    // A header with a single wrong bit must not be taken for one from another place or time.
    if (!IsGenuine(header, length)) return found;
    found.has_header = true;
    if (IsTorn(sector, length, found)) found.what = v1::Mismatch::TORN;
    return found;
  }
  found.has_header = true;
  if (header.run != expected_.run) {
    found.what = v1::Mismatch::OTHER_RUN;
  } else if (header.owner != expected_.owner || header.file != file) {
    found.what = expected_.shared ? v1::Mismatch::WRONG_OFFSET : v1::Mismatch::OTHER_FILE;
  } else if (header.offset != offset) {
    found.what = v1::Mismatch::WRONG_OFFSET;
  } else {
    found.what = header.generation < GenerationsAt(file, offset).low ? v1::Mismatch::STALE : v1::Mismatch::UNKNOWN;
  }
  return found;
}

DataBlocks SectorChecker::BlocksOf(uint32_t owner, uint32_t writer, uint32_t generation) const {
  return SectorBlocks(expected_.seed, owner, writer, generation, expected_.compress_percent);
}

// Returns whether a sector that we wrote had exactly this header, including the checksum; its contents can be generated
// again.
bool SectorChecker::IsGenuine(const SectorHeader& header, uint64_t length) const {
  Sector made;
  MakeContents(BlocksOf(header.owner, header.writer, header.generation), header.file, header.offset, length,
               made.data());
  return header.checksum == SectorChecksum(header, made.data(), length);
}

// For genuine headers only: returns whether the contents that do not match the header are zeros or from one other write
// of this place.
bool SectorChecker::IsTorn(const std::byte* sector, uint64_t length, FoundSector& found) const {
  const SectorHeader& header = found.header;
  Sector own;
  MakeContents(BlocksOf(header.owner, header.writer, header.generation), header.file, header.offset, length,
               own.data());
  const auto rest_is = [&](const Sector& other) {
    uint64_t differing_bytes = 0;
    for (uint64_t at = kSectorHeaderBytes; at < length; ++at) {
      if (sector[at] == own[at]) continue;
      if (sector[at] != other[at]) return false;
      ++differing_bytes;
    }
    return differing_bytes >= kFewestTornBytes;
  };
  Sector other = {};
  if (rest_is(other)) return true;  // zeros, indicated by other_generation 0
  // The write before the expected one may be much older: passes of other lanes count in between.
  const Generations expected = GenerationsAt(found.file, found.offset);
  for (const uint32_t newest : {std::max(expected.high, header.generation), expected.low}) {
    const uint32_t oldest = newest > kMaxGenerationsBack ? newest - kMaxGenerationsBack : 1;
    for (uint32_t generation = newest; generation >= oldest; --generation) {
      for (const uint32_t writer : {header.writer, expected_.owner, expected_.reader}) {
        MakeContents(BlocksOf(expected_.owner, writer, generation), found.file, found.offset, length,
                     other.data());
        if (!rest_is(other)) continue;
        found.other_generation = generation;
        found.other_writer = writer;
        return true;
      }
    }
  }
  return false;
}

std::string SectorChecker::Expected(const FoundSector& found) const {
  const Generations expected = GenerationsAt(found.file, found.offset);
  if (expected.low == expected.high) return absl::StrCat("generation ", expected.high);
  return absl::StrCat("generation ", expected.low, " to ", expected.high);
}

std::string SectorChecker::Describe(const FoundSector& found) const {
  const SectorHeader& header = found.header;
  const std::string written = absl::StrCat("generation ", header.generation, " by lane ", header.writer);
  const std::string file = absl::StrCat("file ", header.file, " of lane ", header.owner);
  switch (found.what) {
    case v1::Mismatch::ZEROS:
      return "zeros";
    case v1::Mismatch::OTHER_RUN:
      return absl::StrCat("run ", header.run, ", ", file, ", offset ", header.offset, ", ", written);
    case v1::Mismatch::OTHER_FILE:
      return absl::StrCat(file, ", offset ", header.offset, ", ", written);
    case v1::Mismatch::WRONG_OFFSET:
      if (expected_.shared && header.owner != expected_.owner) {
        return absl::StrCat("offset ", header.offset, " of the extent of lane ", header.owner, ", ", written);
      }
      return absl::StrCat("offset ", header.offset, ", ", written);
    case v1::Mismatch::TORN:
      return absl::StrCat(written, ", partly ",
                          found.other_generation == 0 ? std::string("zeros")
                                                      : absl::StrCat("generation ", found.other_generation,
                                                                     " by lane ", found.other_writer));
    case v1::Mismatch::STALE:
    case v1::Mismatch::UNKNOWN:
      return found.has_header ? written : absl::StrCat("generation ", header.generation);
    default:
      if (found.has_header) return absl::StrCat("the header of ", written, ", other contents");
      if (header.magic == kSectorMagic) return "a header with a wrong checksum";
      return absl::StrFormat("no sector of this program: it begins with 0x%016x", header.checksum);
  }
}

v1::VerifyResult SectorChecker::Result() const {
  v1::VerifyResult result = log_.Result();
  for (size_t i = 0; i < log_.kept(); ++i) {
    const FoundSector& found = log_.kept(i);
    v1::Mismatch& mismatch = *result.add_first();
    mismatch.set_what(found.what);
    mismatch.set_file(absl::StrCat(found.file));
    mismatch.set_offset(found.offset);
    mismatch.set_expected(Expected(found));
    mismatch.set_found(Describe(found));
  }
  return result;
}

}  // namespace iobench
