// A capacity measurement in the result directory of its run: raw/capacity.pb, capacity.json and its page.
#ifndef COORDINATOR_REPORT_CAPACITY_SAVED_CAPACITY_H_
#define COORDINATOR_REPORT_CAPACITY_SAVED_CAPACITY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/capacity.pb.h"

namespace iobench {

// Whether the run in the directory was a capacity measurement.
bool HasSavedCapacity(const std::string& directory);

// NotFound: there is none. Unavailable: the file system does not answer. DataLoss: the file is damaged.
absl::StatusOr<v1::CapacityReport> ReadSavedCapacity(const std::string& directory);

// Replaces what an earlier call wrote. Tries all files; returns the first error, which names the file. AlreadyExists: a
// page that is not ours is in the place of this one, and is left alone.
absl::Status SaveCapacity(const v1::CapacityReport& report, const std::string& directory);

// What SaveCapacity writes for people and programs: "report.html", "capacity.json".
std::vector<std::string> CapacityFileNames();

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CAPACITY_SAVED_CAPACITY_H_
