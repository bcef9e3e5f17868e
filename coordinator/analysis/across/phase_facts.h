// What figures over several phases, and reports, need to know of one phase. Pure.
#ifndef COORDINATOR_ANALYSIS_ACROSS_PHASE_FACTS_H_
#define COORDINATOR_ANALYSIS_ACROSS_PHASE_FACTS_H_

#include <cstdint>
#include <string>

#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The rate of the headline in its unit: ops/s if headline_in_ops, otherwise bytes/s.
double HeadlineRate(const v1::PhaseReport& phase);

// The size of each lane's files, for users; of files that grow, the mean over the lanes. Phases are told apart by
// bytes_per_lane, which is what was asked for.
uint64_t FileBytesPerLane(const v1::PhaseReport& phase);

// Counts the workers in the phase's client tables, that is, those that took part, including lost ones. 0 for a brief
// without them.
uint32_t WorkerCount(const v1::PhaseReport& phase);

// How much of its link an interface used, 0 to 1: in the busier direction. NaN: the link's speed is unknown.
double LinkShare(const v1::ServerNic& nic);

// The path that all workers use in the phase (--each-path); empty: their own targets, or a damaged plan lacks it.
std::string OnlyTargetPath(const v1::Plan& plan, const v1::Phase& phase);

// The stride of the first assignment that has one; 0: none has.
uint32_t StrideOf(const v1::Phase& phase);

// The operation of the first assignment, or a default one if a damaged plan has none.
const v1::Operation& FirstOperationOf(const v1::Phase& phase);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_ACROSS_PHASE_FACTS_H_
