// Selects the kind (read, write …) of the op at a given position of a pass. Each method is a type that is inlined into
// a stream's Fill.
#ifndef WORKER_PATTERN_KINDS_H_
#define WORKER_PATTERN_KINDS_H_

#include <algorithm>
#include <cstdint>

#include "common/model/op.h"
#include "worker/pattern/mix.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

// The key from which the order and the kinds of a pass are derived. It differs between lanes, phases and passes, and is
// the same if a run is repeated with its seed.
inline uint64_t KeyOf(const StreamShape& shape, uint64_t pass) {
  return MixAll(shape.seed, shape.lane, shape.phase, pass);
}

// The key from which follows which record has which rank of a skewed access. It differs between lanes, but not between
// phases and passes: what is hot stays hot.
inline uint64_t HotPlacesKeyOf(const StreamShape& shape) {
  return MixAll(shape.seed, shape.lane, UINT64_MAX, UINT64_MAX);
}

// All ops have the same kind. Every method has Restart, which gets the key of the pass, and At, which gets the position
// in the pass.
struct OneKind {
  void Restart(uint64_t) {}
  OpKind At(uint64_t) const { return kind; }
  OpKind kind;
};

// An op is a read with a probability of read_percent, otherwise of `other`. It depends only on a hash of its position,
// so that repeating a run gives the same mix, and ops that are put back get the same kind again. REQUIRES: Restart
// before At.
struct ByPercent {
  ByPercent(uint32_t read_percent, OpKind other_kind)
      : read_below(std::min<uint64_t>(read_percent, 100) * ((uint64_t{1} << 32) / 100 + 1)),
        other(other_kind) {}
  void Restart(uint64_t new_key) { key = Mix(new_key); }
  OpKind At(uint64_t position) const {
    return Mix(key + position * kGoldenRatio64) >> 32 < read_below ? OpKind::kRead : other;
  }
  uint64_t read_below;  // out of 2^32; 100 % is above every 32-bit number
  OpKind other;
  uint64_t key = 0;
};

}  // namespace iobench

#endif  // WORKER_PATTERN_KINDS_H_
