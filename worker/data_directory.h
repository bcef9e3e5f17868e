// PATH/cluster-iobench.data: where lanes keep their files, and the manifest that says whose they are.
//
// Nothing outside this directory is written or deleted. Inside it only the names are that the manifest accounts for
// (data_names.h); whatever else is found there is reported and left, and the directory then stays. Symbolic links are
// never followed: a data directory, manifest or lane file that is one is an error or is foreign.
//
// Who works with data of a run says which: by a claim, the run's id and the directory's number. Where another run has
// the directory by now nothing is touched, and the error says whose it is.
#ifndef WORKER_DATA_DIRECTORY_H_
#define WORKER_DATA_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/result.pb.h"
#include "worker/storage/directory.h"

namespace iobench {

inline constexpr char kDataDirectoryName[] = "cluster-iobench.data";
struct CleanReport {
  bool found = false;                      // there was a data directory of ours
  uint64_t removed_files = 0;              // data files, the manifest not counted
  std::vector<std::string> foreign_files;  // left alone: the first 10, with their path
  std::string why_not_ours;                // there is something, and no manifest of ours that can be read; else empty
};

struct DataDirectoryLook {
  std::optional<v1::Manifest> manifest;  // none: no directory, an empty one, or foreign data
  bool foreign = false;  // there is something in the directory and no manifest of ours that we can read
  uint64_t number = 0;   // of the directory (DirectoryIdentity); 0 also where there is none
};

// `path` is the target, a directory that exists; all of these block, as file systems do.

// An error only where the directory cannot be looked at, or is a symbolic link.
absl::StatusOr<DataDirectoryLook> LookAtData(const std::string& path);
absl::StatusOr<DataDirectoryLook> LookAtDataIn(const Directory& target);

// PATH/cluster-iobench.data, opened. NotFound: there is none. FailedPrecondition: a symbolic link or not a directory.
absl::StatusOr<std::unique_ptr<Directory>> OpenDataDirectory(const std::string& path);
// The same after a CLAIM by whichever client: what this client remembers from before it is not believed. An error that
// IsHeldByAnother where the data are not those of `claim` (run_id 0: whoever's).
absl::StatusOr<std::unique_ptr<Directory>> OpenClaimedDirectory(const std::string& path,
                                                                const v1::DataClaim& claim);

// FailedPrecondition, because the data directory is not that of the claim that was given: another run has it, or nobody.
bool IsHeldByAnother(const absl::Status& status);

// Makes the directory and its manifest. Success where a claimer of the same run was first. The data of `replaced` are
// removed first, kept or not (run_id 0: none are). FailedPrecondition: the data of any other run, foreign files without
// a manifest, or a foreign file that has a name which this run will use. The manifest says that this process made the
// claim. The second of the pair is what was claimed.
absl::StatusOr<std::pair<CleanReport, v1::DataClaim>> ClaimData(const std::string& path,
                                                                const v1::Manifest& manifest,
                                                                const v1::DataClaim& replaced = {});

// What is known of data that another run than `own_run` has claimed and not marked as kept. FailedPrecondition: the
// process that claimed them lives on this host; or it cannot be seen from here whether it does, and that is not
// enough (`if_out_of_sight` false).
absl::Status CheckAbandoned(const std::string& path, uint64_t own_run, bool if_out_of_sight);

// The manifest says from now on that the data are to be used again, and what they hold now: data, generations and unit
// are those of `ours`. `claim`: whose they are. IsHeldByAnother: they are another run's by now.
absl::Status MarkDataKept(const std::string& path, const v1::Manifest& ours, const v1::DataClaim& claim);

// The files that the manifest accounts for, the manifest, and the directory where it is empty then. IsHeldByAnother: they
// are not those of `claim` (run_id 0: whoever's). No directory: success. Where something foreign is in the way the
// manifest stays, so that the next call can go on. Others may do the same at the same time.
// Without a manifest of ours only an empty directory and temporaries are removed; the rest is foreign.
absl::StatusOr<CleanReport> RemoveData(const std::string& path, const v1::DataClaim& claim = {});

// The shared file, where there is one. IsHeldByAnother: the data are not those of `claim`.
absl::StatusOr<CleanReport> RemoveSharedFile(const std::string& path, const v1::DataClaim& claim);

// What `cluster-iobench clean` does: CheckAbandoned, RemoveData. `path` may also name the data directory itself.
// `force`: also where it cannot be seen whether the run still lives.
absl::StatusOr<CleanReport> CleanDataDirectory(const std::string& path, bool force);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_H_
