// What a run says last: where its results are.
#ifndef COORDINATOR_REPORT_RESULTS_LINE_H_
#define COORDINATOR_REPORT_RESULTS_LINE_H_

#include <string>

#include "absl/status/status.h"

namespace iobench {

// `saved`: whether all of the run could be written into `directory`. Where not, only what is there is named, and what
// is not; a file that is there may then be older than the end of the run. Printable, without a line end.
std::string ResultsLine(const std::string& directory, const absl::Status& saved);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_RESULTS_LINE_H_
