// Where a saved run that ended early can be resumed (`run --resume OUT`).
#ifndef COORDINATOR_SAVED_RUN_RESUME_POINT_H_
#define COORDINATOR_SAVED_RUN_RESUME_POINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/saved_run/run_part.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct ResumePoint {
  std::string directory;
  v1::RunRecord run;  // as saved
  // What is left to run, from the phase after the last that is finished. A phase that was interrupted, or in which a worker
  // was lost or refused, is run again if it is the last that was saved; so is each phase whose raw file is missing or
  // damaged.
  RunPart part;
  std::vector<std::string> damaged;  // for display: a line for each phase of part.again, and what is wrong with its file
  std::string raw_files;             // their state when they were read: RawFilesState
  // The clients without which the run goes on (--without), and their workers by number, ascending.
  std::vector<std::string> without;
  std::vector<uint32_t> absent_workers;
  // --max-duration shortened the saved phase that is run again: the last of run.shortened_phases().
  bool repeats_shortened = false;
  bool complete = false;  // the run has ended, and every phase was run: there is nothing to do
  bool crashed =
      false;  // it has not ended: its coordinator was killed or cut off, and its workers may still be there
  std::string ended_by;  // what ended the run, for display: "interrupted"
};

// Reads the saved run, with all its phases. `version`: of the program that resumes it. NotFound: there is none. DataLoss:
// its run.pb is damaged. Another code: a file cannot be read, so that nobody knows what it holds. FailedPrecondition:
// another version of the program began it. Changes nothing. REQUIRES: this process has the directory (ResultLock).
absl::StatusOr<ResumePoint> FindResumePoint(const std::string& directory, const std::string& version);

// Goes on without these clients (names as in reports) and their workers. InvalidArgument: the run has no such client, or
// no other; the message lists those that it has.
absl::Status LeaveOutClients(const std::vector<std::string>& clients, ResumePoint& point);

// FailedPrecondition: the raw files are no longer as FindResumePoint has read them.
absl::Status CheckUnchanged(const ResumePoint& point);

// Returns the run ids of the data that the saved parts of this run have written.
std::vector<uint64_t> RunIdsOf(const v1::RunRecord& saved);

// Whether --max-duration has shortened a phase that was not interrupted. `planned`: the phase as the plan has it.
bool WasShortened(const v1::Phase& planned, const v1::PhaseRecord& record);

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_RESUME_POINT_H_
