#include "worker/pattern/bursts.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "worker/pattern/kinds.h"
#include "worker/pattern/shuffled.h"
#include "worker/pattern/skewed.h"

namespace iobench {
namespace {

// A burst is a record of the stream that orders them.
std::unique_ptr<OpStream> OrderOf(const StreamShape& shape) {
  StreamShape of_bursts = shape;
  of_bursts.burst_records = 1;
  of_bursts.op_bytes = shape.op_bytes * shape.burst_records;
  const bool each_once = shape.access.kind == Access::Kind::kEachOnce;
  return each_once ? MakeShuffled(OpKind::kRead, of_bursts) : MakeSkewed(OpKind::kRead, of_bursts);
}

// Walks through the bursts of another stream, which has handed out bursts_[next_burst_ - 1] last; `done_` of its records
// have been handed out here.
template <typename Kinds>
class Bursts final : public OpStream {
 public:
  Bursts(const Kinds& kinds, const StreamShape& shape)
      : kinds_(kinds),
        shape_(shape),
        order_(OrderOf(shape)),
        ops_per_pass_(shape.access.kind == Access::Kind::kEachOnce
                          ? ((shape.object_bytes - 1) / shape.op_bytes + 1) * shape.object_count
                          : order_->ops_per_pass() * shape.burst_records) {
    kinds_.Restart(KeyOf(shape_, 0));
  }

  size_t Fill(std::span<Op> batch) override {
    size_t filled = 0;
    while (filled < batch.size()) {
      if (done_bytes_ == burst_.length && !NextBurst()) break;
      Op op = burst_;
      const uint32_t end_bytes = burst_.length;
      while (filled < batch.size() && done_bytes_ < end_bytes) {
        op.kind = kinds_.At(position_++);
        op.offset = burst_.offset + done_bytes_;
        op.length = std::min(shape_.op_bytes, end_bytes - done_bytes_);
        done_bytes_ += op.length;
        batch[filled++] = op;
      }
    }
    return filled;
  }
  void Unread(size_t op_count) override {
    assert(op_count <= position_);
    position_ -= op_count;
    for (; op_count > 0; --op_count) {
      if (done_bytes_ == 0) PreviousBurst();
      done_bytes_ -= (done_bytes_ - 1) % shape_.op_bytes + 1;
    }
  }
  void Restart(uint64_t pass) override {
    order_->Restart(pass);
    kinds_.Restart(KeyOf(shape_, pass));
    bursts_held_ = next_burst_ = 0;
    burst_ = Op();
    done_bytes_ = 0;
    position_ = 0;
  }
  uint64_t ops_per_pass() const override { return ops_per_pass_; }
  uint64_t bytes_per_pass() const override { return order_->bytes_per_pass(); }

 private:
  bool NextBurst() {
    if (next_burst_ == bursts_held_) {
      bursts_held_ = order_->Fill(bursts_);
      next_burst_ = 0;
      if (bursts_held_ == 0) return false;
    }
    burst_ = bursts_[next_burst_++];
    done_bytes_ = 0;
    return true;
  }
  // Puts back the burst of which nothing is handed out any more, and those after it, and takes the one before it again.
  void PreviousBurst() {
    order_->Unread(bursts_held_ - next_burst_ + 2);
    bursts_held_ = order_->Fill(std::span(bursts_).first(1));
    assert(bursts_held_ == 1);
    next_burst_ = 1;
    burst_ = bursts_[0];
    done_bytes_ = burst_.length;
  }

  Kinds kinds_;
  StreamShape shape_;
  const std::unique_ptr<OpStream> order_;
  const uint64_t ops_per_pass_;
  std::array<Op, 64> bursts_;
  size_t bursts_held_ = 0, next_burst_ = 0;
  Op burst_;  // the current one
  uint32_t done_bytes_ = 0;
  uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<OpStream> MakeBursts(OpKind kind, const StreamShape& shape) {
  return std::make_unique<Bursts<OneKind>>(OneKind{kind}, shape);
}

std::unique_ptr<OpStream> MakeMixedBursts(OpKind other, const StreamShape& shape) {
  return std::make_unique<Bursts<ByPercent>>(ByPercent(shape.read_percent, other), shape);
}

}  // namespace iobench
