#include "worker/data/deduped_records.h"

#include <algorithm>
#include <utility>

#include "worker/pattern/mix.h"

namespace iobench {
namespace {

constexpr uint64_t kSetDomain = 5;
constexpr uint64_t kMemberDomain = 6;
constexpr uint64_t kUniqueDomain = 7;

// The "files" of the set's blocks: records that are all equal, and records that every file has at the same place.
constexpr uint32_t kEqualRecords = 0;
constexpr uint32_t kRecordsByPlace = 1;

// Of the items 0, 1, 2 …, chooses `percent` of every hundred, as evenly as possible. `place` is the index of item
// `index` among the chosen ones, or among the others.
struct Choice {
  bool chosen;
  uint64_t place;
};
Choice Choose(uint64_t index, uint32_t percent) {
  const auto chosen_before = [percent](uint64_t i) {
    return i / 100 * percent + i % 100 * percent / 100;  // i · percent would overflow
  };
  const uint64_t before = chosen_before(index);
  const bool chosen = chosen_before(index + 1) > before;
  return {chosen, chosen ? before : index - before};
}

}  // namespace

RecordClass ClassOfRecord(const DedupeShape& shape, uint64_t index) {
  const Choice dedupable = Choose(index, shape.percent);
  if (!dedupable.chosen) return RecordClass::kUnique;
  const Choice within = Choose(dedupable.place, shape.within_percent);
  if (!within.chosen) return RecordClass::kAcrossFiles;
  return Choose(within.place, shape.interior_percent).chosen ? RecordClass::kWithinFile
                                                             : RecordClass::kWithinAndAcross;
}

absl::StatusOr<std::unique_ptr<DedupedRecords>> DedupedRecords::Create(const DedupeShape& shape,
                                                                       size_t longest_op_bytes) {
  auto record = AlignedBuffer::AllocateForOps(longest_op_bytes + 2 * DataBlocks::kBlockBytes);
  if (!record.ok()) return record.status();
  return std::unique_ptr<DedupedRecords>(new DedupedRecords(shape, *std::move(record)));
}

DedupedRecords::DedupedRecords(const DedupeShape& shape, AlignedBuffer record)
    : shape_(shape),
      unique_(MixAll(MixAll(shape.seed, shape.set, shape.lane, shape.phase), 0, 0, kUniqueDomain),
              {.compress_percent = shape.compress_percent}),
      of_set_(MixAll(shape.set, 0, 0, kSetDomain), {.compress_percent = shape.compress_percent}),
      of_member_(MixAll(shape.set, shape.lane, 0, kMemberDomain),
                 {.compress_percent = shape.compress_percent}),
      record_(std::move(record)) {}

const std::byte* DedupedRecords::Make(const Op& op) {
  std::byte* const begin = record_.data() + op.offset % DataBlocks::kBlockBytes;
  for (uint64_t done = 0; done < op.length;) {
    const uint64_t length = std::min<uint64_t>(shape_.record_bytes, op.length - done);
    MakeRecord(op.object, shape_.interleave.InLane(op.offset + done) / shape_.record_bytes, begin + done,
               length);
    done += length;
  }
  return begin;
}

void DedupedRecords::MakeRecord(uint32_t file, uint64_t index, std::byte* record, uint64_t length) const {
  const DataBlocks* blocks = &unique_;
  uint64_t position = index * shape_.record_bytes;
  switch (ClassOfRecord(shape_, index)) {
    case RecordClass::kUnique:
      break;
    case RecordClass::kAcrossFiles:
      blocks = &of_set_;
      file = kRecordsByPlace;
      break;
    case RecordClass::kWithinAndAcross:
      blocks = &of_set_;
      file = kEqualRecords;
      position = 0;
      break;
    case RecordClass::kWithinFile:
      blocks = &of_member_;
      position = 0;
      break;
  }
  // Records that start at piece boundaries are generated in place, since the memory after the last one is free.
  if (shape_.record_bytes % DataBlocks::kPieceBytes == 0) {
    blocks->Make(file, position, length, record);
  } else {
    blocks->Copy(file, position, length, record);
  }
}

}  // namespace iobench
