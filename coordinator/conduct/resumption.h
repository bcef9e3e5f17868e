// Compares the workers of a run that is resumed with those that began it. Pure.
#ifndef COORDINATOR_CONDUCT_RESUMPTION_H_
#define COORDINATOR_CONDUCT_RESUMPTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/saved_run/resume_point.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns what differs in a way that the report names: kernels, processors, memory, mount options, the transport.
// `now` has the transport, workers, targets and the plan's paths of the resumed run. FailedPrecondition: the number of
// workers, their hosts, the paths or the file systems differ, so that its figures would not belong to the clients of
// the report. The message names all of these differences.
absl::StatusOr<std::vector<std::string>> DifferencesSince(const v1::RunRecord& saved,
                                                          const v1::RunRecord& now);

// Returns the record with which the run resumes: as saved, without how it ended. Its last resumption is this one.
// `max_duration_s`: of the part that begins now; 0: no limit.
v1::RunRecord ResumedRecord(const ResumePoint& point, const std::string& resumed_at, uint64_t run_id,
                            double max_duration_s);

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_RESUMPTION_H_
