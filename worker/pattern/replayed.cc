#include "worker/pattern/replayed.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace iobench {
namespace {

class Replayed final : public OpStream {
 public:
  Replayed(OpKind kind, std::shared_ptr<const std::vector<TraceOp>> trace)
      : kind_(kind), trace_(std::move(trace)) {
    for (const TraceOp& op : *trace_) bytes_per_pass_ += op.length;
  }

  size_t Fill(std::span<Op> batch) override {
    const size_t count = std::min(batch.size(), trace_->size() - position_);
    for (size_t i = 0; i < count; ++i) {
      const TraceOp& op = (*trace_)[position_ + i];
      batch[i] = Op{kind_, 0, op.offset, op.length};
    }
    position_ += count;
    return count;
  }
  void Unread(size_t op_count) override {
    assert(op_count <= position_);
    position_ -= op_count;
  }
  void Restart(uint64_t) override { position_ = 0; }
  uint64_t ops_per_pass() const override { return trace_->size(); }
  uint64_t bytes_per_pass() const override { return bytes_per_pass_; }

 private:
  const OpKind kind_;
  const std::shared_ptr<const std::vector<TraceOp>> trace_;
  uint64_t bytes_per_pass_ = 0;
  size_t position_ = 0;
};

}  // namespace

std::unique_ptr<OpStream> MakeReplayed(OpKind kind, std::shared_ptr<const std::vector<TraceOp>> trace) {
  return std::make_unique<Replayed>(kind, std::move(trace));
}

}  // namespace iobench
