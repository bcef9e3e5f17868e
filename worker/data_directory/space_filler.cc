#include "worker/data_directory/space_filler.h"

#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/model/plan_traits.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "worker/data/payload.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/data_names.h"
#include "worker/data_directory/data_ownership.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

constexpr uint32_t kFillRecordBytes = 1_MiB;
// Written data is flushed this often, so that statfs counts it, the client's memory does not fill up with it, and an
// interrupted run does not wait long.
constexpr uint64_t kFlushBytes = 16_MiB;
// Removing one file then takes seconds at most, and no file system refuses it for its size.
constexpr uint64_t kMaxFillFileBytes = 16_GiB;
// The data of these files differ from those of every phase.
constexpr uint32_t kNoPhase = UINT32_MAX;

uint64_t MaxFileBytes() {
  rlimit file_size{};
  if (::getrlimit(RLIMIT_FSIZE, &file_size) != 0 || file_size.rlim_cur == RLIM_INFINITY) {
    return kMaxFillFileBytes;
  }
  return std::clamp<uint64_t>(file_size.rlim_cur, 4_KiB, kMaxFillFileBytes);
}

// The part of `bytes` that the lane with this index writes.
uint64_t PartOf(uint64_t bytes, uint32_t index, uint32_t count) {
  return bytes / count + (index < bytes % count ? 1 : 0);
}

// Each lane takes a thread and a MiB of memory. Without the run in the claim, any data directory would be accepted.
absl::Status CheckFillRequest(const v1::FillSpace& request) {
  const int targets = request.targets_size();
  if (targets != request.claims_size() || targets != request.bytes_size() || request.lane_count() == 0) {
    return absl::InvalidArgumentError(
        "FillSpace without lanes, or without a claim and a size for each target");
  }
  const uint32_t max_lanes = RightsOfThisWorker().max_lanes;
  if (request.lane_count() > max_lanes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "FillSpace with ", request.lane_count(), " lanes: this worker allows ", max_lanes, " (--max-lanes)"));
  }
  const bool all_claimed = std::all_of(request.claims().begin(), request.claims().end(),
                                       [](const v1::DataClaim& claim) { return claim.run_id() != 0; });
  return all_claimed ? absl::OkStatus()
                     : absl::InvalidArgumentError("FillSpace without the run that owns the data");
}

// Creates the lane's next file. An earlier request of the same run may have left some.
absl::StatusOr<std::unique_ptr<File>> CreateNext(const Directory& data, uint32_t lane, uint32_t& file_index) {
  for (;; ++file_index) {
    auto file = data.OpenFile(FillFileName(lane, file_index), OpenFor::kWritingNew);
    if (!absl::IsAlreadyExists(file.status())) return file;
  }
}

// A run that filled kept data before may have lost its coordinator, and this mark would count among those of this run.
absl::Status RemoveMark(const std::string& path, const v1::DataClaim& claim, uint32_t lane) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenClaimedDirectory(path, claim));
  const absl::Status removed = data->Remove(LeftMarkName(lane));
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

absl::Status Flush(File& file) {
  IOBENCH_RETURN_IF_ERROR(file.Sync());
  return file.ForgetPages();
}

}  // namespace

struct SpaceFiller::LaneShare {
  uint32_t index = 0;           // of the lane in the request
  std::vector<uint64_t> bytes;  // by target: written
  absl::Status status;
};

absl::StatusOr<v1::SpaceFilled> SpaceFiller::Fill(const v1::FillSpace& request) {
  IOBENCH_RETURN_IF_ERROR(CheckFillRequest(request));
  const int64_t begin_ns = MonotonicNowNs();
  for (int i = 0; i < request.targets_size(); ++i) {
    if (request.claims(i).only_fill()) {
      IOBENCH_RETURN_IF_ERROR(
          RemoveMark(request.targets(i).path(), request.claims(i), request.first_lane()));
    }
    if (request.bytes(i) == 0) continue;
    IOBENCH_RETURN_IF_ERROR(
        AccountForFillFiles(request.targets(i).path(), request.claims(i), request.run_lane_count()));
  }
  std::vector<LaneShare> shares(request.lane_count());
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < request.lane_count(); ++i) {
    shares[i].index = i;
    shares[i].bytes.assign(static_cast<size_t>(request.targets_size()), 0);
    const auto work = [this, &request, &share = shares[i]] {
      share.status = FillAll(request, share);
      if (!share.status.ok()) failed_.store(true, std::memory_order_relaxed);
    };
    if (auto thread = StartThread(work); thread.ok()) {
      threads.push_back(*std::move(thread));
    } else {
      work();
    }
  }
  for (std::thread& thread : threads) thread.join();
  v1::SpaceFilled filled;
  filled.mutable_bytes()->Resize(request.targets_size(), 0);
  absl::Status first_error;
  for (const LaneShare& share : shares) {
    if (!absl::IsCancelled(share.status)) first_error.Update(share.status);
    for (int i = 0; i < request.targets_size(); ++i) {
      filled.set_bytes(i, filled.bytes(i) + share.bytes[static_cast<size_t>(i)]);
    }
  }
  IOBENCH_RETURN_IF_ERROR(first_error);
  if (cancelled_.load(std::memory_order_relaxed)) return absl::CancelledError("filling was cancelled");
  filled.set_seconds(SecondsFrom(MonotonicNowNs() - begin_ns));
  return filled;
}

absl::Status SpaceFiller::FillAll(const v1::FillSpace& request, LaneShare& share) {
  for (int i = 0; i < request.targets_size(); ++i) {
    IOBENCH_RETURN_IF_ERROR(FillTarget(request, i, share));
  }
  return absl::OkStatus();
}

absl::Status SpaceFiller::FillTarget(const v1::FillSpace& request, int target, LaneShare& share) {
  const uint64_t bytes = PartOf(request.bytes(target), share.index, request.lane_count());
  if (bytes == 0) return absl::OkStatus();
  const uint32_t lane = request.first_lane() + share.index;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data,
                           OpenClaimedDirectory(request.targets(target).path(), request.claims(target)));
  IOBENCH_ASSIGN_OR_RETURN(Payload payload,
                           Payload::Create(request.seed(), lane, kNoPhase, kFillRecordBytes));
  uint64_t& written = share.bytes[static_cast<size_t>(target)];
  const uint64_t max_file_bytes = MaxFileBytes();
  for (uint32_t file_index = 0; written < bytes; ++file_index) {
    IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, CreateNext(*data, lane, file_index));
    const uint64_t file_bytes = std::min(max_file_bytes, bytes - written);
    for (uint64_t offset = 0; offset < file_bytes;) {
      if (must_stop()) return absl::CancelledError("filling was cancelled");
      const auto length = static_cast<uint32_t>(std::min<uint64_t>(kFillRecordBytes, file_bytes - offset));
      const Op op{.kind = OpKind::kWrite, .object = file_index, .offset = offset, .length = length};
      payload.Prepare(op);
      IOBENCH_RETURN_IF_ERROR(file->WriteAt(offset, std::span(payload.Next(op), length)));
      offset += length;
      written += length;
      written_bytes_.fetch_add(length, std::memory_order_relaxed);
      if (offset % kFlushBytes != 0 || offset == file_bytes) continue;
      IOBENCH_RETURN_IF_ERROR(Flush(*file));
      // Others may fill the file system too: another run, or users of another export of the same storage.
      IOBENCH_ASSIGN_OR_RETURN(const v1::Space space, data->Space());
      if (BytesToFill(space, request.percent()) == 0) return absl::OkStatus();
    }
    IOBENCH_RETURN_IF_ERROR(Flush(*file));
  }
  return absl::OkStatus();
}

}  // namespace iobench
