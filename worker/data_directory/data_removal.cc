#include "worker/data_directory/data_removal.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "worker/data_directory/claimant.h"
#include "worker/data_directory/claimed_data.h"
#include "worker/data_directory/data_names.h"
#include "worker/data_directory/manifest_file.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

// Removes the directory, which no longer has a manifest. Workers that leave may still put their marks in it, which no
// run would own.
absl::Status RemoveItself(const Directory& target, const Directory& data) {
  constexpr int kMostTimes = 10;
  absl::Status removed;
  for (int i = 0; i < kMostTimes; ++i) {
    removed = UnlessNotFound(target.RemoveDirectory(kDataDirectoryName));
    if (!absl::IsFailedPrecondition(removed)) break;
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesUnlessRemoved(data));
    if (std::none_of(names.begin(), names.end(), IsLeftMark)) break;
    for (const std::string& name : names) {
      if (IsLeftMark(name)) IOBENCH_RETURN_IF_ERROR(UnlessNotFound(data.Remove(name)));
    }
  }
  return removed;
}

// `claim`: null: no data, only what a run without a manifest can have left.
absl::StatusOr<CleanReport> RemoveDataOnce(const std::string& path, const v1::DataClaim* claim,
                                           uint64_t& removed_files) {
  CleanReport report;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
  auto data = OpenDataIn(*target);
  if (absl::IsNotFound(data.status())) return report;
  if (!data.ok()) return data.status();
  auto manifest = ReadManifest(**data);
  if (manifest.ok()) {
    if (claim == nullptr) {
      return HeldByAnother(absl::StrCat((*data)->path(), " now belongs to ", RunOf(*manifest),
                                        ", which has just claimed it: nothing in it was touched"));
    }
    IOBENCH_RETURN_IF_ERROR(CheckClaim(**data, *manifest, *claim));
    report.found = true;
    // The manifest is removed last, so that after a crash the remaining files can still be identified as ours.
    const absl::Status removed = RemoveFiles(**data, *manifest, Temporaries::kRemove, report);
    removed_files += report.removed_files;
    IOBENCH_RETURN_IF_ERROR(removed);
    // Foreign files keep the directory. Without its manifest everything in it would be foreign, and `clean` could not
    // work after the user has removed the foreign files.
    if (!report.foreign_files.empty()) return report;
    IOBENCH_RETURN_IF_ERROR(UnlessNotFound((*data)->Remove(kManifestName)));
  } else if (absl::IsNotFound(manifest.status()) || IsUnreadable(manifest.status())) {
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesUnlessRemoved(**data));
    for (const std::string& name : names) {
      if (IsTemporaryName(name)) {
        (*data)->Remove(name).IgnoreError();
      } else if (!IsSillyName(name) && !IsLeftMark(name)) {
        AddForeign(report, **data, name);
      }
    }
    report.found = report.foreign_files.empty();
    if (!report.found) report.why_not_ours = std::string(manifest.status().message());
  } else {
    return manifest.status();
  }
  if (!report.foreign_files.empty()) return report;
  const absl::Status removed = RemoveItself(*target, **data);
  if (!removed.ok() && !absl::IsFailedPrecondition(removed)) return removed;
  return report;
}

absl::StatusOr<CleanReport> RemoveDataUntilNotStale(const std::string& path, const v1::DataClaim* claim) {
  uint64_t removed_files = 0;
  auto report = BeginningAgainWhereStale([&] { return RemoveDataOnce(path, claim, removed_files); });
  if (report.ok()) report->removed_files = removed_files;
  return report;
}

absl::StatusOr<CleanReport> RemoveSharedFileOnce(const std::string& path, const v1::DataClaim& claim) {
  CleanReport report;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenDataDirectory(path));
  IOBENCH_RETURN_IF_ERROR(ReadClaimed(*data, claim).status());
  report.found = true;
  const absl::Status removed = data->Remove(kSharedFileName);
  if (removed.ok()) report.removed_files = 1;
  IOBENCH_RETURN_IF_ERROR(UnlessNotFound(removed));
  return report;
}

absl::Status RemoveFillOnce(const std::string& path, const v1::DataClaim& claim) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenDataDirectory(path));
  IOBENCH_ASSIGN_OR_RETURN(v1::Manifest manifest, ReadClaimed(*data, claim));
  IOBENCH_RETURN_IF_ERROR(RemoveFillFiles(*data, manifest));
  if (manifest.names().fill_lanes() == 0) return absl::OkStatus();  // nothing was filled
  manifest.mutable_names()->clear_fill_lanes();
  Disown(manifest);  // the worker that claimed the data has left, too
  return ReplaceManifest(*data, manifest);
}

absl::Status CheckAbandonedIn(const DataDirectoryLook& look, const std::string& path, uint64_t own_run,
                              IfOutOfSight if_out_of_sight) {
  if (!look.manifest || look.manifest->state() == v1::Manifest::KEPT || look.manifest->run_id() == own_run) {
    return absl::OkStatus();
  }
  const v1::Manifest& found = *look.manifest;
  const std::string data = PathBelow(path, kDataDirectoryName);
  switch (OwnerOf(found)) {
    case v1::TargetFacts::ALIVE:
      return InUse(data, found);
    case v1::TargetFacts::OUT_OF_SIGHT:
      if (if_out_of_sight == IfOutOfSight::kAccept) return absl::OkStatus();
      return absl::FailedPreconditionError(absl::StrCat(
          data, " belongs to ", RunOf(found),
          "; whether it is still alive cannot be seen from here: check there, and if it crashed, "
          "`cluster-iobench clean --force ",
          ShellWord(path), "` removes its data"));
    default:
      return absl::OkStatus();
  }
}

}  // namespace

absl::StatusOr<CleanReport> RemoveData(const std::string& path, const v1::DataClaim& claim) {
  return RemoveDataUntilNotStale(path, &claim);
}

absl::StatusOr<CleanReport> RemoveSeenData(const std::string& path, const DataDirectoryLook& seen) {
  if (!seen.manifest) return RemoveDataUntilNotStale(path, nullptr);
  v1::DataClaim claim;
  claim.set_run_id(seen.manifest->run_id());
  claim.set_directory_number(seen.number);
  return RemoveDataUntilNotStale(path, &claim);
}

absl::StatusOr<CleanReport> RemoveSharedFile(const std::string& path, const v1::DataClaim& claim) {
  return BeginningAgainWhereStale([&] { return RemoveSharedFileOnce(path, claim); });
}

absl::Status RemoveFill(const std::string& path, const v1::DataClaim& claim) {
  return BeginningAgainWhereStale([&] { return RemoveFillOnce(path, claim); });
}

absl::Status CheckAbandoned(const std::string& path, uint64_t own_run, IfOutOfSight if_out_of_sight) {
  IOBENCH_ASSIGN_OR_RETURN(const DataDirectoryLook look, InspectData(path));
  return CheckAbandonedIn(look, path, own_run, if_out_of_sight);
}

absl::StatusOr<CleanReport> CleanDataDirectory(const std::string& path, IfOutOfSight if_out_of_sight) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string target, TargetOf(path));
  IOBENCH_ASSIGN_OR_RETURN(const DataDirectoryLook look, InspectData(target));
  IOBENCH_RETURN_IF_ERROR(CheckAbandonedIn(look, target, /*own_run=*/0, if_out_of_sight));
  return RemoveSeenData(target, look);
}

}  // namespace iobench
