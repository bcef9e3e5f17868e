// Checks that a saved run is what was measured (`report --verify DIR`).
#ifndef COORDINATOR_SAVED_RUN_VERIFY_H_
#define COORDINATOR_SAVED_RUN_VERIFY_H_

#include <ostream>
#include <string>

#include "absl/status/statusor.h"

namespace iobench {

// Prints one line per check, "ok" or "FAILED": that raw files, the plan and their hashes in result.json agree; that
// result.json and the CSV files are what the raw files give. Says whether this program is the one that ran, because
// another version may compute figures in another way. Returns whether all checks passed. Errors are those of
// SavedRun::Open. Hashes reveal changes that were made by accident or in one place; a change of raw files, hashes and
// figures together is revealed only by a hash that was handed over before.
absl::StatusOr<bool> VerifySavedRun(const std::string& directory, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_VERIFY_H_
