// The data that a lane writes. By default it is incompressible, and every 4 KiB block of a run is different.
//
// Data is a function of seed, lane, phase, pass, file and offset (worker/data/data_blocks.h), so the contents of a file
// do not depend on the record size, and no two writes of a phase have equal contents. It is generated for each op: for
// short ops within their latency, since a second clock read would cost as much; for long ops before them
// (MakeBeforeOps). Data that is the same in every write (constant, or one buffer again and again) is generated once at
// the start. Data that depends on more than the offset (verifiable sectors, shared records) comes from a RecordMaker
// before each op, and Next returns it.
#ifndef WORKER_DATA_PAYLOAD_H_
#define WORKER_DATA_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "common/model/op.h"
#include "worker/data/aligned_buffer.h"
#include "worker/data/data_blocks.h"
#include "worker/data/record_maker.h"

namespace iobench {

// Each lane has its own; not thread-safe. The timed loop calls Next() once per write op; it does not allocate.
class Payload {
 public:
  static constexpr size_t kBlockBytes = DataBlocks::kBlockBytes;
  // From this length on, data is generated before the op: 16 KiB take 160 ns, 6 % of the time to write them to memory.
  static constexpr uint32_t kMadeBeforeOpsBytes = 16 << 10;

  // Allocates the buffer of the lane, and fills it if the data is constant. Different values of `phase` and `lane` give
  // different data. `largest_record_bytes`: the longest op that will be written, prefill included. ResourceExhausted:
  // not enough memory. REQUIRES: largest_record_bytes > 0.
  static absl::StatusOr<Payload> Create(uint64_t seed, uint32_t lane, uint32_t phase,
                                        uint32_t largest_record_bytes, const BlockContents& contents = {});

  // The same, but every write has the bytes with which a first one would begin: the buffer is filled once.
  static absl::StatusOr<Payload> CreateRepeated(uint64_t seed, uint32_t lane, uint32_t phase,
                                                uint32_t largest_record_bytes, const BlockContents& contents = {});

  // From now on, `maker` generates the data in Prepare, which must precede every Next …
  void MakeWith(std::unique_ptr<RecordMaker> maker) { maker_ = std::move(maker); }
  // … or Prepare generates the same data that Next would.
  void MakeBeforeOps() { before_ops_ = true; }

  // The writes that follow belong to this pass over the lane's records, and have other data than those of any other.
  // Before the first call, the pass is 0.
  void BeginPass(uint64_t pass) {
    if (!numbers_writes_) blocks_.BeginPass(pass);
    if (maker_ != nullptr) maker_->BeginPass(pass);
  }
  // The writes that follow prepare files for those of the phase, and have other data.
  void BeginPrefill() { blocks_.BeginPass(kPrefillPass); }
  // For ops that write a place more than once per pass: each write has other data than those before it. Has no effect
  // if a RecordMaker generates it.
  void NumberWrites() { numbers_writes_ = true; }
  static constexpr uint64_t kPrefillPass = UINT64_MAX;

  // Call it before an op that writes, outside its latency. Does nothing if Next generates the data.
  void Prepare(const Op& op) {
    if (maker_ != nullptr) {
      made_ = maker_->Make(op);
    } else if (before_ops_) {
      made_ = MakeAt(record_.data(), op);
    }
  }

  // Returns op.length bytes of data for this write, valid until the next call of Next or Prepare. Its address has the
  // same offset from a 4 KiB boundary as op.offset, which suits O_DIRECT.
  const std::byte* Next(const Op& op) {
    if (made_ != nullptr) return made_;
    if (is_made_once_) return place_ + op.offset % kBlockBytes;
    return MakeAt(place_, op);
  }

  // Uses the buffer at `place`, aligned to 4 KiB, for the data of writes until the next call. Data that are made once
  // must already be there. The buffer needs room for all 4 KiB blocks that a record touches. REQUIRES: neither MakeWith
  // nor MakeBeforeOps was called.
  void StandAt(std::byte* place) { place_ = place; }

  // Copies the data of this write to `out`, for engines that need it while later ops are prepared. `out` must be
  // aligned to 4 KiB and have room up to the end of the last 4 KiB block.
  void CopyTo(std::byte* out, const Op& op);
  // The time spent in CopyTo for ops of at least kMadeBeforeOpsBytes; shorter ones are not timed.
  int64_t copying_ns() const { return copying_ns_; }

  // For tests: writes into `out`, word by word, the data that Next returns for `op` with these identities if there is
  // no maker.
  static void Expected(uint64_t seed, uint32_t lane, uint32_t phase, const Op& op, std::span<std::byte> out,
                       const BlockContents& contents = {}, uint64_t pass = 0);

 private:
  Payload(const DataBlocks& blocks, AlignedBuffer record, bool is_made_once)
      : blocks_(blocks), record_(std::move(record)), place_(record_.data()), is_made_once_(is_made_once) {}

  // `place`: the start of the op's first block.
  const std::byte* MakeAt(std::byte* place, const Op& op) {
    if (numbers_writes_) [[unlikely]]
      blocks_.BeginPass(++write_count_);
    constexpr uint64_t kPiece = DataBlocks::kPieceBytes;
    const uint64_t in_block = op.offset % kBlockBytes;
    blocks_.Make(op.object, op.offset, op.length, place + in_block / kPiece * kPiece);
    return place + in_block;
  }

  DataBlocks blocks_;
  AlignedBuffer record_;
  std::byte* place_;
  bool is_made_once_;
  bool before_ops_ = false;
  bool numbers_writes_ = false;
  uint64_t write_count_ = 0;
  const std::byte* made_ = nullptr;
  std::unique_ptr<RecordMaker> maker_;
  int64_t copying_ns_ = 0;
};

}  // namespace iobench

#endif  // WORKER_DATA_PAYLOAD_H_
