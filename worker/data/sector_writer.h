// Generates records of verifiable sectors.
#ifndef WORKER_DATA_SECTOR_WRITER_H_
#define WORKER_DATA_SECTOR_WRITER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "worker/data/aligned_buffer.h"
#include "worker/data/data_blocks.h"
#include "worker/data/record_maker.h"
#include "worker/data/sector.h"

namespace iobench {

// The identity that a lane writes into its sectors during a phase.
struct SectorIdentity {
  uint64_t run = 0;
  uint64_t seed = 0;
  uint32_t owner = 0;  // lane that owns the files
  uint32_t writer = 0;
  uint32_t generation = 0;
  uint64_t unit_bytes = kSectorBytes;  // sectors are counted from multiples of this size
  uint32_t compress_percent = 0;       // of the contents; headers are not compressible
};

// REQUIRES: an op starts at a sector's start and ends at a sector's or its file's end.
class SectorWriter final : public RecordMaker {
 public:
  // ResourceExhausted: not enough memory.
  static absl::StatusOr<std::unique_ptr<SectorWriter>> Create(const SectorIdentity& identity,
                                                              size_t longest_op_bytes);

  const std::byte* Make(const Op& op) override;

 private:
  SectorWriter(const SectorIdentity& identity, AlignedBuffer record);

  SectorIdentity identity_;
  DataBlocks blocks_;
  AlignedBuffer record_;
};

}  // namespace iobench

#endif  // WORKER_DATA_SECTOR_WRITER_H_
