#include "coordinator/plan/check/files_check.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/model/operation.h"
#include "common/model/phase_files.h"
#include "common/model/phase_shape.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/plan/check/metadata_plan.h"

namespace iobench {
namespace {

// Ensures that neither offsets in a shared file nor sums of sizes overflow anywhere.
constexpr uint64_t kMaxBytesInAll = uint64_t{1} << 62;

// Checks that a user's own files are only read.
absl::Status CheckExisting(const v1::Plan& plan, const v1::Operation& operation, const OperationSpec& spec) {
  if (spec.is_metadata() || spec.writes() || !spec.reads()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--existing (-+E) needs read-only operations, and ", operation.name(),
                     " is not read-only: use operations such as -i 1, -i 2, -i 3, -i 5 or -i 10"));
  }
  if (!UsesFiles(operation)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--existing (-+E) reads files, and engine ", operation.engine(), " uses none"));
  }
  if (IsUnmounted(operation)) {
    return absl::InvalidArgumentError(absl::StrCat("--existing (-+E) reads files on a mount, and engine ",
                                                   operation.engine(), " does not"));
  }
  if (plan.files().shared_file() || plan.files().files_per_lane() > 1 || operation.rotate_clients() ||
      operation.first_lane_files() || plan.keep_data() || plan.data().verify()) {
    return absl::InvalidArgumentError(
        "--existing (-+E): each lane reads one file, so files cannot be shared, split, rotated, kept or verified");
  }
  for (const std::string& file : plan.files().existing_files()) {
    if (absl::StartsWith(file, "/")) continue;
    return absl::InvalidArgumentError(absl::StrCat("existing file \"", file, "\" is not an absolute path"));
  }
  return absl::OkStatus();
}

// If the lanes' records alternate, the record size determines which lane a place in the file belongs to.
absl::Status CheckOneRecordSize(const v1::Plan& plan) {
  uint64_t record_bytes = 0;
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const v1::Operation& operation = assignment.operation();
      const OperationSpec* const spec = SpecOf(operation);
      if (spec == nullptr || spec->is_metadata()) continue;
      if (record_bytes == 0) record_bytes = operation.record_bytes();
      if (record_bytes == operation.record_bytes()) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "--interleaved with --verify (-+d): with records of ", record_bytes, " bytes and of ",
          operation.record_bytes(), " a lane would read where another one wrote: use one record size (-r)"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckInterleaved(const v1::Plan& plan, const v1::FileLayout& files,
                              const v1::Operation& operation, const OperationSpec& spec) {
  if (spec.is_metadata()) return absl::OkStatus();
  if (!files.shared_file()) {
    return absl::InvalidArgumentError(
        "--interleaved only applies to a shared file: it needs --shared-file (-+V)");
  }
  if (operation.record_bytes() == 0 || files.bytes_per_lane() % operation.record_bytes() != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--interleaved: the size of ", files.bytes_per_lane(),
                                                   " bytes is not a multiple of the record of ",
                                                   operation.record_bytes(), " bytes"));
  }
  if (!operation.records().empty()) {
    return absl::InvalidArgumentError(
        "--interleaved: the lanes' records alternate, so they have one size: give -r without shares");
  }
  if (const uint64_t block_bytes = files.block_bytes(); files.has_block_bytes()) {
    if (block_bytes % operation.record_bytes() != 0) {
      return absl::InvalidArgumentError(absl::StrCat("--block (block_bytes) of ", block_bytes,
                                                     " bytes is not a multiple of the record of ",
                                                     operation.record_bytes(), " bytes (-r)"));
    }
    if (files.bytes_per_lane() % block_bytes != 0) {
      return absl::InvalidArgumentError(absl::StrCat("--block (block_bytes): the size of ", files.bytes_per_lane(),
                                                     " bytes per lane (-s) is not a multiple of blocks of ", block_bytes,
                                                     " bytes"));
    }
  }
  if (spec.call == Call::kVector) {
    return absl::InvalidArgumentError(absl::StrCat("--interleaved: ", operation.name(),
                                                   " moves several records at once, which are not adjacent"));
  }
  if (const EngineSpec* const engine = EngineOf(operation);
      engine == nullptr || !engine->Can(EngineFeature::kInterleaved)) {
    return absl::InvalidArgumentError(absl::StrCat("--interleaved only works with engine ",
                                                   EnginesWith(EngineFeature::kInterleaved), ", not with ",
                                                   operation.engine(), ", in this version"));
  }
  if (operation.file_lock()) {
    return absl::InvalidArgumentError(
        "--interleaved lanes would lock each other's records with -W (file_lock): use -+l (record_locks)");
  }
  return plan.data().verify() ? CheckOneRecordSize(plan) : absl::OkStatus();
}

}  // namespace

absl::Status CheckFiles(const v1::Plan& plan, const v1::Phase& phase) {
  const PhaseShape shape = ShapeOf(plan, phase);
  const v1::FileLayout& files = shape.files;
  if (files.bytes_per_lane() > plan.files().bytes_per_lane() && !GrowsFiles(plan, phase)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its files.bytes_per_lane of ", FormatBytes(static_cast<double>(files.bytes_per_lane())),
        " is larger than the plan's of ", FormatBytes(static_cast<double>(plan.files().bytes_per_lane())),
        ", which the free-space check uses: make the plan's value (-s of a suite) at least as large (only phases that write "
        "new files for a time may let them grow beyond it)"));
  }
  if (shape.lanes_per_worker > plan.lanes_per_worker()) {
    return absl::InvalidArgumentError(absl::StrCat("its ", shape.lanes_per_worker,
                                                   " lanes per worker are more than the plan's ",
                                                   plan.lanes_per_worker()));
  }
  if (files.shared_file() && files.files_per_lane() > 1) {
    return absl::InvalidArgumentError(
        "--shared-file uses one file for all lanes: it cannot be combined with --files-per-lane");
  }
  if (files.has_block_bytes() && !files.interleaved()) {
    return absl::InvalidArgumentError(
        "--block (block_bytes) is the size of a lane's turns in an interleaved file: it needs --interleaved");
  }
  if (files.bytes_per_lane() % files.files_per_lane() != 0) {
    return absl::InvalidArgumentError(absl::StrCat("a size of ", files.bytes_per_lane(),
                                                   " bytes per lane cannot be split evenly over ",
                                                   files.files_per_lane(), " files"));
  }
  if (!phase.files().existing_files().empty()) {
    return absl::InvalidArgumentError("existing files belong in the plan's files, not in a phase's");
  }
  // Extents move with the size, so a sector would be read where no lane of this layout wrote it.
  if (files.shared_file() && plan.data().verify() &&
      (files.bytes_per_lane() != plan.files().bytes_per_lane() ||
       shape.lanes_per_worker != plan.lanes_per_worker() || !plan.files().shared_file() ||
       files.interleaved() != plan.files().interleaved() || files.block_bytes() != plan.files().block_bytes())) {
    return absl::InvalidArgumentError(
        "a verified shared file has one size, one number of lanes and one record order: set them in the plan's "
        "files, not in a phase's");
  }
  for (const v1::Assignment& assignment : phase.assignments()) {
    const v1::Operation& operation = assignment.operation();
    const auto found = FindOperation(operation.name());
    if (!found.ok()) return found.status();
    const OperationSpec& spec = **found;
    if (!files.existing_files().empty()) IOBENCH_RETURN_IF_ERROR(CheckExisting(plan, operation, spec));
    if (files.interleaved()) IOBENCH_RETURN_IF_ERROR(CheckInterleaved(plan, files, operation, spec));
    if (operation.first_lane_files() && files.shared_file()) {
      return absl::InvalidArgumentError(
          "first_lane_files: with a shared file all lanes already use the same one");
    }
    if (operation.truncate() && (!operation.mix_by_lane() || spec.pattern == Pattern::kRandomMix)) {
      return absl::InvalidArgumentError(
          "truncate (-+F) only applies to a sequential mix by lane, whose writers truncate their files");
    }
    if (operation.truncate() && (files.shared_file() || operation.first_lane_files())) {
      return absl::InvalidArgumentError(
          "truncate (-+F) empties the files of writing lanes: other lanes cannot use them");
    }
    if (operation.keep_existing() && !spec.creates_files) {
      return absl::InvalidArgumentError(
          absl::StrCat("keep_existing (-+N) only applies to operations that create files, and ",
                       operation.name(), " creates none: leave it out"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBytesInAll(const v1::Plan& plan, uint32_t worker_count) {
  const uint64_t tree_bytes = TreeBytesPerLane(plan);
  for (const v1::Phase& phase : plan.phases()) {
    const bool on_files = std::any_of(phase.assignments().begin(), phase.assignments().end(),
                                      [](const v1::Assignment& each) { return UsesFiles(each.operation()); });
    if (!on_files) continue;
    const PhaseShape shape = ShapeOf(plan, phase);
    const uint64_t lanes = uint64_t{worker_count} * shape.lanes_per_worker;
    const uint64_t lane_bytes = IsMetadata(phase) ? tree_bytes : shape.files.bytes_per_lane();
    if (lanes == 0 || lane_bytes <= kMaxBytesInAll / lanes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("phase ", phase.name(), ": ", lanes, lanes == 1 ? " lane of " : " lanes of ",
                     FormatBytes(static_cast<double>(lane_bytes)), " is more than the ",
                     FormatBytes(static_cast<double>(kMaxBytesInAll)),
                     " allowed in a run: use a smaller -s (or --items) or fewer lanes"));
  }
  return absl::OkStatus();
}

}  // namespace iobench
