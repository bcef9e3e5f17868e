#include "worker/prepare/prepare_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/model/data_content.h"
#include "common/model/phase_check.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

constexpr double kLongestRestSeconds = 1e7;

absl::Status Refuse(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

absl::Status CheckLane(const v1::Prepare& prepare, const OperationSpec& spec, const v1::LanePlan& lane) {
  if (!v1::LaneMix_IsValid(lane.mix()) || (lane.mix() != v1::LANE_MIX_PER_OP && !spec.mixes_by_lane())) {
    return Refuse(absl::StrCat("lane ", lane.lane(), " must only read or only write, which lanes of ",
                               std::string(spec.name), " cannot"));
  }
  if (lane.extent_offset_bytes() > kLargestDataBytes) return Refuse("an extent beyond 4 EiB");
  if (prepare.files().interleaved() &&
      (lane.interleave_count() == 0 || lane.interleave_index() >= lane.interleave_count())) {
    return Refuse(absl::StrCat("lane ", lane.lane(), " has interleave index ", lane.interleave_index(),
                               " of ", lane.interleave_count()));
  }
  return absl::OkStatus();
}

absl::Status CheckRecords(const v1::Prepare& prepare) {
  const v1::Operation& operation = prepare.operation();
  const v1::FileLayout& files = prepare.files();
  if (operation.record_bytes() > kLargestRecordBytes) {
    return Refuse(absl::StrCat("a record of ", operation.record_bytes(), " bytes is too large"));
  }
  if (files.bytes_per_lane() > kLargestDataBytes) return Refuse("the size per lane is over 4 EiB");
  if (files.shared_file() && files.files_per_lane() > 1) {
    return Refuse("a shared file is one file for all lanes: set one file per lane");
  }
  if (files.interleaved() && !files.shared_file()) {
    return Refuse("interleaved records need a shared file");
  }
  if (!operation.records().empty() && (files.interleaved() || prepare.data().dedupe_percent() > 0)) {
    return Refuse("interleaved and deduplicated records have one size");
  }
  if (files.has_block_bytes() && files.interleaved() &&
      (files.block_bytes() == 0 || operation.record_bytes() == 0 ||
       files.block_bytes() % operation.record_bytes() != 0 || files.bytes_per_lane() % files.block_bytes() != 0)) {
    return Refuse(absl::StrCat("a block of ", files.block_bytes(), " bytes is not a number of records, or not a part of "
                               "the size per lane"));
  }
  if (operation.buffer_bytes() > 0 && operation.buffer_bytes() < operation.record_bytes()) {
    return Refuse("buffers (buffer_bytes) are smaller than a record");
  }
  if (HasSectors(prepare.data())) {
    const uint64_t longest_unit_bytes = std::max(kSectorBytes, operation.record_bytes());
    if (prepare.stamp().unit_bytes() == 0 || prepare.stamp().unit_bytes() > longest_unit_bytes) {
      return Refuse("data to verify, but no sector layout");
    }
  }
  return absl::OkStatus();
}

// Existing files are only read, whatever the coordinator's own check of its plan has let through.
absl::Status CheckExistingFiles(const v1::Prepare& prepare, const OperationSpec& spec) {
  const v1::Operation& operation = prepare.operation();
  const v1::FileLayout& files = prepare.files();
  if (files.existing_files().empty()) return absl::OkStatus();
  if (spec.writes() || spec.creates_files || spec.is_metadata() || operation.truncate() ||
      operation.preallocate()) {
    return Refuse(absl::StrCat("existing files (files.existing_files) are only read, and ",
                               std::string(spec.name), " does more"));
  }
  if (files.shared_file() || files.files_per_lane() > 1) {
    return Refuse("existing files (files.existing_files) are not shared, and each lane reads one");
  }
  for (const v1::Target& target : prepare.targets()) {
    if (IsNfsUrl(target.path()))
      return Refuse("existing files (files.existing_files) are read on mounts only");
  }
  if (HasSectors(prepare.data()))
    return Refuse("the contents of existing files are not known, so not verified");
  if (ChecksPattern(prepare.data()) && !RightsOfThisWorker().may_compare_existing_files) {
    return absl::PermissionDeniedError(
        "this worker does not compare existing files with a pattern (-V), which would tell a coordinator what they "
        "contain: leave -V out");
  }
  return absl::OkStatus();
}

absl::Status CheckArrivalShare(const v1::Prepare& prepare) {
  constexpr double kMaxShare = 1e6;
  if (!prepare.operation().has_arrivals()) return absl::OkStatus();
  const double share = prepare.arrival_share();
  if (!(share > 0 && share <= kMaxShare && ArrivalRateOf(prepare).begin_per_s <= 1e9)) {
    return Refuse(absl::StrCat("this worker's share of the rate (arrival_share) is ", share));
  }
  if (!(prepare.first_arrival_gap() >= 0 && prepare.first_arrival_gap() <= 1)) {
    return Refuse(
        absl::StrCat("first_arrival_gap is ", prepare.first_arrival_gap(), ", and not from 0 to 1"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPrepare(const v1::Prepare& prepare, const OperationSpec& spec, const EngineSpec& engine) {
  const v1::Operation& operation = prepare.operation();
  IOBENCH_RETURN_IF_ERROR(CheckCounts(prepare, RightsOfThisWorker().max_lanes));
  IOBENCH_RETURN_IF_ERROR(CheckExistingFiles(prepare, spec));
  IOBENCH_RETURN_IF_ERROR(CheckStop(prepare.stop()));
  IOBENCH_RETURN_IF_ERROR(CheckBetween(operation.between()));
  IOBENCH_RETURN_IF_ERROR(CheckArrivals(operation, prepare.stop()));
  IOBENCH_RETURN_IF_ERROR(CheckArrivalShare(prepare));
  IOBENCH_RETURN_IF_ERROR(CheckSimulated(operation));
  IOBENCH_RETURN_IF_ERROR(CheckMix(spec, operation));
  IOBENCH_RETURN_IF_ERROR(CheckRecordShares(spec, operation));
  IOBENCH_RETURN_IF_ERROR(CheckBurstRecords(
      spec, operation, prepare.files().bytes_per_lane() / std::max(1u, prepare.files().files_per_lane())));
  IOBENCH_RETURN_IF_ERROR(CheckMpiIo(spec, operation, prepare.files(), prepare.region(), prepare.stop(),
                                     static_cast<uint32_t>(prepare.lanes_size())));
  IOBENCH_RETURN_IF_ERROR(CheckDepth(operation.depth()));
  IOBENCH_RETURN_IF_ERROR(CheckPercents(prepare.data()));
  for (const v1::Step& step : prepare.steps()) {
    if (!step.has_drop_caches() && !step.has_rest()) return Refuse("this worker does not know this step");
    if (!(step.rest().seconds() >= 0) || step.rest().seconds() > kLongestRestSeconds) {
      return Refuse(absl::StrCat("a rest of ", step.rest().seconds(), " s"));
    }
  }
  IOBENCH_RETURN_IF_ERROR(spec.is_metadata() ? CheckTree(operation.tree()) : CheckRecords(prepare));
  for (const v1::LanePlan& lane : prepare.lanes()) {
    if (engine.uses_files && lane.target() >= static_cast<uint32_t>(prepare.targets_size())) {
      return Refuse(
          absl::StrCat("lane ", lane.lane(), " has target ", lane.target(), " of ", prepare.targets_size()));
    }
    IOBENCH_RETURN_IF_ERROR(CheckLane(prepare, spec, lane));
  }
  return CheckNeeds(NeedsOf(prepare, spec, engine), MemoryLimitBytes());
}

}  // namespace iobench
