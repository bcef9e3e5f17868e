// Makes records of sectors that can be verified.
#ifndef WORKER_DATA_SECTOR_WRITER_H_
#define WORKER_DATA_SECTOR_WRITER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "worker/aligned_buffer.h"
#include "worker/data/data_blocks.h"
#include "worker/data/record_maker.h"
#include "worker/data/sector.h"

namespace iobench {

// What a lane writes into its sectors during a phase.
struct SectorIdentity {
  uint64_t run = 0;
  uint64_t seed = 0;
  uint32_t owner = 0;  // lane whose files they are
  uint32_t writer = 0;
  uint32_t generation = 0;
  uint64_t unit_bytes = kSectorBytes;  // sectors count from multiples of it
  uint32_t compress_percent = 0;       // of the contents; headers stay
};

// Ops begin where sectors begin and end where they end, or with their file.
class SectorWriter final : public RecordMaker {
 public:
  // ResourceExhausted.
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
