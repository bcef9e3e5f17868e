// Of which kind the op at a position of a pass is: a type for each way to choose, inlined into the streams' Fill.
#ifndef WORKER_PATTERN_KINDS_H_
#define WORKER_PATTERN_KINDS_H_

#include <algorithm>
#include <cstdint>

#include "common/op.h"
#include "worker/pattern/mix.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

// What orders and kinds of a pass derive from.
inline uint64_t KeyOf(const StreamShape& shape, uint64_t pass) {
  return MixAll(shape.seed, shape.lane, shape.phase, pass);
}

struct OneKind {
  void Restart(uint64_t) {}
  OpKind At(uint64_t) const { return kind; }
  OpKind kind;
};

// An op reads with a probability of so many percent, by a hash of its position: the same run mixes alike.
struct ByPercent {
  ByPercent(uint32_t read_percent, OpKind other_kind)
      : read_below(std::min<uint64_t>(read_percent, 100) * ((uint64_t{1} << 32) / 100 + 1)),
        other(other_kind) {}
  void Restart(uint64_t new_key) { key = Mix(new_key); }
  OpKind At(uint64_t position) const {
    return Mix(key + position * kGoldenRatio64) >> 32 < read_below ? OpKind::kRead : other;
  }
  uint64_t read_below;  // of 2^32; 100 % lies above every 32-bit number
  OpKind other;
  uint64_t key = 0;
};

}  // namespace iobench

#endif  // WORKER_PATTERN_KINDS_H_
