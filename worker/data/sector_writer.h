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
  uint64_t run = 0;  // the run that created the data, which with kept data is an earlier one
  uint64_t seed = 0;
  uint32_t owner = 0;       // lane that owns the files
  uint32_t writer = 0;      // lane that writes: another one if clients are rotated
  // Of pass 0. Increases with every pass and phase that writes; 0 means that nothing was written.
  uint32_t generation = 0;
  // Sectors are counted from multiples of this size: 512, or a record size that is not a multiple of 512.
  uint64_t unit_bytes = kSectorBytes;
  // Of the whole data, 0 to 90. Headers are not compressible, so the contents compensate for them.
  uint32_t compress_percent = 0;
};

// Each lane has its own, used on its thread. Make generates the contents and then the headers over them, before the op
// and outside its latency. REQUIRES: an op starts at a sector's start and ends at a sector's or its file's end.
class SectorWriter final : public RecordMaker {
 public:
  // ResourceExhausted: not enough memory.
  static absl::StatusOr<std::unique_ptr<SectorWriter>> Create(const SectorIdentity& identity,
                                                              size_t longest_op_bytes);

  // Each pass has the next generation.
  void BeginPass(uint64_t pass) override;
  const std::byte* Make(const Op& op) override;

 private:
  SectorWriter(const SectorIdentity& identity, AlignedBuffer record);

  const SectorIdentity identity_;
  uint32_t generation_;
  DataBlocks blocks_;
  AlignedBuffer record_;
};

}  // namespace iobench

#endif  // WORKER_DATA_SECTOR_WRITER_H_
