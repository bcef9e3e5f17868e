#include "worker/data_directory.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/nfs_url.h"
#include "common/shell_word.h"
#include "common/status_util.h"
#include "common/utf8.h"
#include "worker/claimant.h"
#include "worker/manifest.h"
#include "worker/metadata/tree_keeper.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

constexpr char kManifestName[] = "manifest.json";
constexpr char kTemporaryPrefix[] = "manifest.json.tmp-";
constexpr size_t kMostForeignNames = 10;
constexpr size_t kMostManifestBytes = 64 * 1024;

bool IsTemporaryName(std::string_view name) {
  return name.starts_with(kTemporaryPrefix);
}

// What an NFS client calls a file that was removed while something had it open; it goes away by itself.
bool IsSillyName(std::string_view name) {
  return name.starts_with(".nfs");
}

// Of ReadManifest: there is something, and it is no manifest of ours that we can read.
bool IsUnreadable(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
}

// OK also where there was nothing to remove.
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

// What another claimer of the same directory removes or replaces meanwhile is "stale" over NFS, where a mounted file
// system says that it is not there. Seen anew from the target on it is as it is now.
template <typename Do>
auto BeginningAgainWhereStale(const Do& attempt) -> decltype(attempt()) {
  constexpr int kMostAttempts = 20;
  auto result = attempt();
  for (int i = 1; i < kMostAttempts && ErrnoOf(StatusOf(result)) == ESTALE; ++i) result = attempt();
  return result;
}

absl::StatusOr<std::unique_ptr<Directory>> OpenDataIn(const Directory& target) {
  auto data = target.OpenDirectory(kDataDirectoryName);
  if (!absl::IsFailedPrecondition(data.status())) return data;
  return absl::FailedPreconditionError(
      absl::StrCat(data.status().message(), ": it is not ours; move it away or choose another --path"));
}

// NotFound: there is no manifest. InvalidArgument, Unimplemented: not one of ours that we can read.
absl::StatusOr<v1::Manifest> ReadManifest(const Directory& data) {
  auto text = ReadSmallFile(data, kManifestName, kMostManifestBytes);
  if (absl::IsFailedPrecondition(text.status())) return absl::InvalidArgumentError(text.status().message());
  if (!text.ok()) return text.status();
  auto manifest = ManifestFromJson(*text);
  if (!manifest.ok()) return Annotate(manifest.status(), data.PathOf(kManifestName));
  return manifest;
}

std::string HostName() {
  char host[65] = "";
  ::gethostname(host, sizeof(host) - 1);
  return host;
}

// The name of a new file with this text.
absl::StatusOr<std::string> WriteTemporary(const Directory& data, std::string_view text) {
  static std::atomic<uint32_t> counter{0};
  std::string name = absl::StrCat(kTemporaryPrefix, HostName(), "-", ::getpid(), "-",
                                  counter.fetch_add(1, std::memory_order_relaxed));
  IOBENCH_RETURN_IF_ERROR(WriteNewFile(data, name, text));
  return name;
}

// AlreadyExists: another claimer was first. The manifest appears whole or not at all, and only once.
absl::Status CreateManifest(const Directory& data, const v1::Manifest& manifest) {
  const std::string json = ManifestToJson(manifest);
  IOBENCH_ASSIGN_OR_RETURN(const std::string temporary, WriteTemporary(data, json));
  const absl::Status linked = data.Link(temporary, kManifestName);
  data.Remove(temporary).IgnoreError();
  return absl::IsUnimplemented(linked) ? WriteNewFile(data, kManifestName, json) : linked;
}

void NoteForeign(CleanReport& report, const Directory& data, std::string_view name) {
  if (report.foreign_files.size() < kMostForeignNames) {
    report.foreign_files.push_back(data.PathOf(AsUtf8(name)));
  }
}

// Trees are made by metadata operations, which need a mounted file system; elsewhere they are left to such a client.
absl::Status RemoveTreeFrom(const Directory& data, const std::string& name, CleanReport& report) {
  if (data.fd() < 0) {
    NoteForeign(report, data, name);
    return absl::OkStatus();
  }
  std::vector<std::string> foreign;
  auto removed = RemoveTree(data.fd(), data.path(), name, kMostForeignNames, foreign);
  for (const std::string& each : foreign) NoteForeign(report, data, each);
  if (removed.ok()) report.removed_files += *removed;
  if (!absl::IsFailedPrecondition(removed.status())) return removed.status();
  NoteForeign(report, data, name);  // something else of that name is not ours
  return absl::OkStatus();
}

enum class Temporaries { kRemove, kLeave };

// Removes our data files. The manifest stays.
absl::Status RemoveFiles(const Directory& data, Temporaries temporaries, CleanReport& report) {
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, data.Names());
  absl::Status first_error;
  for (const std::string& name : names) {
    if (name == kManifestName || IsSillyName(name)) continue;
    if (IsTemporaryName(name) && temporaries == Temporaries::kLeave) continue;
    if (IsTreeName(name)) {
      first_error.Update(RemoveTreeFrom(data, name, report));
      continue;
    }
    const auto facts = data.Look(name);
    if (absl::IsNotFound(facts.status())) continue;  // removed since it was listed
    if (ErrnoOf(facts.status()) == ESTALE) return facts.status();
    const bool ours =
        (IsDataFileName(name) || IsTemporaryName(name)) && facts.ok() && facts->kind == NodeKind::kFile;
    if (!ours) {
      NoteForeign(report, data, name);
      continue;
    }
    const absl::Status removed = data.Remove(name);
    if (removed.ok() && IsDataFileName(name)) ++report.removed_files;
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
      absl::StrCat(data_path, " is in use: the run of ", HostName(), " pid ", living.pid(), ", which ",
                   living.created_by(), " began at ", living.created_at(), ", is alive: wait for its end"));
}

// `path`: the target's, as the user gave it.
absl::Status BelongsTo(const std::string& path, const Directory& data, const v1::Manifest& other) {
  if (OwnerOf(other) == v1::TargetFacts::ALIVE) return InUse(data.path(), other);
  return absl::FailedPreconditionError(absl::StrCat(
      data.path(), " belongs to a run that ", other.created_by(), " began at ", other.created_at(),
      " and that is running or crashed: if it crashed, remove its data with `cluster-iobench clean ",
      ShellWord(path), "`, or use --force"));
}

// Of what may be the name of its data directory.
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

}  // namespace

std::string LaneFileName(uint32_t lane, uint32_t file_index) {
  return absl::StrFormat("lane-%06u.%u", lane, file_index);
}

bool IsDataFileName(std::string_view name) {
  if (name == kSharedFileName) return true;
  unsigned lane = 0, file = 0;
  const std::string text(name);
  if (std::sscanf(text.c_str(), "lane-%u.%u", &lane, &file) != 2) return false;
  return text == LaneFileName(lane, file);
}

absl::StatusOr<std::unique_ptr<Directory>> OpenDataDirectory(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
  return OpenDataIn(*target);
}

absl::StatusOr<std::unique_ptr<Directory>> OpenClaimedDirectory(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
  auto data = OpenDataIn(*target);
  if (!absl::IsNotFound(data.status())) return data;
  // An NFS client that has looked before the claim remembers for up to acdirmax (60 s) that there was none. Only the
  // server can answer a mkdir; its EEXIST corrects the client's memory.
  if (target->MakeDirectory(kDataDirectoryName).ok()) {
    target->RemoveDirectory(kDataDirectoryName)
        .IgnoreError();  // there really was none, and there shall be none
    return data;
  }
  return OpenDataIn(*target);
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
  auto manifest = ReadManifest(**data);
  if (manifest.ok()) {
    look.manifest = *std::move(manifest);
  } else if (IsUnreadable(manifest.status())) {
    look.foreign = true;
  } else if (absl::IsNotFound(manifest.status())) {
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, (*data)->Names());
    look.foreign = !std::all_of(names.begin(), names.end(), [](const std::string& name) {
      return IsTemporaryName(name) || IsSillyName(name);
    });
  } else {
    return manifest.status();
  }
  return look;
}

absl::StatusOr<CleanReport> ClaimData(const std::string& path, const v1::Manifest& manifest,
                                      uint64_t replaces_run) {
  CleanReport report;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
  const absl::Status made = target->MakeDirectory(kDataDirectoryName);
  if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenDataIn(*target));
  auto found = ReadManifest(*data);
  if (!found.ok()) {
    if (IsUnreadable(found.status())) return NotOurs(data->path(), std::string(found.status().message()));
    if (!absl::IsNotFound(found.status())) return found.status();
    // Temporaries are left: another claimer of this run may be about to link its own.
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, data->Names());
    for (const std::string& name : names) {
      if (name != kManifestName && !IsTemporaryName(name) && !IsSillyName(name)) {
        return NotOurs(data->path(), absl::StrCat("it holds ", AsUtf8(name), " and no manifest"));
      }
    }
  } else {
    if (found->run_id() == manifest.run_id()) return report;
    const bool replaces = replaces_run != 0 && found->run_id() == replaces_run;
    if (found->state() != v1::Manifest::KEPT && !replaces) return BelongsTo(path, *data, *found);
    report.found = true;
    IOBENCH_RETURN_IF_ERROR(RemoveFiles(*data, Temporaries::kLeave, report));
    IOBENCH_RETURN_IF_ERROR(UnlessNotFound(data->Remove(kManifestName)));
  }
  v1::Manifest claim = manifest;
  SignClaim(claim);
  const absl::Status created = CreateManifest(*data, claim);
  if (created.ok()) return report;
  if (!absl::IsAlreadyExists(created)) return created;
  IOBENCH_ASSIGN_OR_RETURN(const v1::Manifest first, ReadManifest(*data));
  if (first.run_id() != manifest.run_id()) return BelongsTo(path, *data, first);
  return report;
}

static absl::Status MarkDataKeptOnce(const std::string& path, const v1::Manifest& ours) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenDataDirectory(path));
  IOBENCH_ASSIGN_OR_RETURN(v1::Manifest manifest, ReadManifest(*data));
  // Kept data that a later run used stay those of the run that made them.
  const bool was_kept = manifest.state() == v1::Manifest::KEPT;
  if (!was_kept && manifest.run_id() != ours.run_id()) return BelongsTo(path, *data, manifest);
  const std::string before = ManifestToJson(manifest);
  manifest.set_state(v1::Manifest::KEPT);
  *manifest.mutable_data() = ours.data();
  manifest.set_generation_low(ours.generation_low());
  manifest.set_generation_high(ours.generation_high());
  manifest.set_unit_bytes(ours.unit_bytes());
  if (ManifestToJson(manifest) == before) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const std::string temporary, WriteTemporary(*data, ManifestToJson(manifest)));
  absl::Status renamed = data->Rename(temporary, kManifestName);
  if (!renamed.ok()) data->Remove(temporary).IgnoreError();
  return renamed;
}

absl::Status MarkDataKept(const std::string& path, const v1::Manifest& ours) {
  return BeginningAgainWhereStale([&] { return MarkDataKeptOnce(path, ours); });
}

static absl::StatusOr<CleanReport> RemoveDataOnce(const std::string& path, uint64_t& removed_files) {
  CleanReport report;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
  auto data = OpenDataIn(*target);
  if (absl::IsNotFound(data.status())) return report;
  if (!data.ok()) return data.status();
  auto manifest = ReadManifest(**data);
  if (manifest.ok()) {
    report.found = true;
    // The manifest goes last: what a crash leaves between can still be seen to be ours.
    const absl::Status removed = RemoveFiles(**data, Temporaries::kRemove, report);
    removed_files += report.removed_files;
    IOBENCH_RETURN_IF_ERROR(removed);
    // What is not ours keeps the directory; without its manifest all of it would be foreign, and of no use to a `clean`
    // after the user has taken that away.
    if (!report.foreign_files.empty()) {
      report.manifest_stays_of_run = manifest->run_id();
      return report;
    }
    IOBENCH_RETURN_IF_ERROR(UnlessNotFound((*data)->Remove(kManifestName)));
  } else if (absl::IsNotFound(manifest.status()) || IsUnreadable(manifest.status())) {
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, (*data)->Names());
    for (const std::string& name : names) {
      if (IsTemporaryName(name)) {
        (*data)->Remove(name).IgnoreError();
      } else if (!IsSillyName(name)) {
        NoteForeign(report, **data, name);
      }
    }
    report.found = report.foreign_files.empty();
    if (!report.found) report.why_not_ours = std::string(manifest.status().message());
  } else {
    return manifest.status();
  }
  const absl::Status removed = UnlessNotFound(target->RemoveDirectory(kDataDirectoryName));
  if (!removed.ok() && !absl::IsFailedPrecondition(removed)) return removed;
  return report;
}

absl::StatusOr<CleanReport> RemoveData(const std::string& path) {
  uint64_t removed_files = 0;
  auto report = BeginningAgainWhereStale([&] { return RemoveDataOnce(path, removed_files); });
  if (report.ok()) report->removed_files = removed_files;
  return report;
}

static absl::StatusOr<CleanReport> RemoveSharedFileOnce(const std::string& path) {
  CleanReport report;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> data, OpenDataDirectory(path));
  auto manifest = ReadManifest(*data);
  if (!manifest.ok()) return NotOurs(data->path(), std::string(manifest.status().message()));
  report.found = true;
  const absl::Status removed = data->Remove(kSharedFileName);
  if (removed.ok()) report.removed_files = 1;
  IOBENCH_RETURN_IF_ERROR(UnlessNotFound(removed));
  return report;
}

absl::StatusOr<CleanReport> RemoveSharedFile(const std::string& path) {
  return BeginningAgainWhereStale([&] { return RemoveSharedFileOnce(path); });
}

absl::Status CheckAbandoned(const std::string& path, uint64_t own_run, bool if_out_of_sight) {
  IOBENCH_ASSIGN_OR_RETURN(const DataDirectoryLook look, LookAtData(path));
  if (!look.manifest || look.manifest->state() == v1::Manifest::KEPT || look.manifest->run_id() == own_run) {
    return absl::OkStatus();
  }
  const v1::Manifest& found = *look.manifest;
  const std::string data = PathBelow(path, kDataDirectoryName);
  const std::string begun = absl::StrCat(found.created_by(), " began at ", found.created_at());
  switch (OwnerOf(found)) {
    case v1::TargetFacts::ALIVE:
      return InUse(data, found);
    case v1::TargetFacts::OUT_OF_SIGHT:
      if (if_out_of_sight) return absl::OkStatus();
      return absl::FailedPreconditionError(
          absl::StrCat(data, " belongs to a run that ", begun,
                       "; whether it still lives cannot be seen from here: look there, and if it crashed, "
                       "`cluster-iobench clean --force ",
                       ShellWord(path), "` removes its data"));
    default:
      return absl::OkStatus();
  }
}

absl::StatusOr<CleanReport> CleanDataDirectory(const std::string& path, bool force) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string target, TargetOf(path));
  IOBENCH_RETURN_IF_ERROR(CheckAbandoned(target, /*own_run=*/0, force));
  return RemoveData(target);
}

}  // namespace iobench
