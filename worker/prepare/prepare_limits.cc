#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/model/data_content.h"
#include "common/model/phase_check.h"
#include "common/model/phase_shape.h"
#include "common/process/usable_memory.h"
#include "common/text/units.h"
#include "worker/data/aligned_buffer.h"
#include "worker/prepare/prepare_check.h"
#include "worker/prepare/trace_file.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

constexpr uint64_t kFileBytes = 160;  // an entry of the lane's list, with its name
constexpr uint64_t kLoggedOpBytes = 16;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kPrefillBytes = 1_MiB;
constexpr uint64_t kVectorRecords = kMaxRecordsPerVector;

constexpr uint32_t kMaxFilesPerLane = 1'000'000;
constexpr int kMaxTargets = 100'000;
constexpr int kMaxExistingFiles = 1'000'000;
constexpr size_t kMaxPathBytes = 4096;  // PATH_MAX
constexpr size_t kMaxNameBytes = 255;   // NAME_MAX
constexpr uint32_t kMaxTreeNumber = 1'000'000;

uint64_t Sum(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
uint64_t Product(uint64_t a, uint64_t b) {
  return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

uint64_t LongestOpBytes(const v1::Prepare& prepare, const OperationSpec& spec) {
  const uint64_t record_bytes = prepare.operation().record_bytes();
  if (spec.is_metadata()) return std::min<uint64_t>(1_MiB, prepare.operation().tree().file_bytes());
  if (spec.call != Call::kVector) return record_bytes;
  return std::max(record_bytes, std::min({Product(record_bytes, kVectorRecords), kMaxVectorBytes,
                                          prepare.files().bytes_per_lane()}));
}

uint64_t LongestOpBytes(std::span<const TraceOp> replayed) {
  uint64_t longest_bytes = 0;
  for (const TraceOp& op : replayed) longest_bytes = std::max<uint64_t>(longest_bytes, op.length);
  return longest_bytes;
}

// Of a lane that uses files.
uint64_t BuffersOfLane(const v1::Prepare& prepare, const OperationSpec& spec, const EngineSpec& engine,
                       uint64_t op_bytes) {
  const v1::Operation& operation = prepare.operation();
  const uint64_t depth = std::max(1u, operation.depth());
  uint64_t bytes = operation.buffer_bytes() == 0
                       ? 0
                       : AlignedBuffer::FootprintForOps(std::max<uint64_t>(operation.buffer_bytes(), op_bytes));
  if (spec.reads()) bytes = Sum(bytes, AlignedBuffer::FootprintForOps(op_bytes));
  if (spec.writes() || spec.needs_data) {
    // Verifiable sectors and shared records are generated in a buffer of their own.
    const bool makes_records =
        !spec.is_metadata() && (HasSectors(prepare.data()) || prepare.data().dedupe_percent() > 0);
    const uint64_t each_bytes = AlignedBuffer::FootprintForOps(std::max(op_bytes, kPrefillBytes));
    bytes = Sum(bytes, Product(makes_records ? 2 : 1, each_bytes));
  }
  if (engine.Can(EngineFeature::kQueue)) {
    bytes = Sum(bytes, Product(AlignedBuffer::FootprintForOps(Product(depth, op_bytes)), operation.copy() ? 2 : 1));
  }
  if (spec.call == Call::kStdio || spec.call == Call::kCharacter) {
    // Each file is a stream with a buffer of its own.
    const uint64_t stream_bytes = (operation.record_bytes() + kPageBytes - 1) / kPageBytes * kPageBytes;
    bytes = Sum(bytes, Product(std::max(1u, prepare.files().files_per_lane()), stream_bytes));
  }
  return bytes;
}

absl::Status TooMany(const std::string& what, uint64_t count, uint64_t limit) {
  return absl::InvalidArgumentError(absl::StrCat(what, " ", count, ", and a worker accepts at most ", limit));
}

absl::Status CheckLaneCounts(const v1::LanePlan& lane) {
  const std::string name = absl::StrCat("lane ", lane.lane());
  const v1::TreeState& tree = lane.tree();
  if (tree.items() > kMaxItemsPerLane)
    return TooMany(name + ": items of its tree:", tree.items(), kMaxItemsPerLane);
  if (tree.number() > kMaxTreeNumber)
    return TooMany(name + ": number of its tree:", tree.number(), kMaxTreeNumber);
  if (tree.file_bytes() > kLargestTreeFileBytes) {
    return TooMany(name + ": bytes of a file in its tree:", tree.file_bytes(), kLargestTreeFileBytes);
  }
  if (tree.xattr_bytes() > kMaxXattrBytes) {
    return TooMany(name + ": bytes of an attribute in its tree:", tree.xattr_bytes(), kMaxXattrBytes);
  }
  return absl::OkStatus();
}

absl::Status CheckPath(const std::string& what, const std::string& path) {
  if (path.size() <= kMaxPathBytes && path.find('\0') == std::string::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " of ", path.size(), " bytes is no path: at most ",
                                                 kMaxPathBytes, ", without zero bytes"));
}

}  // namespace

PhaseNeeds NeedsOf(const v1::Prepare& prepare, const OperationSpec& spec, const EngineSpec& engine,
                   std::span<const TraceOp> replayed) {
  const v1::Operation& operation = prepare.operation();
  const auto lanes = static_cast<uint64_t>(prepare.lanes_size());
  PhaseNeeds needs;
  uint64_t lane_bytes = Sum(kLaneMemoryBytes, operation.between().processor_cache_bytes());
  lane_bytes = Sum(lane_bytes, Product(std::max(1u, prepare.files().files_per_lane()), kFileBytes));
  if (engine.uses_files) {
    const uint64_t op_bytes = std::max(LongestOpBytes(prepare, spec), LongestOpBytes(replayed));
    lane_bytes = Sum(lane_bytes, BuffersOfLane(prepare, spec, engine, op_bytes));
  }
  needs.memory_bytes = Sum(Product(lanes, lane_bytes), replayed.size_bytes());
  const bool logs = operation.trace().offset_latency() || !operation.trace().write_file().empty();
  if (logs && operation.record_bytes() > 0) {
    const uint64_t ops =
        prepare.stop().time_s() > 0
            ? kMaxTraceOps
            : Product(lanes, prepare.files().bytes_per_lane() / std::max<uint64_t>(1, SmallestRecordBytes(operation)) + 1);
    needs.memory_bytes =
        Sum(needs.memory_bytes, Product(std::min<uint64_t>(ops, kMaxTraceOps), kLoggedOpBytes));
  }
  if (!spec.is_metadata()) needs.data_bytes = Product(lanes, prepare.files().bytes_per_lane());
  for (const v1::LanePlan& lane : prepare.lanes()) {
    const uint64_t end = Sum(lane.extent_offset_bytes(), Product(prepare.files().bytes_per_lane(),
                                                                 std::max(1u, lane.interleave_count())));
    needs.data_bytes = std::max(needs.data_bytes, end);
  }
  return needs;
}

uint64_t MemoryLimitBytes() {
  const uint64_t max_bytes = RightsOfThisWorker().max_memory_bytes;
  return max_bytes > 0 ? max_bytes : AvailableMemoryBytes();
}

absl::Status CheckNeeds(const PhaseNeeds& needs, uint64_t memory_limit_bytes) {
  if (needs.data_bytes > kLargestDataBytes) {
    return absl::ResourceExhaustedError(
        "the files of this worker's lanes have more than 4 EiB in all: use a smaller -s, or fewer lanes (-t)");
  }
  if (memory_limit_bytes == 0 || needs.memory_bytes <= memory_limit_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the phase needs up to ", FormatBytes(static_cast<double>(needs.memory_bytes)),
      " of memory for its lanes, and this worker takes at most ",
      FormatBytes(static_cast<double>(memory_limit_bytes)),
      ": use fewer lanes (-t), a smaller -r or a smaller --depth; if the worker may take more, start it with "
      "--max-memory SIZE"));
}

absl::Status CheckCounts(const v1::Prepare& prepare, uint32_t max_lanes) {
  if (prepare.lanes().empty()) return absl::InvalidArgumentError("a phase without lanes");
  if (static_cast<uint32_t>(prepare.lanes_size()) > max_lanes) {
    return absl::InvalidArgumentError(
        absl::StrCat(prepare.lanes_size(), " lanes per worker are more than the max of ", max_lanes,
                     ": use more workers, or start the worker with a larger --max-lanes"));
  }
  const v1::FileLayout& files = prepare.files();
  if (files.files_per_lane() > kMaxFilesPerLane) {
    return TooMany("files per lane:", files.files_per_lane(), kMaxFilesPerLane);
  }
  if (prepare.targets_size() > kMaxTargets) {
    return TooMany("targets:", static_cast<uint64_t>(prepare.targets_size()), kMaxTargets);
  }
  if (files.existing_files_size() > kMaxExistingFiles) {
    return TooMany("existing files:", static_cast<uint64_t>(files.existing_files_size()), kMaxExistingFiles);
  }
  for (const v1::Target& target : prepare.targets()) {
    if (absl::Status status = CheckPath("a target", target.path()); !status.ok()) return status;
  }
  for (const std::string& file : files.existing_files()) {
    if (absl::Status status = CheckPath("an existing file", file); !status.ok()) return status;
    if (!file.starts_with('/')) {
      return absl::InvalidArgumentError(absl::StrCat("existing file \"", file, "\" is not an absolute path"));
    }
  }
  const v1::Trace& trace = prepare.operation().trace();
  for (const std::string* const file : {&trace.write_file(), &trace.read_file()}) {
    if (absl::Status status = CheckPath("a trace", *file); !status.ok()) return status;
  }
  if (prepare.operation().tree().find().name().size() > kMaxNameBytes) {
    return TooMany("bytes of the name to find:", prepare.operation().tree().find().name().size(),
                   kMaxNameBytes);
  }
  for (const v1::LanePlan& lane : prepare.lanes()) {
    if (absl::Status status = CheckLaneCounts(lane); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace iobench
