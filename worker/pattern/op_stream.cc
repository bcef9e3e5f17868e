#include "worker/pattern/op_stream.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "worker/pattern/bursts.h"
#include "worker/pattern/permutation.h"
#include "worker/pattern/progression.h"
#include "worker/pattern/several_sizes.h"
#include "worker/pattern/shuffled.h"
#include "worker/pattern/skewed.h"

namespace iobench {
namespace {

// read(2) and write(2) transfer at most this much per call, so a larger record would always look like a short transfer.
constexpr uint32_t kMaxRecordBytes = 0x7ffff000;

absl::Status CheckSizes(const OperationSpec& operation, const StreamShape& shape) {
  if (shape.records.empty()) return absl::OkStatus();
  if (!operation.can_have_sizes()) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(operation.name), " cannot have several record sizes here"));
  }
  const bool fit = std::all_of(shape.records.begin(), shape.records.end(), [&shape](const RecordShare& share) {
    return share.record_bytes > 0 && share.record_bytes <= shape.op_bytes && share.percent > 0;
  });
  if (fit && shape.records.size() <= kMaxRecordSizes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("record sizes and shares that are 0 or larger than the largest, or over ", kMaxRecordSizes,
                   " of them"));
}

absl::Status CheckBursts(const OperationSpec& operation, const StreamShape& shape) {
  if (shape.burst_records == 1) return absl::OkStatus();
  if (!operation.is_random() || operation.creates_files || !shape.records.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(operation.name), " cannot use several records in a row from each place here"));
  }
  const uint64_t most = std::min<uint64_t>(shape.object_bytes, kMaxRecordBytes);
  if (shape.burst_records > 0 && shape.burst_records <= most / shape.op_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(shape.burst_records, " records of ", shape.op_bytes,
                                                 " bytes in a row are none, or larger than a file or than ",
                                                 kMaxRecordBytes, " bytes"));
}

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
  if (shape.access.kind != Access::Kind::kEachOnce && operation.creates_files) {
    return absl::InvalidArgumentError(absl::StrCat(std::string(operation.name),
                                                   " writes new files, each record once: leave out --access"));
  }
  if (absl::Status status = CheckSizes(operation, shape); !status.ok()) return status;
  if (absl::Status status = CheckBursts(operation, shape); !status.ok()) return status;
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
  if (!shape.records.empty()) {
    if (operation.is_sequential())
      return mixes ? MakeMixedSizedSequence(kind, shape) : MakeSizedSequence(kind, shape);
    return mixes ? MakeMixedSizedRandom(kind, shape) : MakeSizedRandom(kind, shape);
  }
  if (shape.burst_records > 1) return mixes ? MakeMixedBursts(kind, shape) : MakeBursts(kind, shape);
  switch (operation.pattern) {
    case Pattern::kRandom:
    case Pattern::kRandomMix:
      if (shape.access.kind != Access::Kind::kEachOnce)
        return mixes ? MakeMixedSkewed(kind, shape) : MakeSkewed(kind, shape);
      return mixes ? MakeMixedShuffled(kind, shape) : MakeShuffled(kind, shape);
    case Pattern::kSequentialMix:
      return mixes ? MakeMixedSequential(kind, shape) : MakeProgression(Pattern::kSequential, kind, shape);
    default:
      return MakeProgression(operation.pattern, kind, shape);
  }
}

}  // namespace iobench
