// The manifest of a data directory as a file in it.
#ifndef WORKER_DATA_DIRECTORY_MANIFEST_FILE_H_
#define WORKER_DATA_DIRECTORY_MANIFEST_FILE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"
#include "worker/storage/directory.h"

namespace iobench {

// `data` is an open data directory. The functions may block as long as the file system does.

// NotFound: there is no manifest. InvalidArgument, Unimplemented: there is one, but it is not a readable manifest of
// ours; IsUnreadable is true for both.
absl::StatusOr<v1::Manifest> ReadManifest(const Directory& data);
bool IsUnreadable(const absl::Status& status);

// Creates the manifest, which appears atomically and only once. AlreadyExists: there is one.
absl::Status CreateManifest(const Directory& data, const v1::Manifest& manifest);

// Replaces the manifest atomically.
absl::Status ReplaceManifest(const Directory& data, const v1::Manifest& manifest);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_MANIFEST_FILE_H_
