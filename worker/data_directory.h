// PATH/cluster-iobench.data: where lanes keep their files, and the manifest that says whose they are.
//
// Nothing outside this directory is written or deleted. Inside it only our own names are: lane-NNNNNN.N, shared,
// trees of metadata operations (tree-NNNNNN.N, tree-shared.N), manifest.json and its temporaries; whatever else is
// found there is reported and left, and the directory then stays. Symbolic links are never followed: a data
// directory, manifest or lane file that is one is an error or is foreign.
#ifndef WORKER_DATA_DIRECTORY_H_
#define WORKER_DATA_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"
#include "worker/storage/directory.h"

namespace iobench {

inline constexpr char kDataDirectoryName[] = "cluster-iobench.data";
inline constexpr char kSharedFileName[] = "shared";

std::string LaneFileName(uint32_t lane, uint32_t file_index);  // "lane-000003.0"
bool IsDataFileName(std::string_view name);                    // a lane's or the shared one

struct CleanReport {
  bool found = false;                      // there was a data directory of ours
  uint64_t removed_files = 0;              // data files, the manifest not counted
  std::vector<std::string> foreign_files;  // left alone: the first 10, with their path
  uint64_t manifest_stays_of_run = 0;      // because of what is foreign; 0: it does not
  std::string why_not_ours;                // there is something, and no manifest of ours that can be read; else empty
};

struct DataDirectoryLook {
  std::optional<v1::Manifest> manifest;  // none: no directory, an empty one, or foreign data
  bool foreign = false;  // there is something in the directory and no manifest of ours that we can read
};

// `path` is the target, a directory that exists; all of these block, as file systems do.

// An error only where the directory cannot be looked at, or is a symbolic link.
absl::StatusOr<DataDirectoryLook> LookAtData(const std::string& path);
absl::StatusOr<DataDirectoryLook> LookAtDataIn(const Directory& target);

// PATH/cluster-iobench.data, opened. NotFound: there is none. FailedPrecondition: a symbolic link or not a directory.
absl::StatusOr<std::unique_ptr<Directory>> OpenDataDirectory(const std::string& path);
// The same after a CLAIM by whichever client: what this client remembers from before it is not believed.
absl::StatusOr<std::unique_ptr<Directory>> OpenClaimedDirectory(const std::string& path);

// Makes the directory and its manifest. Success where a claimer of the same run was first. Kept data of another run are
// removed first. FailedPrecondition: the data of a run that is active (or crashed), or foreign files without a
// manifest. The manifest says that this process made the claim. `replaces_run`: of an active run whose data were
// removed, and whose manifest had to stay.
absl::StatusOr<CleanReport> ClaimData(const std::string& path, const v1::Manifest& manifest,
                                      uint64_t replaces_run = 0);

// What is known of data that another run than `own_run` has claimed and not marked as kept. FailedPrecondition: the
// process that claimed them lives on this host; or it cannot be seen from here whether it does, and that is not
// enough (`if_out_of_sight` false).
absl::Status CheckAbandoned(const std::string& path, uint64_t own_run, bool if_out_of_sight);

// The manifest says from now on that the data are to be used again, and what they hold now: data, generations and unit
// are those of `ours`. FailedPrecondition: they are another active run's.
absl::Status MarkDataKept(const std::string& path, const v1::Manifest& ours);

// Our files, the manifest, and the directory where it is empty then; whoever made them. No directory: success. Where
// something foreign is in the way the manifest stays, so that the next call can go on. Others may do the same at the
// same time.
// Without a manifest of ours only an empty directory and temporaries are removed; the rest is foreign.
absl::StatusOr<CleanReport> RemoveData(const std::string& path);

// The shared file, where there is one. FailedPrecondition: the directory has no manifest of ours.
absl::StatusOr<CleanReport> RemoveSharedFile(const std::string& path);

// What `cluster-iobench clean` does: CheckAbandoned, RemoveData. `path` may also name the data directory itself.
// `force`: also where it cannot be seen whether the run still lives.
absl::StatusOr<CleanReport> CleanDataDirectory(const std::string& path, bool force);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_H_
