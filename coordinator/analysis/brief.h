// The brief of a phase: what the end of a run needs to know about it. The coordinator keeps a brief of every phase.
#ifndef COORDINATOR_ANALYSIS_BRIEF_H_
#define COORDINATOR_ANALYSIS_BRIEF_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// kKept: the brief has clients and workers too, with nothing but the fact that they took part.
enum class WorkersInBrief { kLeftOut, kKept };

// Returns the phase's own figures, without its clients and lanes, steps, errors and stragglers. It has one mark of each
// code from the phase and its clients (with the client's name as subject). SummarizeRepetitions, UpdateScore and the
// console's footer give the same results for briefs as for complete phases.
v1::PhaseReport BriefOf(const v1::PhaseReport& phase, WorkersInBrief workers = WorkersInBrief::kLeftOut);

// True if only some workers take part in the phase, so that its brief has to say which.
bool SelectsWorkers(const v1::Phase& planned);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_BRIEF_H_
