// manifest.json: says which run owns the data in a data directory.
#ifndef WORKER_DATA_DIRECTORY_MANIFEST_H_
#define WORKER_DATA_DIRECTORY_MANIFEST_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The fields "program" and "format", by which a manifest is recognised. A manifest of another format is left alone,
// together with its data.
inline constexpr char kManifestProgram[] = "cluster-iobench";
inline constexpr uint32_t kManifestFormat = 1;

// Field names are those of v1.Manifest; numbers are JSON numbers; the state is "active" or "kept". Ends with a newline.
std::string ManifestToJson(const v1::Manifest& manifest);

// InvalidArgument: not JSON, not from this program, or a field has the wrong type. Unimplemented: from this program,
// but in a format that this version does not know.
absl::StatusOr<v1::Manifest> ManifestFromJson(std::string_view json);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_MANIFEST_H_
