// The last line of a run's output: where the results are.
#ifndef COORDINATOR_REPORT_CONSOLE_RESULTS_LINE_H_
#define COORDINATOR_REPORT_CONSOLE_RESULTS_LINE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace iobench {

// `saved`: the status of writing the run to `directory`. After an error, the line names the files that exist and those
// that are missing, which it finds out from the directory; an existing file may then be older than the end of the run.
// `documents`: further files in `directory`, of which those that exist are named first. Printable, without line end.
std::string ResultsLine(const std::string& directory, const absl::Status& saved,
                        const std::vector<std::string>& documents = {});

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_RESULTS_LINE_H_
