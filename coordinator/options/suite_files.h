// The files of the suites, which are plans that come with the program (deploy/plans).
#ifndef COORDINATOR_OPTIONS_SUITE_FILES_H_
#define COORDINATOR_OPTIONS_SUITE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

// Returns the text of `--suite list`: each name with the first line of the file's comment. NotFound: there is no
// directory of plans. It is looked for next to the installed program (PREFIX/share/cluster-iobench/plans), then in the
// source tree that the program was built from. This holds for the functions below too.
absl::StatusOr<std::string> SuiteList();

// Returns the options of a suite that is a list of options ("options: -a"). Empty: the suite is a plan, or does not
// exist.
absl::StatusOr<std::vector<std::string>> SuiteOptions(const std::string& name);

// Returns the path of the suite's plan. NotFound: the message lists the suites.
absl::StatusOr<std::string> SuiteFile(const std::string& name);

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_SUITE_FILES_H_
