#include "worker/data_directory/data_directory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "worker/data_directory/claimed_data.h"
#include "worker/data_directory/data_names.h"
#include "worker/data_directory/manifest_file.h"
#include "worker/storage/open_target.h"

namespace iobench {

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

absl::StatusOr<DataDirectoryLook> InspectData(const std::string& path) {
  return BeginningAgainWhereStale([&]() -> absl::StatusOr<DataDirectoryLook> {
    IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
    return InspectDataIn(*target);
  });
}

absl::StatusOr<DataDirectoryLook> InspectDataIn(const Directory& target) {
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

}  // namespace iobench
