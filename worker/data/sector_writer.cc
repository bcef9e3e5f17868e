#include "worker/data/sector_writer.h"

#include <algorithm>
#include <utility>

#include "common/model/data_content.h"
#include "common/status_util.h"

namespace iobench {

absl::StatusOr<std::unique_ptr<SectorWriter>> SectorWriter::Create(const SectorIdentity& identity,
                                                                   size_t longest_op_bytes) {
  auto record = AlignedBuffer::AllocateForOps(longest_op_bytes + 2 * DataBlocks::kBlockBytes);
  if (!record.ok()) return record.status();
  return std::unique_ptr<SectorWriter>(new SectorWriter(identity, *std::move(record)));
}

SectorWriter::SectorWriter(const SectorIdentity& identity, AlignedBuffer record)
    : identity_(identity),
      generation_(identity.generation),
      blocks_(SectorBlocks(identity.seed, identity.owner, identity.writer, identity.generation,
                           identity.compress_percent)),
      record_(std::move(record)) {}

void SectorWriter::BeginPass(uint64_t pass) {
  generation_ = GenerationOfPass(identity_.generation, pass);
  blocks_ = SectorBlocks(identity_.seed, identity_.owner, identity_.writer, generation_,
                         identity_.compress_percent);
}

const std::byte* SectorWriter::Make(const Op& op) {
  constexpr uint64_t kBlock = DataBlocks::kBlockBytes;
  constexpr uint64_t kPiece = DataBlocks::kPieceBytes;
  const uint64_t first_block = op.offset - op.offset % kBlock;
  std::byte* const memory = record_.data();  // start of the first block
  std::byte* const record = memory + op.offset % kBlock;
  SectorHeader header{.run = identity_.run,
                      .owner = identity_.owner,
                      .file = op.object,
                      .generation = generation_,
                      .writer = identity_.writer};
  const uint64_t op_end = op.offset + op.length;
  uint64_t made_to = op.offset;
  ForEachSector(op.offset, op_end, identity_.unit_bytes, [&](uint64_t offset, uint64_t length) {
    // Processes block by block, so that the checksum finds the data in the L1 cache.
    while (made_to < offset + length) {
      const uint64_t end = std::min(op_end, (made_to / kBlock + 1) * kBlock);
      blocks_.Make(op.object, made_to, end - made_to, memory + (made_to - made_to % kPiece - first_block));
      made_to = end;
    }
    std::byte* const sector = record + (offset - op.offset);
    header.offset = offset;
    if (length < kSectorHeaderBytes) return MakeTinySector(header, sector, length);
    header.checksum = SectorChecksum(header, sector, length);
    WriteHeader(header, sector);
  });
  return record;
}

}  // namespace iobench
