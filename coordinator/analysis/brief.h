// What the end of a run needs of a phase: the coordinator keeps this of each, however many there are.
#ifndef COORDINATOR_ANALYSIS_BRIEF_H_
#define COORDINATOR_ANALYSIS_BRIEF_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// The phase's own figures, without its clients and lanes, steps, errors and stragglers. Its marks are those of the
// phase and of its clients (whose name is the subject then), one of each code. SummarizeRepetitions, NoteScore and the
// console's footer say the same of briefs as of whole phases.
// `keeps_workers`: with its clients and workers, too, of which nothing is known but that they took part.
v1::PhaseReport BriefOf(const v1::PhaseReport& phase, bool keeps_workers = false);

// Whether a phase is for some workers only, so that its brief has to say which.
bool SelectsWorkers(const v1::Phase& planned);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_BRIEF_H_
