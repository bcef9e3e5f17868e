// Where a saved run that ended early can be resumed (`run --resume OUT`).
#ifndef COORDINATOR_SAVED_RUN_RESUME_POINT_H_
#define COORDINATOR_SAVED_RUN_RESUME_POINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct ResumePoint {
  std::string directory;
  v1::RunRecord run;  // as saved
  // The first phase to run: the one after the last that is finished. A phase that was interrupted, or in which a worker
  // was lost or refused, is run again if it is the last that was saved.
  uint32_t first_phase = 0;
  // The earlier part may have begun the first phase, and may have left files of it such as traces.
  bool begun_before = false;
  // --max-duration shortened the saved phase that is run again: the last of run.shortened_phases().
  bool repeats_shortened = false;
  bool complete = false;  // the run has ended, and every phase was run: there is nothing to do
  bool crashed =
      false;  // it has not ended: its coordinator was killed or cut off, and its workers may still be there
  std::string ended_by;  // what ended the run, for display: "interrupted"
};

// The program that resumes a run, for comparison with the one that began it.
struct ResumingProgram {
  std::string version;
  std::string host;
  std::string boot_id;
};

// Reads the saved run, with all its phases. NotFound: there is none. DataLoss: a file is missing or damaged.
// FailedPrecondition: another version of the program began it, or its coordinator is still running, or (without
// `force`) may be, on another host. Changes nothing.
absl::StatusOr<ResumePoint> FindResumePoint(const std::string& directory, const ResumingProgram& here,
                                            bool force);

// Returns the run ids of the data that the saved parts of this run have written.
std::vector<uint64_t> RunIdsOf(const v1::RunRecord& saved);

// Whether --max-duration has shortened a phase that was not interrupted. `planned`: the phase as the plan has it.
bool WasShortened(const v1::Phase& planned, const v1::PhaseRecord& record);

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_RESUME_POINT_H_
