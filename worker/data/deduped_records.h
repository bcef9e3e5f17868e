// Generates records that a storage system with deduplication can partly deduplicate. Each record belongs to one class:
//
//   - `percent` of all records are dedupable.
//       - `within_percent` of these are equal to each other.
//           - `interior_percent` of these are equal only within their file; other files have different content.
//       - The remaining dedupable records have content of their own, which every file repeats at the same place.
//   - The rest is unique.
//
// The records of each class are spread evenly over the file, so the fractions hold for any part of it, to within a
// record.
#ifndef WORKER_DATA_DEDUPED_RECORDS_H_
#define WORKER_DATA_DEDUPED_RECORDS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "worker/data/aligned_buffer.h"
#include "worker/data/data_blocks.h"
#include "worker/data/record_maker.h"
#include "worker/pattern/interleaved.h"

namespace iobench {

// The options of -+w, -+y, -+C, -+S and -+W for one lane. Percentages are 0 to 100, each of the records that the
// previous one selects.
struct DedupeShape {
  uint32_t percent = 0;
  uint32_t within_percent = 0;
  uint32_t interior_percent = 0;
  uint32_t set = 0;   // records are shared only among lanes and runs with the same set
  uint64_t seed = 0;  // seed of the run, for unique records
  uint32_t lane = 0;  // lane that owns the files, within the set
  uint32_t phase = 0;
  uint32_t record_bytes = 0;
  Interleave interleave = {};  // records of other lanes are between those of the lane
  uint32_t compress_percent = 0;
};

enum class RecordClass { kUnique, kAcrossFiles, kWithinAndAcross, kWithinFile };

// `index`: the record's index within its file.
RecordClass ClassOfRecord(const DedupeShape& shape, uint64_t index);

// REQUIRES: an op is one or more whole records, or the shorter last record of a file.
class DedupedRecords final : public RecordMaker {
 public:
  // ResourceExhausted: not enough memory.
  static absl::StatusOr<std::unique_ptr<DedupedRecords>> Create(const DedupeShape& shape,
                                                                size_t longest_op_bytes);

  // Unique records differ from those of other passes; dedupable ones are the same in all.
  void BeginPass(uint64_t pass) override { unique_.BeginPass(pass); }
  // The op is a write; its object selects the file, its offset the first record.
  const std::byte* Make(const Op& op) override;

 private:
  DedupedRecords(const DedupeShape& shape, AlignedBuffer record);

  void MakeRecord(uint32_t file, uint64_t index, std::byte* record, uint64_t length) const;

  DedupeShape shape_;
  // One source of data for each kind of sharing.
  DataBlocks unique_;     // unique to this lane, phase and run
  DataBlocks of_set_;     // the same for every lane of the set
  DataBlocks of_member_;  // the same for this lane in every phase and run of the set
  AlignedBuffer record_;
};

}  // namespace iobench

#endif  // WORKER_DATA_DEDUPED_RECORDS_H_
