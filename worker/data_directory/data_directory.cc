#include "worker/data_directory/data_directory.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "common/host_identity.h"
#include "common/model/plan_traits.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "common/text/utf8.h"
#include "worker/data_directory/claimant.h"
#include "worker/data_directory/data_names.h"
#include "worker/data_directory/manifest.h"
#include "worker/data_directory/manifest_file.h"
#include "worker/metadata/tree_keeper.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

constexpr char kHeldByAnother[] = "cluster-iobench/held-by-another";
constexpr size_t kMaxForeignNames = 10;

// Returns OK also if there was nothing to remove.
absl::Status UnlessNotFound(const absl::Status& removed) {
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// If another claimer removes or replaces the directory meanwhile, NFS reports it as "stale", where a local file system
// reports that it does not exist. Looking it up again from the target shows the current state.
template <typename Do>
auto BeginningAgainWhereStale(const Do& attempt) -> decltype(attempt()) {
  constexpr int kMaxAttempts = 20;
  auto result = attempt();
  for (int i = 1; i < kMaxAttempts && ErrnoOf(StatusOf(result)) == ESTALE; ++i) result = attempt();
  return result;
}

absl::StatusOr<std::unique_ptr<Directory>> OpenDataIn(const Directory& target) {
  auto data = target.OpenDirectory(kDataDirectoryName);
  if (!absl::IsFailedPrecondition(data.status())) return data;
  return absl::FailedPreconditionError(
      absl::StrCat(data.status().message(), ": it is not ours: move it away or choose another --path"));
}

void NoteForeign(CleanReport& report, const Directory& data, std::string_view name) {
  if (report.foreign_files.size() < kMaxForeignNames) {
    report.foreign_files.push_back(data.PathOf(AsUtf8(name)));
  }
}

// Trees are created by metadata operations, which need a mounted file system; without a mount they are left to a client
// that has one.
absl::Status RemoveTreeFrom(const Directory& data, const std::string& name, CleanReport& report) {
  if (data.fd() < 0) {
    NoteForeign(report, data, name);
    return absl::OkStatus();
  }
  std::vector<std::string> foreign;
  auto removed = RemoveTree(data.fd(), data.path(), name, kMaxForeignNames, foreign);
  for (const std::string& each : foreign) NoteForeign(report, data, each);
  if (removed.ok()) report.removed_files += *removed;
  if (!absl::IsFailedPrecondition(removed.status())) return removed.status();
  NoteForeign(report, data, name);  // something else has that name
  return absl::OkStatus();
}

// Returns the names in `data`; none if another process has removed the directory since it was opened.
absl::StatusOr<std::vector<std::string>> NamesUnlessRemoved(const Directory& data) {
  auto names = data.Names();
  if (absl::IsNotFound(names.status())) return std::vector<std::string>();
  return names;
}

enum class Temporaries { kRemove, kLeave };

// Removes the data files that the manifest accounts for. The manifest stays.
absl::Status RemoveFiles(const Directory& data, const v1::Manifest& manifest, Temporaries temporaries,
                         CleanReport& report) {
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesUnlessRemoved(data));
  absl::Status first_error;
  for (const std::string& name : names) {
    if (name == kManifestName || IsSillyName(name)) continue;
    if (IsTemporaryName(name) && temporaries == Temporaries::kLeave) continue;
    if (HasTree(manifest, name)) {
      first_error.Update(RemoveTreeFrom(data, name, report));
      continue;
    }
    const auto facts = data.Look(name);
    if (absl::IsNotFound(facts.status())) continue;  // removed since it was listed
    if (ErrnoOf(facts.status()) == ESTALE) return facts.status();
    if (!facts.ok()) {  // whether it is ours is unknown
      first_error.Update(facts.status());
      continue;
    }
    const bool is_data = HasDataFile(manifest, name);
    const bool ours = (is_data || IsTemporaryName(name)) && facts->kind == NodeKind::kFile;
    if (!ours) {
      NoteForeign(report, data, name);
      continue;
    }
    const absl::Status removed = data.Remove(name);
    if (removed.ok() && is_data) ++report.removed_files;
    first_error.Update(UnlessNotFound(removed));
  }
  return first_error;
}

absl::Status NotOurs(const std::string& data_path, std::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat(data_path, " is not ours (", std::string(why),
                                                    "): move it away or choose another --path"));
}

absl::Status InUse(const std::string& data_path, const v1::Manifest& living) {
  return absl::FailedPreconditionError(
      absl::StrCat(data_path, " is in use: the run of ", HostName(), " pid ", AlivePidOf(living), ", which ",
                   living.created_by(), " began at ", living.created_at(), ", is alive: wait until it ends"));
}

// `path`: the target's path as given by the user.
absl::Status BelongsTo(const std::string& path, const Directory& data, const v1::Manifest& other) {
  if (OwnerOf(other) == v1::TargetFacts::ALIVE) return InUse(data.path(), other);
  return absl::FailedPreconditionError(absl::StrCat(
      data.path(), " belongs to a run that ", other.created_by(), " began at ", other.created_at(),
      " and that is running or has crashed: if it crashed, remove its data with `cluster-iobench clean ",
      ShellWord(path), "`, or use --force"));
}

absl::Status HeldByAnother(std::string message) {
  absl::Status status = absl::FailedPreconditionError(message);
  status.SetPayload(kHeldByAnother, absl::Cord());
  return status;
}

// Describes a run by its manifest: "the run that node1 began at 2026-…".
std::string RunOf(const v1::Manifest& manifest) {
  return absl::StrCat("the run that ", manifest.created_by(), " began at ", manifest.created_at());
}

bool IsAnyones(const v1::DataClaim& claim) {
  return claim.run_id() == 0;
}

// Returns OK if the data with this manifest belongs to the claim.
absl::Status CheckClaim(const Directory& data, const v1::Manifest& found, const v1::DataClaim& claim) {
  if (IsAnyones(claim)) return absl::OkStatus();
  if (found.run_id() != claim.run_id()) {
    return HeldByAnother(
        absl::StrCat(data.path(), " belongs to another run now, ", RunOf(found),
                     found.state() == v1::Manifest::KEPT ? ", whose data are kept" : "",
                     ": nothing in it was touched; run again once it is free, or choose another --path"));
  }
  IOBENCH_ASSIGN_OR_RETURN(const DirectoryIdentity identity, data.Identity());
  if (claim.directory_number() == 0 || identity.number == 0 || identity.number == claim.directory_number()) {
    return absl::OkStatus();
  }
  return HeldByAnother(
      absl::StrCat(data.path(), " was replaced by another directory, which holds data of ", RunOf(found),
                   " too, perhaps a copy: nothing in it was touched; put the original back, or move "
                   "this one away"));
}

// Reads the manifest of a claimed directory.
absl::StatusOr<v1::Manifest> ReadClaimed(const Directory& data, const v1::DataClaim& claim) {
  auto found = ReadManifest(data);
  if (found.ok()) {
    IOBENCH_RETURN_IF_ERROR(CheckClaim(data, *found, claim));
    return found;
  }
  if (!absl::IsNotFound(found.status()) && !IsUnreadable(found.status())) return found;
  return HeldByAnother(absl::StrCat(data.path(),
                                    " no longer belongs to this run: it has no readable manifest (",
                                    std::string(found.status().message()),
                                    "); nothing in it was touched; another process replaced or changed it"));
}

}  // namespace

absl::StatusOr<std::string> TargetOf(const std::string& path) {
  if (IsNfsUrl(path)) {
    IOBENCH_ASSIGN_OR_RETURN(const NfsUrl url, ParseNfsUrl(path));
    return url.WithoutLast(kDataDirectoryName).ForLibnfs();
  }
  std::string_view target = path;
  while (target.size() > 1 && target.ends_with('/')) target.remove_suffix(1);
  const std::string itself = absl::StrCat("/", kDataDirectoryName);
  if (target == kDataDirectoryName) return std::string(".");
  if (!target.ends_with(itself)) return path;
  target.remove_suffix(itself.size());
  return target.empty() ? std::string("/") : std::string(target);
}

absl::StatusOr<std::unique_ptr<Directory>> OpenDataDirectory(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
  return OpenDataIn(*target);
}

bool IsHeldByAnother(const absl::Status& status) {
  return status.GetPayload(kHeldByAnother).has_value();
}

static absl::StatusOr<std::unique_ptr<Directory>> OpenAfterClaim(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
  auto data = OpenDataIn(*target);
  if (!absl::IsNotFound(data.status())) return data;
  // An NFS client that looked before the claim may cache for up to acdirmax (60 s) that the directory does not exist.
  // mkdir always goes to the server, and its EEXIST updates the client's cache.
  if (target->MakeDirectory(kDataDirectoryName).ok()) {
    target->RemoveDirectory(kDataDirectoryName).IgnoreError();  // it really did not exist: leave it so
    return data;
  }
  return OpenDataIn(*target);
}

absl::StatusOr<std::unique_ptr<Directory>> OpenClaimedDirectory(const std::string& path,
                                                                const v1::DataClaim& claim) {
  return BeginningAgainWhereStale([&]() -> absl::StatusOr<std::unique_ptr<Directory>> {
    auto data = OpenAfterClaim(path);
    if (IsAnyones(claim)) return data;
    if (absl::IsNotFound(data.status())) {
      return HeldByAnother(
          absl::StrCat(PathBelow(path, kDataDirectoryName),
                       ", which this run has claimed, no longer exists: another process removed it, "
                       "perhaps another run with --force"));
    }
    if (data.ok()) IOBENCH_RETURN_IF_ERROR(ReadClaimed(**data, claim).status());
    return data;
  });
}

absl::StatusOr<DataDirectoryLook> LookAtData(const std::string& path) {
  return BeginningAgainWhereStale([&]() -> absl::StatusOr<DataDirectoryLook> {
    IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
    return LookAtDataIn(*target);
  });
}

absl::StatusOr<DataDirectoryLook> LookAtDataIn(const Directory& target) {
  DataDirectoryLook look;
  auto data = OpenDataIn(target);
  if (absl::IsNotFound(data.status())) return look;
  if (!data.ok()) return data.status();
  IOBENCH_ASSIGN_OR_RETURN(const DirectoryIdentity identity, (*data)->Identity());
  look.number = identity.number;
  auto manifest = ReadManifest(**data);
  if (manifest.ok()) {
    look.manifest = *std::move(manifest);
  } else if (IsUnreadable(manifest.status())) {
    look.foreign = true;
  } else if (absl::IsNotFound(manifest.status())) {
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesUnlessRemoved(**data));
    look.foreign = !std::all_of(names.begin(), names.end(), [](const std::string& name) {
      return IsTemporaryName(name) || IsSillyName(name) || IsLeftMark(name);
    });
  } else {
    return manifest.status();
  }
  return look;
}

// A new manifest would not account for trees that could not be removed here.
static absl::Status CheckTreesIn(const Directory& data, const v1::Manifest& found) {
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

// After the files of `found` have been removed: checks for entries that are not ours but have a name that we would use.
static absl::Status CheckNamesAreFree(const Directory& data, const v1::Manifest& found,
                                      const v1::Manifest& claim) {
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
static absl::StatusOr<bool> MakeRoom(const std::string& path, const Directory& data, const v1::Manifest& ours,
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

// No run reads the files of --fill again. With them go the marks of the workers that have left them.
static absl::Status RemoveFillFiles(const Directory& data, const v1::Manifest& manifest) {
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, data.Names());
  for (const std::string& name : names) {
    if (!(IsFillFile(name) || IsLeftMark(name)) || !HasDataFile(manifest, name)) continue;
    IOBENCH_RETURN_IF_ERROR(UnlessNotFound(data.Remove(name)));
  }
  return absl::OkStatus();
}

static absl::Status RemoveFillOnce(const std::string& path, const v1::DataClaim& claim) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenDataDirectory(path));
  IOBENCH_ASSIGN_OR_RETURN(v1::Manifest manifest, ReadClaimed(*data, claim));
  IOBENCH_RETURN_IF_ERROR(RemoveFillFiles(*data, manifest));
  if (manifest.names().fill_lanes() == 0) return absl::OkStatus();  // nothing was filled
  manifest.mutable_names()->clear_fill_lanes();
  Disown(manifest);  // the worker that claimed the data has left, too
  return ReplaceManifest(*data, manifest);
}

absl::Status RemoveFill(const std::string& path, const v1::DataClaim& claim) {
  return BeginningAgainWhereStale([&] { return RemoveFillOnce(path, claim); });
}

static absl::Status DisownDataOnce(const std::string& path, const v1::DataClaim& claim) {
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

absl::Status DisownData(const std::string& path, const v1::DataClaim& claim) {
  return BeginningAgainWhereStale([&] { return DisownDataOnce(path, claim); });
}

static absl::Status MarkDataKeptOnce(const std::string& path, const v1::Manifest& ours,
                                     const v1::DataClaim& claim) {
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
  if (ManifestToJson(manifest) == before) return absl::OkStatus();
  return ReplaceManifest(*data, manifest);
}

absl::Status MarkDataKept(const std::string& path, const v1::Manifest& ours, const v1::DataClaim& claim) {
  return BeginningAgainWhereStale([&] { return MarkDataKeptOnce(path, ours, claim); });
}

// Removes the directory, which no longer has a manifest. Workers that leave may still put their marks in it, which no
// run would own.
static absl::Status RemoveItself(const Directory& target, const Directory& data) {
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
static absl::StatusOr<CleanReport> RemoveDataOnce(const std::string& path, const v1::DataClaim* claim,
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
        NoteForeign(report, **data, name);
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

static absl::StatusOr<CleanReport> RemoveDataUntilNotStale(const std::string& path,
                                                           const v1::DataClaim* claim) {
  uint64_t removed_files = 0;
  auto report = BeginningAgainWhereStale([&] { return RemoveDataOnce(path, claim, removed_files); });
  if (report.ok()) report->removed_files = removed_files;
  return report;
}

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

static absl::StatusOr<CleanReport> RemoveSharedFileOnce(const std::string& path, const v1::DataClaim& claim) {
  CleanReport report;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenDataDirectory(path));
  IOBENCH_RETURN_IF_ERROR(ReadClaimed(*data, claim).status());
  report.found = true;
  const absl::Status removed = data->Remove(kSharedFileName);
  if (removed.ok()) report.removed_files = 1;
  IOBENCH_RETURN_IF_ERROR(UnlessNotFound(removed));
  return report;
}

absl::StatusOr<CleanReport> RemoveSharedFile(const std::string& path, const v1::DataClaim& claim) {
  return BeginningAgainWhereStale([&] { return RemoveSharedFileOnce(path, claim); });
}

static absl::Status CheckAbandonedIn(const DataDirectoryLook& look, const std::string& path, uint64_t own_run,
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

absl::Status CheckAbandoned(const std::string& path, uint64_t own_run, IfOutOfSight if_out_of_sight) {
  IOBENCH_ASSIGN_OR_RETURN(const DataDirectoryLook look, LookAtData(path));
  return CheckAbandonedIn(look, path, own_run, if_out_of_sight);
}

absl::StatusOr<CleanReport> CleanDataDirectory(const std::string& path, IfOutOfSight if_out_of_sight) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string target, TargetOf(path));
  IOBENCH_ASSIGN_OR_RETURN(const DataDirectoryLook look, LookAtData(target));
  IOBENCH_RETURN_IF_ERROR(CheckAbandonedIn(look, target, /*own_run=*/0, if_out_of_sight));
  return RemoveSeenData(target, look);
}

}  // namespace iobench
