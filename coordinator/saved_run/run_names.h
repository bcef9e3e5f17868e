// Which saved runs the words of a command line mean.
#ifndef COORDINATOR_SAVED_RUN_RUN_NAMES_H_
#define COORDINATOR_SAVED_RUN_RUN_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

// Below the working directory: where runs are saved without --out, each in a directory that is named after its time.
inline constexpr char kResultsDirectory[] = "cluster-iobench.out";

// Returns the directories that `words` mean: each word, or the directory that holds the file of this name (DIR/result.json,
// DIR/raw/run.pb). Without words, the runs that are here, the newest last: the working directory if it is a run's, otherwise
// the `count` newest in kResultsDirectory, or all that there are. NotFound: there is none.
absl::StatusOr<std::vector<std::string>> RunsNamed(const std::vector<std::string>& words, size_t count);

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_RUN_NAMES_H_
