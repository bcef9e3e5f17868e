// The data that lanes write. By default: incompressible, and every 4 KiB block unlike every other of the run.
//
// Data are a function of seed, lane, phase, file and place (worker/data/data_blocks.h), so what stands at a place of a
// file does not depend on the record size that wrote it. They are made for each op: short ones within its time, where a
// second read of the clock would cost as much; long ones before it (MakeBeforeOps). Constant data are there from the
// beginning. Data that places do not determine (sectors that can be verified, records that are shared) are made before
// each op by a RecordMaker, and handed out here.
#ifndef WORKER_PAYLOAD_H_
#define WORKER_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "common/op.h"
#include "worker/aligned_buffer.h"
#include "worker/data/data_blocks.h"
#include "worker/data/record_maker.h"

namespace iobench {

// One per lane, one thread. Next() is called once per write op inside the timed loop, and allocates nothing.
class Payload {
 public:
  static constexpr size_t kBlockBytes = DataBlocks::kBlockBytes;
  // From here on an op's data are made before it: 16 KiB take 160 ns, 6 % of writing them to memory.
  static constexpr uint32_t kMadeBeforeOpsBytes = 16 << 10;

  // `largest_record_bytes` > 0; `phase` and `lane` make the data differ.
  static absl::StatusOr<Payload> Create(uint64_t seed, uint32_t lane, uint32_t phase,
                                        uint32_t largest_record_bytes, const BlockContents& contents = {});

  // From now on every Next has its Prepare, in which `maker` makes the data …
  void MakeWith(std::unique_ptr<RecordMaker> maker) { maker_ = std::move(maker); }
  // … or in which they are made as Next would make them.
  void MakeBeforeOps() { before_ops_ = true; }

  // Before an op that writes, outside its time. Nothing to do where Next makes the data.
  void Prepare(const Op& op) {
    if (maker_ != nullptr) {
      made_ = maker_->Make(op);
    } else if (before_ops_) {
      made_ = MakeAt(record_.data(), op);
    }
  }

  // The data for this write: op.length bytes, valid until the next call of either; in memory they are aligned as
  // op.offset is, up to 4 KiB, which suits O_DIRECT.
  const std::byte* Next(const Op& op) {
    if (made_ != nullptr) return made_;
    if (is_constant_) return place_ + op.offset % kBlockBytes;
    return MakeAt(place_, op);
  }

  // Until the next call the data for writes stand at `place`, on a 4 KiB border: constant data must be there already. It
  // must take a record, what is before it in its first block and what is behind it in its last. REQUIRES: neither
  // MakeWith nor MakeBeforeOps.
  void StandAt(std::byte* place) { place_ = place; }

  // Puts the data for this write into `out`, for engines whose data must stay while other ops are made: on a 4 KiB
  // border, with room to the end of the last such block.
  void CopyTo(std::byte* out, const Op& op);
  int64_t copying_ns() const {
    return copying_ns_;
  }  // that took so long, with ops of kMadeBeforeOpsBytes and more

  // What Next would write for `op` under these identities where no maker is at work, for tests: fills `out`, word by
  // word.
  static void Expected(uint64_t seed, uint32_t lane, uint32_t phase, const Op& op, std::span<std::byte> out,
                       const BlockContents& contents = {});

 private:
  Payload(const DataBlocks& blocks, AlignedBuffer record, bool is_constant)
      : blocks_(blocks), record_(std::move(record)), place_(record_.data()), is_constant_(is_constant) {}

  // `place`: where the first block of the op begins.
  const std::byte* MakeAt(std::byte* place, const Op& op) const {
    constexpr uint64_t kPiece = DataBlocks::kPieceBytes;
    const uint64_t in_block = op.offset % kBlockBytes;
    blocks_.Make(op.object, op.offset, op.length, place + in_block / kPiece * kPiece);
    return place + in_block;
  }

  DataBlocks blocks_;
  AlignedBuffer record_;
  std::byte* place_;
  bool is_constant_;
  bool before_ops_ = false;
  const std::byte* made_ = nullptr;
  std::unique_ptr<RecordMaker> maker_;
  int64_t copying_ns_ = 0;
};

}  // namespace iobench

#endif  // WORKER_PAYLOAD_H_
