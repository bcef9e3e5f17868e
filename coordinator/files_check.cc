#include "coordinator/files_check.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/engine.h"
#include "common/operation.h"
#include "common/phase_shape.h"
#include "common/status_util.h"
#include "common/units.h"
#include "coordinator/metadata_plan.h"

namespace iobench {
namespace {

// So that neither offsets in a shared file nor sums of sizes wrap round, wherever they are made.
constexpr uint64_t kMostBytesInAll = uint64_t{1} << 62;

// Files of the user's own are read, and nothing else.
absl::Status CheckExisting(const v1::Plan& plan, const v1::Operation& operation, const OperationSpec& spec) {
  if (spec.is_metadata() || spec.writes() || !spec.reads()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--existing (-+E) only reads files of your own, and ", operation.name(),
        " does not only read: name operations that do, such as -i 1, -i 2, -i 3, -i 5 or -i 10"));
  }
  if (!EngineUsesFiles(operation.engine())) {
    return absl::InvalidArgumentError(
        absl::StrCat("--existing (-+E) reads files, and engine ", operation.engine(), " uses none"));
  }
  if (const auto engine = FindEngine(operation.engine()); engine.ok() && !(*engine)->mounted) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--existing (-+E) reads files that are mounted, and engine ", operation.engine(), " does not"));
  }
  if (plan.files().shared_file() || plan.files().files_per_lane() > 1 || operation.rotate_clients() ||
      operation.first_lane_files() || plan.keep_data() || plan.data().verify()) {
    return absl::InvalidArgumentError(
        "--existing (-+E): each lane reads one file, so that it cannot be shared, split, rotated, kept or "
        "verified");
  }
  for (const std::string& file : plan.files().existing_files()) {
    if (absl::StartsWith(file, "/")) continue;
    return absl::InvalidArgumentError(absl::StrCat("existing file \"", file, "\" is not an absolute path"));
  }
  return absl::OkStatus();
}

// Where lanes take turns record by record, it is the record's size that says whose a place is.
absl::Status CheckOneRecordSize(const v1::Plan& plan) {
  uint64_t record_bytes = 0;
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const v1::Operation& operation = assignment.operation();
      const auto spec = FindOperation(operation.name());
      if (!spec.ok() || (*spec)->is_metadata()) continue;
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
    return absl::InvalidArgumentError("--interleaved is a way to share a file: it needs --shared-file (-+V)");
  }
  if (operation.record_bytes() == 0 || files.bytes_per_lane() % operation.record_bytes() != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--interleaved: the size of ", files.bytes_per_lane(),
                                                   " bytes is not a multiple of the record of ",
                                                   operation.record_bytes(), " bytes"));
  }
  if (spec.call == Call::kVector) {
    return absl::InvalidArgumentError(absl::StrCat("--interleaved: ", operation.name(),
                                                   " moves several records at once, which are not adjacent"));
  }
  if (operation.engine() != "posix" && operation.engine() != "null") {
    return absl::InvalidArgumentError(
        absl::StrCat("--interleaved is for engine posix, not ", operation.engine(), ", in this version"));
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
  if (files.bytes_per_lane() > plan.files().bytes_per_lane()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its files.bytes_per_lane of ", FormatBytes(static_cast<double>(files.bytes_per_lane())),
        " is more than the whole plan's of ",
        FormatBytes(static_cast<double>(plan.files().bytes_per_lane())),
        ", by which free space is checked: make the plan's (-s of a suite) at least as large"));
  }
  if (shape.lanes_per_worker > plan.lanes_per_worker()) {
    return absl::InvalidArgumentError(absl::StrCat("its ", shape.lanes_per_worker,
                                                   " lanes a worker are more than the plan's ",
                                                   plan.lanes_per_worker()));
  }
  if (files.shared_file() && files.files_per_lane() > 1) {
    return absl::InvalidArgumentError(
        "--shared-file is one file for all: it cannot go with --files-per-lane");
  }
  if (files.bytes_per_lane() % files.files_per_lane() != 0) {
    return absl::InvalidArgumentError(absl::StrCat("a size of ", files.bytes_per_lane(),
                                                   " bytes per lane cannot be split evenly over ",
                                                   files.files_per_lane(), " files"));
  }
  if (!phase.files().existing_files().empty()) {
    return absl::InvalidArgumentError("existing files are the plan's to name, not a phase's");
  }
  // Their extents move with the size, so that a sector would be read where no lane of this layout wrote it.
  if (files.shared_file() && plan.data().verify() &&
      (files.bytes_per_lane() != plan.files().bytes_per_lane() ||
       shape.lanes_per_worker != plan.lanes_per_worker() || !plan.files().shared_file() ||
       files.interleaved() != plan.files().interleaved())) {
    return absl::InvalidArgumentError(
        "a shared file that is verified has one size, one number of lanes and one order of their records: say "
        "all of it in the plan's files, not in a phase's");
  }
  for (const v1::Assignment& assignment : phase.assignments()) {
    const v1::Operation& operation = assignment.operation();
    const auto spec = FindOperation(operation.name());
    if (!spec.ok()) return spec.status();
    if (!files.existing_files().empty()) IOBENCH_RETURN_IF_ERROR(CheckExisting(plan, operation, **spec));
    if (files.interleaved()) IOBENCH_RETURN_IF_ERROR(CheckInterleaved(plan, files, operation, **spec));
    if (operation.first_lane_files() && files.shared_file()) {
      return absl::InvalidArgumentError("first_lane_files: with a shared file all lanes use one already");
    }
    if (operation.truncate() && (!operation.mix_by_lane() || (*spec)->pattern == Pattern::kRandomMix)) {
      return absl::InvalidArgumentError(
          "truncate (-+F) is for a sequential mix by lane, whose writers begin anew");
    }
    if (operation.truncate() && (files.shared_file() || operation.first_lane_files())) {
      return absl::InvalidArgumentError(
          "truncate (-+F) empties the file of a lane that writes: others cannot use it");
    }
    if (operation.keep_existing() && !(*spec)->creates_files) {
      return absl::InvalidArgumentError(
          absl::StrCat("keep_existing (-+N) is for operations that make files, and ", operation.name(),
                       " makes none: leave it out"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBytesInAll(const v1::Plan& plan, uint32_t worker_count) {
  const uint64_t tree_bytes = TreeBytesPerLane(plan);
  for (const v1::Phase& phase : plan.phases()) {
    const bool on_files =
        std::any_of(phase.assignments().begin(), phase.assignments().end(),
                    [](const v1::Assignment& each) { return EngineUsesFiles(each.operation().engine()); });
    if (!on_files) continue;
    const PhaseShape shape = ShapeOf(plan, phase);
    const uint64_t lanes = uint64_t{worker_count} * shape.lanes_per_worker;
    const uint64_t lane_bytes = IsMetadata(phase) ? tree_bytes : shape.files.bytes_per_lane();
    if (lanes == 0 || lane_bytes <= kMostBytesInAll / lanes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("phase ", phase.name(), ": ", lanes, lanes == 1 ? " lane of " : " lanes of ",
                     FormatBytes(static_cast<double>(lane_bytes)), " is more than the ",
                     FormatBytes(static_cast<double>(kMostBytesInAll)),
                     " that a run may have in all: use a smaller -s (or --items) or fewer lanes"));
  }
  return absl::OkStatus();
}

}  // namespace iobench
