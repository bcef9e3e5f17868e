// What the parts of this folder share: finding the data directory in its target, and checking whose it is.
#ifndef WORKER_DATA_DIRECTORY_CLAIMED_DATA_H_
#define WORKER_DATA_DIRECTORY_CLAIMED_DATA_H_

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/status_util.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/result.pb.h"
#include "worker/storage/directory.h"

namespace iobench {

// Returns OK also if there was nothing to remove.
absl::Status UnlessNotFound(const absl::Status& removed);

inline const absl::Status& StatusOf(const absl::Status& status) {
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

// Opens the data directory of an open target. NotFound: it does not exist. FailedPrecondition: a symbolic link or not a
// directory.
absl::StatusOr<std::unique_ptr<Directory>> OpenDataIn(const Directory& target);

// Returns the names in `data`; none if another process has removed the directory since it was opened.
absl::StatusOr<std::vector<std::string>> NamesUnlessRemoved(const Directory& data);

// Returns an error for which IsHeldByAnother is true.
absl::Status HeldByAnother(std::string message);
// Returns the error for data whose run is alive on this host.
absl::Status InUse(const std::string& data_path, const v1::Manifest& living);

// Describes a run by its manifest: "the run that node1 began at 2026-…".
std::string RunOf(const v1::Manifest& manifest);

// True for the claim of any run: its owner need not be checked.
bool IsAnyones(const v1::DataClaim& claim);
// Returns OK if the data with this manifest belongs to the claim, otherwise an error with IsHeldByAnother.
absl::Status CheckClaim(const Directory& data, const v1::Manifest& found, const v1::DataClaim& claim);
// Reads the manifest of a claimed directory. An error with IsHeldByAnother: it has none, or CheckClaim failed.
absl::StatusOr<v1::Manifest> ReadClaimed(const Directory& data, const v1::DataClaim& claim);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_CLAIMED_DATA_H_
