// The files that IOzone writes beside its report: a histogram (-+z) and a log of times (-+T) for each lane.
#ifndef COORDINATOR_REPORT_IOZONE_IOZONE_FILES_H_
#define COORDINATOR_REPORT_IOZONE_IOZONE_FILES_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// True if these options ask for such files.
bool HasIozoneFiles(const v1::IozoneOutput& output);

// Returns the name of a file in `directory` that is named like one of these files, the first by name; empty: there is
// none, or the options do not ask for such files.
std::string FileNamedLikeIozones(const v1::IozoneOutput& output, const std::string& directory);

// Writes Iozone_histogram_child_N.txt and Child_N.log for every lane N, as far as the run's options ask for them, into
// `directory`; replaces those of an earlier run. Errors name the file.
absl::Status WriteIozoneFiles(const v1::RunReport& report, const std::string& directory);

// What such a file says about one phase of a lane: "Child: 0 Op: write" and its bands; two lines with the times at
// which it began and ended the test, in UTC. Empty if the lane took no part.
std::string HistogramText(const v1::PhaseReport& phase, const v1::LanePhaseReport& lane);
std::string LogText(const v1::PhaseReport& phase, const v1::LanePhaseReport& lane);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_IOZONE_IOZONE_FILES_H_
