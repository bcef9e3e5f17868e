// The data that lanes write. By default: incompressible, different per lane, block and phase, and nearly free.
//
// Each lane has a pool of its own, made from seed, lane and phase (worker/data/pool.h). A record's data is the pool
// from its offset on (modulo 512 KiB), with an 8-byte stamp at the start of every 4 KiB block of the file (lane,
// phase, file and block mixed), so that no two blocks of a run are equal. So the data at a position of a file does
// not depend on the record size that wrote it. Constant data have no stamps. Data that the pool cannot give (sectors
// that can be verified, records that are shared) are made before each op by a RecordMaker, and handed out here.
#ifndef WORKER_PAYLOAD_H_
#define WORKER_PAYLOAD_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "common/op.h"
#include "worker/aligned_buffer.h"
#include "worker/data/pool.h"
#include "worker/data/record_maker.h"
#include "worker/pattern/mix.h"

namespace iobench {

// One per lane, one thread. Next() is called once per write op inside the timed loop: no allocation, no branch on
// anything but the length.
class Payload {
 public:
  static constexpr size_t kPoolBytes = PoolWords::kPoolBytes;
  static constexpr size_t kStampEveryBytes = PoolWords::kBlockBytes;

  // `largest_record_bytes` > 0; `phase` and `lane` make the data differ.
  static absl::StatusOr<Payload> Create(uint64_t seed, uint32_t lane, uint32_t phase,
                                        uint32_t largest_record_bytes, const PoolContents& contents = {});

  // From now on `maker` makes the data, and every Next has its Prepare.
  void MakeWith(std::unique_ptr<RecordMaker> maker) { maker_ = std::move(maker); }

  // Before an op that writes, outside its time. Nothing to do where the pool is enough.
  void Prepare(const Op& op) {
    if (maker_ != nullptr) made_ = maker_->Make(op);
  }

  // The data for this write: op.length bytes, valid until the next call of either; in memory they are aligned as
  // op.offset is, up to 4 KiB, which suits O_DIRECT.
  const std::byte* Next(const Op& op) {
    if (made_ != nullptr) [[unlikely]]
      return place_ == nullptr ? made_ : Stamped(op, place_);
    return Stamped(op, pool_.At(op.offset / kStampEveryBytes * kStampEveryBytes));
  }

  // Until the next call the data for writes stand at `place` instead of in the pool: what stands there already, with
  // the stamps of the op. It must take a record and what is before it in its first block. REQUIRES: no maker.
  void StandAt(std::byte* place) { made_ = place_ = place; }

  // Puts the data for this write into `out`, for engines whose data must stay while other ops are made. `held`: the op
  // whose data stand in `out` since the last call, null where none do. Where both lie alike on the pool only the stamps
  // are written: of long records, and of sequential ones that take turns in a queue, nearly nothing.
  void CopyTo(std::byte* out, const Op& op, const Op* held) {
    const std::byte* const data = Next(op);
    const bool only_stamps_differ = made_ == nullptr && held != nullptr && held->length == op.length &&
                                    (held->offset - op.offset) % kPoolBytes == 0 &&
                                    op.offset % kStampEveryBytes == 0;
    if (!only_stamps_differ) {
      std::memcpy(out, data, op.length);
      return;
    }
    for (size_t at = 0; at < op.length; at += kStampEveryBytes) {
      std::memcpy(out + at, data + at, std::min<size_t>(sizeof(uint64_t), op.length - at));
    }
  }

  // What Next would write for `op` under these identities where no maker is at work, for tests: fills `out`.
  static void Expected(uint64_t seed, uint32_t lane, uint32_t phase, const Op& op, std::span<std::byte> out,
                       const PoolContents& contents = {});

 private:
  // The op's data in memory that begins with the op's first block.
  const std::byte* Stamped(const Op& op, std::byte* blocks) const {
    const uint64_t first_block = op.offset / kStampEveryBytes;
    const uint64_t block_count =
        ((op.offset + op.length + kStampEveryBytes - 1) / kStampEveryBytes - first_block) & stamps_;
    for (uint64_t i = 0; i < block_count; ++i) {
      const uint64_t stamp = StampOf(salt_, op.object, first_block + i);
      std::memcpy(blocks + i * kStampEveryBytes, &stamp, sizeof(stamp));
    }
    return blocks + op.offset % kStampEveryBytes;
  }

  Payload(Pool pool, uint64_t salt, uint64_t stamps) : pool_(std::move(pool)), salt_(salt), stamps_(stamps) {}

  static uint64_t StampOf(uint64_t salt, uint32_t object, uint64_t block) {
    return Mix(salt ^ (block + (uint64_t{object} << 40)) * kGoldenRatio64);
  }

  Pool pool_;
  uint64_t salt_;
  uint64_t stamps_;  // all bits: blocks are stamped; 0: they are not
  const std::byte* made_ = nullptr;
  std::byte* place_ = nullptr;
  std::unique_ptr<RecordMaker> maker_;
};

}  // namespace iobench

#endif  // WORKER_PAYLOAD_H_
