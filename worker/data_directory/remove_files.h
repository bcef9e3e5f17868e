// Removes the files of a data directory that a manifest accounts for, and notes what is not ours.
#ifndef WORKER_DATA_DIRECTORY_REMOVE_FILES_H_
#define WORKER_DATA_DIRECTORY_REMOVE_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"
#include "worker/storage/directory.h"

namespace iobench {

struct CleanReport {
  bool found = false;                      // there was a data directory of ours
  uint64_t removed_files = 0;              // data files, without the manifest
  std::vector<std::string> foreign_files;  // not touched: the first 10, with their paths
  std::string why_not_ours;  // why existing data is not ours: it has no readable manifest; otherwise
                             // empty
};

// Adds an entry of `data` that is not ours to the report, up to its limit.
void AddForeign(CleanReport& report, const Directory& data, std::string_view name);

enum class Temporaries { kRemove, kLeave };

// Removes the data files that the manifest accounts for. The manifest stays. After an error with a file, goes on with
// the others and returns the first error; ESTALE ends it at once.
absl::Status RemoveFiles(const Directory& data, const v1::Manifest& manifest, Temporaries temporaries,
                         CleanReport& report);

// Removes the files of --fill, which no run reads again, and with them the marks of the workers that have left them.
absl::Status RemoveFillFiles(const Directory& data, const v1::Manifest& manifest);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_REMOVE_FILES_H_
