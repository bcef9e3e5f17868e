#include "worker/pattern/op_stream.h"

#include "absl/strings/str_cat.h"
#include "worker/pattern/permutation.h"
#include "worker/pattern/progression.h"
#include "worker/pattern/shuffled.h"

namespace iobench {
namespace {

// read(2) and write(2) transfer at most this much per call, so a larger record would always look like a short transfer.
constexpr uint32_t kMaxRecordBytes = 0x7ffff000;

absl::Status Check(const OperationSpec& operation, const StreamShape& shape) {
  if (shape.object_count == 0) return absl::InvalidArgumentError("a lane needs at least one file");
  if (shape.object_bytes == 0) return absl::InvalidArgumentError("the size of a file is 0");
  if (shape.op_bytes == 0) return absl::InvalidArgumentError("the record size is 0");
  if (shape.op_bytes > kMaxRecordBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a record of ", shape.op_bytes,
                                                   " bytes is more than the max of ", kMaxRecordBytes,
                                                   " that one system call transfers"));
  }
  if (shape.op_bytes > shape.object_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("a record of ", shape.op_bytes,
                                                   " bytes is larger than a file of ", shape.object_bytes));
  }
  const uint64_t records_per_object = (shape.object_bytes - 1) / shape.op_bytes + 1;
  if (records_per_object > Permutation::kMaxCount / shape.object_count) {
    return absl::InvalidArgumentError("more than 2^62 records per lane");
  }
  if (operation.pattern == Pattern::kStride && shape.stride_records == 0) {
    return absl::InvalidArgumentError("a stride of 0 records");
  }
  if (operation.mixes() && shape.read_percent > 100) {
    return absl::InvalidArgumentError(
        absl::StrCat("a mix of ", shape.read_percent, " % reads is not between 0 and 100"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<OpStream>> MakeOpStream(const OperationSpec& operation,
                                                       const StreamShape& shape) {
  if (absl::Status status = Check(operation, shape); !status.ok()) return status;
  OpKind kind = operation.kind();
  bool mixes = operation.mixes();
  if (mixes && shape.mix != LaneMix::kPerOp) {
    if (shape.mix == LaneMix::kReader) kind = OpKind::kRead;
    mixes = false;
  }
  switch (operation.pattern) {
    case Pattern::kRandom:
    case Pattern::kRandomMix:
      return mixes ? MakeMixedShuffled(kind, shape) : MakeShuffled(kind, shape);
    case Pattern::kSequentialMix:
      return mixes ? MakeMixedSequential(kind, shape) : MakeProgression(Pattern::kSequential, kind, shape);
    default:
      return MakeProgression(operation.pattern, kind, shape);
  }
}

}  // namespace iobench
