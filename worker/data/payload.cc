#include "worker/data/payload.h"

#include <algorithm>
#include <cassert>

#include "common/clock.h"
#include "worker/pattern/mix.h"

namespace iobench {
namespace {

constexpr uint64_t kPayloadDomain = 1;

DataBlocks BlocksOf(uint64_t seed, uint32_t lane, uint32_t phase, const BlockContents& contents) {
  return DataBlocks(MixAll(seed, lane, phase, kPayloadDomain), contents);
}

}  // namespace

absl::StatusOr<Payload> Payload::Create(uint64_t seed, uint32_t lane, uint32_t phase,
                                        uint32_t largest_record_bytes, const BlockContents& contents) {
  assert(largest_record_bytes > 0);
  // A record may start at the end of its first block, and its last piece is generated as a whole.
  absl::StatusOr<AlignedBuffer> record =
      AlignedBuffer::AllocateForOps(size_t{largest_record_bytes} + 2 * kBlockBytes);
  if (!record.ok()) return record.status();
  if (contents.constant) std::memset(record->data(), *contents.constant, record->size());
  return Payload(BlocksOf(seed, lane, phase, contents), *std::move(record), contents.constant.has_value());
}

absl::StatusOr<Payload> Payload::CreateRepeated(uint64_t seed, uint32_t lane, uint32_t phase,
                                                uint32_t largest_record_bytes, const BlockContents& contents) {
  auto payload = Create(seed, lane, phase, largest_record_bytes, contents);
  if (!payload.ok()) return payload.status();
  payload->blocks_.Make(/*file=*/0, /*position=*/0, payload->record_.size(), payload->record_.data());
  payload->is_made_once_ = true;
  return payload;
}

void Payload::CopyTo(std::byte* out, const Op& op) {
  const bool is_long = op.length >= kMadeBeforeOpsBytes;
  const int64_t begin_ns = is_long ? MonotonicNowNs() : 0;
  constexpr uint64_t kPiece = DataBlocks::kPieceBytes;
  if (made_ == nullptr && !is_made_once_ && !numbers_writes_ && op.offset % kPiece == 0) {
    blocks_.Make(op.object, op.offset, op.length, out);
  } else {
    std::memcpy(out, Next(op), op.length);
  }
  if (is_long) copying_ns_ += MonotonicNowNs() - begin_ns;
}

void Payload::Expected(uint64_t seed, uint32_t lane, uint32_t phase, const Op& op, std::span<std::byte> out,
                       const BlockContents& contents, uint64_t pass) {
  assert(out.size() >= op.length);
  DataBlocks blocks = BlocksOf(seed, lane, phase, contents);
  blocks.BeginPass(pass);
  constexpr uint64_t kWord = sizeof(uint64_t);
  for (uint64_t i = 0; i < op.length;) {
    const uint64_t position = op.offset + i;
    const uint64_t word = blocks.WordAt(op.object, position / kWord);
    const uint64_t skipped = position % kWord;
    const uint64_t count = std::min(kWord - skipped, op.length - i);
    std::memcpy(out.data() + i, reinterpret_cast<const std::byte*>(&word) + skipped, count);
    i += count;
  }
}

}  // namespace iobench
