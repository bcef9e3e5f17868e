// Records of which a storage system with deduplication keeps some only once. What is shared is decided record by
// record:
//
//   of all records, `percent` are dedupable;
//     of these, `within_percent` are equal to each other;
//       of these, `interior_percent` only within their file: other files have another content there;
//     the others of them have a content of their own that every file has at this place.
//   The rest is unlike any other record.
//
// Records of each class are spread evenly over the file, so that the fractions hold for any stretch of it, to a record.
#ifndef WORKER_DATA_DEDUPED_RECORDS_H_
#define WORKER_DATA_DEDUPED_RECORDS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "worker/aligned_buffer.h"
#include "worker/data/data_blocks.h"
#include "worker/data/record_maker.h"

namespace iobench {

struct DedupeShape {
  uint32_t percent = 0;
  uint32_t within_percent = 0;
  uint32_t interior_percent = 0;
  uint32_t set = 0;   // only lanes and runs of the same set share records
  uint64_t seed = 0;  // of the run, for what is not shared
  uint32_t lane = 0;  // of the lane whose files they are, within the set
  uint32_t phase = 0;
  uint32_t record_bytes = 0;
  uint32_t records_apart = 1;  // a lane's records are each so many-th of the file: others' lie between
  uint32_t compress_percent = 0;
};

enum class RecordClass { kUnique, kAcrossFiles, kWithinAndAcross, kWithinFile };

// `index`: of the record within its file.
RecordClass ClassOfRecord(const DedupeShape& shape, uint64_t index);

// Ops are whole records, or several of them, or the shorter last one of a file.
class DedupedRecords final : public RecordMaker {
 public:
  // ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<DedupedRecords>> Create(const DedupeShape& shape,
                                                                size_t longest_op_bytes);

  const std::byte* Make(const Op& op) override;

 private:
  DedupedRecords(const DedupeShape& shape, AlignedBuffer record);

  void MakeRecord(uint32_t file, uint64_t index, std::byte* record, uint64_t length) const;

  DedupeShape shape_;
  DataBlocks unique_;     // of this lane, phase and run alone
  DataBlocks of_set_;     // as every lane of the set has them
  DataBlocks of_member_;  // as this lane has them in every phase and run of the set
  AlignedBuffer record_;
};

}  // namespace iobench

#endif  // WORKER_DATA_DEDUPED_RECORDS_H_
