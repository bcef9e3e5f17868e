#include "worker/data/written_records.h"

#include <algorithm>
#include <array>
#include <span>

namespace iobench {

std::shared_ptr<const WrittenRecords> WrittenRecords::Of(OpStream& stream, const StreamShape& shape,
                                                         uint64_t pass, uint64_t op_count,
                                                         const Interleave& interleave) {
  const uint64_t per_file = (shape.object_bytes - 1) / shape.op_bytes + 1;
  if (per_file > kMaxRecords / shape.object_count) return nullptr;
  std::shared_ptr<WrittenRecords> written(
      new WrittenRecords(per_file, shape.op_bytes, interleave, per_file * shape.object_count));
  stream.Restart(pass);
  std::array<Op, 64> batch;
  while (op_count > 0) {
    const size_t count = stream.Fill(std::span(batch).first(std::min<uint64_t>(batch.size(), op_count)));
    if (count == 0) break;
    op_count -= count;
    for (const Op& op : std::span(batch).first(count)) {
      const uint64_t index = op.object * per_file + interleave.InLane(op.offset) / shape.op_bytes;
      if (op.kind != OpKind::kRead && index < written->bits_.size()) written->bits_[index] = true;
    }
  }
  return written;
}

}  // namespace iobench
