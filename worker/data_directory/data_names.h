// The names in a data directory, and which of them a manifest accounts for.
#ifndef WORKER_DATA_DIRECTORY_DATA_NAMES_H_
#define WORKER_DATA_DIRECTORY_DATA_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "iobench/v1/result.pb.h"

namespace iobench {

// The file that all lanes of a target share (-+V), and the manifest.
inline constexpr char kSharedFileName[] = "shared";
inline constexpr char kManifestName[] = "manifest.json";

// Returns the name of one of a lane's files, by the lane that owns it: "lane-000003.0".
std::string LaneFileName(uint32_t lane, uint32_t file_index);

// Returns the name of a file that fills the file system, by the lane that writes it: "fill-000003.0".
std::string FillFileName(uint32_t lane, uint32_t file_index);
bool IsFillFile(std::string_view name);

// Returns the name of a new file that will become a manifest: "manifest.json.tmp-HOST-PID-COUNT".
std::string NewTemporaryName();
bool IsTemporaryName(std::string_view name);

// Returns the name of the mark of a worker that has left the data because its coordinator is gone, by the first of its
// lanes: "left-000003".
std::string LeftMarkName(uint32_t lane);
bool IsLeftMark(std::string_view name);

// True for names that an NFS client gives to files removed while open (".nfs…"); they disappear on their own.
bool IsSillyName(std::string_view name);

// True if a run with this manifest may have created a data file of that name: a lane's file, the shared one, a file
// that fills the file system, or a mark of a worker that has left. The manifest of a version that did not record its
// names accounts for any file of its lanes.
bool HasDataFile(const v1::Manifest& manifest, std::string_view name);

// The same for a tree of metadata operations.
bool HasTree(const v1::Manifest& manifest, std::string_view name);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_DATA_NAMES_H_
