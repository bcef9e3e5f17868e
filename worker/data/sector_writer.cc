#include "worker/data/sector_writer.h"

#include <cstring>
#include <utility>

#include "common/status_util.h"

namespace iobench {

absl::StatusOr<std::unique_ptr<SectorWriter>> SectorWriter::Create(const SectorIdentity& identity,
                                                                   size_t longest_op_bytes) {
  const PoolWords words =
      SectorPool(identity.seed, identity.writer, identity.generation, identity.compress_percent);
  auto pool = Pool::Create(words, longest_op_bytes);
  if (!pool.ok()) return pool.status();
  auto record = AlignedBuffer::Allocate(longest_op_bytes + PoolWords::kBlockBytes);
  if (!record.ok()) return record.status();
  return std::unique_ptr<SectorWriter>(new SectorWriter(identity, *std::move(pool), *std::move(record)));
}

const std::byte* SectorWriter::Make(const Op& op) {
  std::byte* const record = record_.data() + op.offset % PoolWords::kBlockBytes;
  const std::byte* const contents = pool_.At(op.offset);
  SectorHeader header{.run = identity_.run,
                      .owner = identity_.owner,
                      .file = op.object,
                      .generation = identity_.generation,
                      .writer = identity_.writer};
  ForEachSector(
      op.offset, op.offset + op.length, identity_.unit_bytes, [&](uint64_t offset, uint64_t length) {
        std::byte* const sector = record + (offset - op.offset);
        header.offset = offset;
        if (length < kSectorHeaderBytes) return MakeTinySector(header, sector, length);
        // Copied sector by sector, so that the checksum finds it in the first-level cache.
        std::memcpy(sector + kSectorHeaderBytes, contents + (offset - op.offset) + kSectorHeaderBytes,
                    length - kSectorHeaderBytes);
        header.checksum = SectorChecksum(header, sector, length);
        PutHeader(header, sector);
      });
  return record;
}

}  // namespace iobench
