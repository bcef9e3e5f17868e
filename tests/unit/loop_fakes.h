// Fakes for tests of the loops: a clock that advances only on request, and a stream whose batches take time to
// generate.
#ifndef TESTS_UNIT_LOOP_FAKES_H_
#define TESTS_UNIT_LOOP_FAKES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "worker/pattern/op_stream.h"

namespace iobench {

// Advances only on request; a tick is 1 ns.
struct FakeClock {
  static inline uint64_t now = 0;
  static inline uint64_t read_count = 0;
  static Ticks Now() {
    ++read_count;
    return {now};
  }
};

// Sequential reads of 1 KiB. A batch takes `fill_ns` to generate, which reveals a loop that includes it in a latency.
class Kilobytes final : public OpStream {
 public:
  explicit Kilobytes(uint64_t op_count, uint64_t fill_time_ns = 0)
      : fill_ns(fill_time_ns), op_count_(op_count) {}
  size_t Fill(std::span<Op> batch) override {
    FakeClock::now += fill_ns;
    size_t filled = 0;
    for (; filled < batch.size() && position_ < op_count_; ++filled, ++position_) {
      batch[filled] = {OpKind::kRead, 0, position_ * 1024, 1024};
    }
    return filled;
  }
  void Unread(size_t op_count) override { position_ -= op_count; }
  void Restart(uint64_t pass) override {
    passes.push_back(pass);
    position_ = 0;
  }
  uint64_t ops_per_pass() const override { return op_count_; }
  uint64_t bytes_per_pass() const override { return op_count_ * 1024; }

  uint64_t fill_ns;
  std::vector<uint64_t> passes;  // passes that were started

 private:
  const uint64_t op_count_;
  uint64_t position_ = 0;
};

}  // namespace iobench

#endif  // TESTS_UNIT_LOOP_FAKES_H_
