#include "worker/data/deduped_records.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace iobench {
namespace {

constexpr uint64_t kSharedDomain = 5;
constexpr uint64_t kOwnDomain = 6;
constexpr uint64_t kStampDomain = 7;

// Of the items 0, 1, 2 …, `percent` in a hundred are chosen, as evenly as can be: the place of item `index` among the
// chosen, or among the others.
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
  const PoolContents contents{.compress_percent = shape.compress_percent};
  auto shared = Pool::Create(PoolWords(MixAll(shape.set, 0, 0, kSharedDomain), contents), longest_op_bytes);
  if (!shared.ok()) return shared.status();
  auto own =
      Pool::Create(PoolWords(MixAll(shape.set, shape.lane, 0, kOwnDomain), contents), longest_op_bytes);
  if (!own.ok()) return own.status();
  auto record = AlignedBuffer::Allocate(longest_op_bytes + PoolWords::kBlockBytes);
  if (!record.ok()) return record.status();
  return std::unique_ptr<DedupedRecords>(
      new DedupedRecords(shape, *std::move(shared), *std::move(own), *std::move(record)));
}

const std::byte* DedupedRecords::Make(const Op& op) {
  std::byte* const begin = record_.data() + op.offset % PoolWords::kBlockBytes;
  for (uint64_t done = 0; done < op.length;) {
    const uint64_t length = std::min<uint64_t>(shape_.record_bytes, op.length - done);
    MakeRecord(op.object, (op.offset + done) / shape_.record_bytes / shape_.records_apart, begin + done,
               length);
    done += length;
  }
  return begin;
}

void DedupedRecords::MakeRecord(uint32_t file, uint64_t index, std::byte* record, uint64_t length) const {
  const RecordClass kind = ClassOfRecord(shape_, index);
  const bool equal_within = kind == RecordClass::kWithinAndAcross || kind == RecordClass::kWithinFile;
  const bool of_set = kind == RecordClass::kWithinAndAcross || kind == RecordClass::kAcrossFiles;
  // Successive records come from successive parts of the pool, so that they do not compress for being alike.
  const uint64_t position = equal_within ? 0 : index * shape_.record_bytes;
  std::memcpy(record, (of_set ? shared_ : own_).At(position), length);

  // Contents are told apart by what stands at the begin of the record and every 4 KiB from there.
  uint64_t key = 0;
  switch (kind) {
    case RecordClass::kUnique:
      key = MixAll(MixAll(shape_.seed, shape_.set, shape_.lane, shape_.phase), file, index, kStampDomain);
      break;
    case RecordClass::kAcrossFiles:
      key = MixAll(shape_.set, index, 0, kStampDomain + 1);
      break;
    case RecordClass::kWithinAndAcross:
      key = MixAll(shape_.set, 0, 0, kStampDomain + 2);
      break;
    case RecordClass::kWithinFile:
      key = MixAll(shape_.set, shape_.lane, file, kStampDomain + 3);
      break;
  }
  for (uint64_t at = 0; at < length; at += PoolWords::kBlockBytes) {
    const uint64_t stamp = Mix(key + at * kGoldenRatio64);
    std::memcpy(record + at, &stamp, std::min(sizeof(stamp), length - at));
  }
}

}  // namespace iobench
