// The raw data of a run on disk: DIRECTORY/raw/run.pb, and raw/phase-NNN.pb for each phase. Every report can be
// computed from it again. A file is a protobuf message (result.proto) and a seal with its length and checksum, without
// which a truncated message might parse as a shorter one; raw_files.cc describes the format.
#ifndef COORDINATOR_REPORT_RAW_FILES_H_
#define COORDINATOR_REPORT_RAW_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Larger files are not read. Protobuf limits a message to 2 GiB; the rest is room for the seal.
inline constexpr uint64_t kLongestResultBytes = (uint64_t{1} << 31) + 64;

// Names of the files of the run in `directory`. They need not exist.
std::string RawDirectory(const std::string& directory);
std::string RawRunPath(const std::string& directory);
std::string RawPhasePath(const std::string& directory, uint32_t index);
// The cache that is computed from these files and read instead of them (coordinator/saved_run/report_cache.h).
std::string ReportCachePath(const std::string& directory);
// Returns the paths of all phases that exist, in the order of their numbers. Ignores other files.
std::vector<std::string> RawPhasePaths(const std::string& directory);
// Returns the number in the name. REQUIRES: a path of RawPhasePath or RawPhasePaths.
uint32_t IndexOfRawPhase(const std::string& path);

// Files are replaced atomically. A run is durable when it is written; a phase only when the caller has synced its file
// and the directory. `run_number`: RunRecord.run_number. Internal: the record is over 2 GiB. Otherwise the code of the
// errno (ErrnoStatus).
// Returns the digest of what was written, which is computed in memory.
absl::StatusOr<v1::FileDigest> SaveRawRun(const std::string& directory, const v1::RunRecord& run);
// Returns the digest that SaveRawRun would.
v1::FileDigest DigestOfRawRun(const std::string& directory, const v1::RunRecord& run);
absl::StatusOr<v1::FileDigest> SaveRawPhase(const std::string& path, uint64_t run_number,
                                            const v1::PhaseRecord& phase);

// DataLoss: the file is truncated, damaged, not from this program, or (a phase) from another run or position. The
// message names it. Phases that versions before this format wrote do not name their run, so that is not checked.
// `digest`: if not null, set to that of the file as it was read. `phase` is replaced, and undefined after an error.
absl::StatusOr<v1::RunRecord> LoadRawRun(const std::string& directory, v1::FileDigest* digest = nullptr);
absl::Status LoadRawPhase(const std::string& path, uint64_t run_number, v1::PhaseRecord& phase,
                          v1::FileDigest* digest = nullptr);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_RAW_FILES_H_
