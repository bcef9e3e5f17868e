#include "worker/data_directory/data_ownership.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "common/text/utf8.h"
#include "worker/data_directory/claimant.h"
#include "worker/data_directory/claimed_data.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/data_names.h"
#include "worker/data_directory/manifest.h"
#include "worker/data_directory/manifest_file.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

absl::Status NotOurs(const std::string& data_path, std::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat(data_path, " is not ours (", std::string(why),
                                                    "): move it away or choose another --path"));
}

// `path`: the target's path as given by the user.
absl::Status BelongsTo(const std::string& path, const Directory& data, const v1::Manifest& other) {
  if (OwnerOf(other) == v1::TargetFacts::ALIVE) return InUse(data.path(), other);
  return absl::FailedPreconditionError(absl::StrCat(
      data.path(), " belongs to a run that ", other.created_by(), " began at ", other.created_at(),
      " and that is running or has crashed: if it crashed, remove its data with `cluster-iobench clean ",
      ShellWord(path), "`, or use --force"));
}

// A new manifest would not account for trees that could not be removed here.
absl::Status CheckTreesIn(const Directory& data, const v1::Manifest& found) {
  if (data.fd() >= 0) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesUnlessRemoved(data));
  for (const std::string& name : names) {
    if (!HasTree(found, name)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(data.path(), " holds ", AsUtf8(name),
                     ", a tree of metadata operations, which only a client with a mount can remove: run "
                     "`cluster-iobench clean` there, or choose another --path"));
  }
  return absl::OkStatus();
}

// After the files of `found` have been removed: checks for entries that are not ours but have a name that we would use.
absl::Status CheckNamesAreFree(const Directory& data, const v1::Manifest& found, const v1::Manifest& claim) {
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, data.Names());
  for (const std::string& name : names) {
    // What is left in an old tree has none of the names that this run would use.
    if (!HasDataFile(claim, name) && (HasTree(found, name) || !HasTree(claim, name))) continue;
    return NotOurs(data.path(),
                   absl::StrCat("it holds ", AsUtf8(name),
                                ", which no known run created and to which this run would write"));
  }
  return absl::OkStatus();
}

// Before the manifest is created: removes what may be removed and checks the rest. Returns true if a claimer of the
// same run was first.
absl::StatusOr<bool> MakeRoom(const std::string& path, const Directory& data, const v1::Manifest& ours,
                              const v1::DataClaim& replaced, CleanReport& report) {
  auto found = ReadManifest(data);
  if (!found.ok()) {
    if (IsUnreadable(found.status())) return NotOurs(data.path(), std::string(found.status().message()));
    if (!absl::IsNotFound(found.status())) return found.status();
    // Keeps temporary files: another claimer of this run may be about to link its own.
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, data.Names());
    for (const std::string& name : names) {
      if (IsLeftMark(name)) {  // of a run whose data have been removed
        IOBENCH_RETURN_IF_ERROR(UnlessNotFound(data.Remove(name)));
      } else if (name != kManifestName && !IsTemporaryName(name) && !IsSillyName(name)) {
        return NotOurs(data.path(), absl::StrCat("it holds ", AsUtf8(name), " and no manifest"));
      }
    }
    return false;
  }
  if (found->run_id() == ours.run_id()) return true;
  const bool active = found->state() != v1::Manifest::KEPT;
  const bool is_alive = active && OwnerOf(*found) == v1::TargetFacts::ALIVE;
  if (is_alive || (active && found->run_id() != replaced.run_id())) return BelongsTo(path, data, *found);
  if (IsAnyones(replaced)) {
    return HeldByAnother(absl::StrCat(data.path(), " holds data that ", RunOf(*found),
                                      " kept there after this run checked: run again"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckClaim(data, *found, replaced));
  IOBENCH_RETURN_IF_ERROR(CheckTreesIn(data, *found));
  report.found = true;
  IOBENCH_RETURN_IF_ERROR(RemoveFiles(data, *found, Temporaries::kLeave, report));
  IOBENCH_RETURN_IF_ERROR(CheckNamesAreFree(data, *found, ours));
  IOBENCH_RETURN_IF_ERROR(UnlessNotFound(data.Remove(kManifestName)));
  return false;
}

absl::Status DisownDataOnce(const std::string& path, const v1::DataClaim& claim) {
  auto data = OpenDataDirectory(path);
  if (absl::IsNotFound(data.status())) return absl::OkStatus();
  if (!data.ok()) return data.status();
  absl::StatusOr<v1::Manifest> manifest = ReadClaimed(**data, claim);
  if (IsHeldByAnother(manifest.status())) return absl::OkStatus();
  if (!manifest.ok()) return manifest.status();
  if (manifest->state() == v1::Manifest::KEPT || !IsSignedHere(*manifest)) return absl::OkStatus();
  Disown(*manifest);
  return ReplaceManifest(**data, *manifest);
}

absl::Status MarkDataKeptOnce(const std::string& path, const v1::Manifest& ours, const v1::DataClaim& claim) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenDataDirectory(path));
  // Kept data that a later run has used still belongs to the run that created it.
  IOBENCH_ASSIGN_OR_RETURN(v1::Manifest manifest, ReadClaimed(*data, claim));
  if (manifest.names().fill_lanes() > 0) IOBENCH_RETURN_IF_ERROR(RemoveFillFiles(*data, manifest));
  const std::string before = ManifestToJson(manifest);
  if (manifest.has_names()) manifest.mutable_names()->clear_fill_lanes();
  manifest.set_state(v1::Manifest::KEPT);
  *manifest.mutable_data() = ours.data();
  manifest.set_generation_low(ours.generation_low());
  manifest.set_generation_high(ours.generation_high());
  manifest.set_unit_bytes(ours.unit_bytes());
  if (ours.grown_bytes_per_lane() > 0) manifest.set_grown_bytes_per_lane(ours.grown_bytes_per_lane());
  manifest.clear_passes();
  if (ours.has_passes()) *manifest.mutable_passes() = ours.passes();
  if (ManifestToJson(manifest) == before) return absl::OkStatus();
  return ReplaceManifest(*data, manifest);
}

}  // namespace

absl::Status CheckTreesCanGo(const std::string& path, const v1::DataClaim& claim) {
  if (!IsNfsUrl(path)) return absl::OkStatus();
  return BeginningAgainWhereStale([&]() -> absl::Status {
    const auto data = OpenDataDirectory(path);
    if (!data.ok()) return UnlessNotFound(data.status());
    const auto found = ReadManifest(**data);
    // Otherwise RemoveData says what is wrong.
    if (!found.ok() || found->run_id() != claim.run_id()) return absl::OkStatus();
    return CheckTreesIn(**data, *found);
  });
}

absl::StatusOr<std::pair<CleanReport, v1::DataClaim>> ClaimData(const std::string& path,
                                                                const v1::Manifest& manifest,
                                                                const v1::DataClaim& replaced) {
  CleanReport report;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
  const absl::Status made = target->MakeDirectory(kDataDirectoryName);
  if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenDataIn(*target));
  IOBENCH_ASSIGN_OR_RETURN(const DirectoryIdentity identity, data->Identity());
  v1::DataClaim claim;
  claim.set_run_id(manifest.run_id());
  claim.set_directory_number(identity.number);
  IOBENCH_ASSIGN_OR_RETURN(const bool was_first, MakeRoom(path, *data, manifest, replaced, report));
  if (was_first) return std::pair(report, claim);
  v1::Manifest ours = manifest;
  SignClaim(ours);
  const absl::Status created = CreateManifest(*data, ours);
  if (created.ok()) return std::pair(report, claim);
  if (!absl::IsAlreadyExists(created)) return created;
  IOBENCH_ASSIGN_OR_RETURN(const v1::Manifest first, ReadManifest(*data));
  if (first.run_id() != manifest.run_id()) return BelongsTo(path, *data, first);
  return std::pair(report, claim);
}

absl::Status AccountForFillFiles(const std::string& path, const v1::DataClaim& claim, uint32_t lane_count) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenClaimedDirectory(path, claim));
  IOBENCH_ASSIGN_OR_RETURN(v1::Manifest manifest, ReadClaimed(*data, claim));
  if (manifest.names().fill_lanes() >= lane_count) return absl::OkStatus();
  if (!manifest.has_names()) {
    return absl::FailedPreconditionError(
        absl::StrCat(data->path(),
                     " has data that an earlier version kept, to which no files of --fill can be "
                     "added: write new data with -i 0, or leave --fill out"));
  }
  manifest.mutable_names()->set_fill_lanes(lane_count);
  return ReplaceManifest(*data, manifest);
}

absl::Status DisownData(const std::string& path, const v1::DataClaim& claim) {
  return BeginningAgainWhereStale([&] { return DisownDataOnce(path, claim); });
}

absl::Status MarkDataKept(const std::string& path, const v1::Manifest& ours, const v1::DataClaim& claim) {
  return BeginningAgainWhereStale([&] { return MarkDataKeptOnce(path, ours, claim); });
}

}  // namespace iobench
