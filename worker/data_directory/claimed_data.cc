#include "worker/data_directory/claimed_data.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "common/host_identity.h"
#include "common/model/plan_traits.h"
#include "worker/data_directory/claimant.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/manifest_file.h"

namespace iobench {

static constexpr char kHeldByAnother[] = "cluster-iobench/held-by-another";

absl::Status UnlessNotFound(const absl::Status& removed) {
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

absl::StatusOr<std::unique_ptr<Directory>> OpenDataIn(const Directory& target) {
  auto data = target.OpenDirectory(kDataDirectoryName);
  if (!absl::IsFailedPrecondition(data.status())) return data;
  return absl::FailedPreconditionError(
      absl::StrCat(data.status().message(), ": it is not ours: move it away or choose another --path"));
}

absl::StatusOr<std::vector<std::string>> NamesUnlessRemoved(const Directory& data) {
  auto names = data.Names();
  if (absl::IsNotFound(names.status())) return std::vector<std::string>();
  return names;
}

absl::Status HeldByAnother(std::string message) {
  absl::Status status = absl::FailedPreconditionError(message);
  status.SetPayload(kHeldByAnother, absl::Cord());
  return status;
}

bool IsHeldByAnother(const absl::Status& status) {
  return status.GetPayload(kHeldByAnother).has_value();
}

absl::Status InUse(const std::string& data_path, const v1::Manifest& living) {
  return absl::FailedPreconditionError(
      absl::StrCat(data_path, " is in use: the run of ", HostName(), " pid ", AlivePidOf(living), ", which ",
                   living.created_by(), " began at ", living.created_at(), ", is alive: wait until it ends"));
}

std::string RunOf(const v1::Manifest& manifest) {
  return absl::StrCat("the run that ", manifest.created_by(), " began at ", manifest.created_at());
}

bool IsAnyones(const v1::DataClaim& claim) {
  return claim.run_id() == 0;
}

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

}  // namespace iobench
