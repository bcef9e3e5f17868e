// What the things in a data directory are called, and which of those names a manifest accounts for.
#ifndef WORKER_DATA_NAMES_H_
#define WORKER_DATA_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "iobench/v1/result.pb.h"

namespace iobench {

inline constexpr char kSharedFileName[] = "shared";
inline constexpr char kManifestName[] = "manifest.json";

std::string LaneFileName(uint32_t lane, uint32_t file_index);  // "lane-000003.0"

// The name of a new file that is to become a manifest: "manifest.json.tmp-HOST-PID-COUNT".
std::string NewTemporaryName();
bool IsTemporaryName(std::string_view name);

// What an NFS client calls a file that was removed while something had it open; it goes away by itself.
bool IsSillyName(std::string_view name);

// Whether a run with this manifest may have made a data file of that name: a lane's or the shared one. A manifest of a
// version that did not say which names it uses accounts for any file of its lanes.
bool HasDataFile(const v1::Manifest& manifest, std::string_view name);

// The same for a tree of metadata operations.
bool HasTree(const v1::Manifest& manifest, std::string_view name);

}  // namespace iobench

#endif  // WORKER_DATA_NAMES_H_
