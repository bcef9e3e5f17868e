// Converts a problem to a report's error.
#ifndef COORDINATOR_ANALYSIS_ERROR_REPORT_H_
#define COORDINATOR_ANALYSIS_ERROR_REPORT_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the problem as an error of the run as a whole: worker and lane are -1, and the client is empty. If it belongs
// to a client, worker or lane, the caller sets these. Pure.
inline v1::ErrorReport ErrorFrom(const v1::Problem& problem) {
  v1::ErrorReport error;
  error.set_worker(-1);
  error.set_lane(-1);
  error.set_operation(problem.operation());
  error.set_file(problem.file());
  error.set_offset(problem.offset());
  error.set_errno_value(problem.errno_value());
  error.set_message(problem.message());
  return error;
}

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_ERROR_REPORT_H_
