// Validates the parts of a phase. The coordinator checks plans with these functions; a worker checks each request with
// them before it acts. Each returns InvalidArgument with a message for the author of the plan.
#ifndef COMMON_MODEL_PHASE_CHECK_H_
#define COMMON_MODEL_PHASE_CHECK_H_

#include "absl/status/status.h"
#include "common/model/operation.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Upper limits of what a plan may ask for. The worker checks them itself, so that a wrong request cannot exhaust memory
// or threads of a client.
inline constexpr uint64_t kLargestRecordBytes = uint64_t{1} << 30;
inline constexpr uint32_t kMaxLanesPerWorker = 4096;

// Refuses times outside 0 to 10^7 s, --time together with --deadline, --wear-out without a deadline, and a warm-up that
// leaves nothing to measure.
absl::Status CheckStop(const v1::StopRule& stop);
// Refuses pauses and paces that are no sensible times, options that lack the one they refine (-+J without -J, a burst
// pause without a burst), and processor caches of over 4 GiB.
absl::Status CheckBetween(const v1::Between& between);
// Engine sim: that its parameters are right. Other engines have none.
absl::Status CheckSimulated(const v1::Operation& operation);
// Also that nothing else determines when its ops begin.
absl::Status CheckArrivals(const v1::Operation& operation, const v1::StopRule& stop);
// Refuses trees without items, with more than 10^8 items per lane or 10^6 directories, deeper than 20 levels, or with
// file sizes or attributes that contradict each other or are too large. It checks sizes only; whether they suit the
// operation is checked by the coordinator.
absl::Status CheckTree(const v1::Tree& tree);
// Refuses percentages over 100 and a -V pattern that is not one byte.
absl::Status CheckPercents(const v1::DataContent& data);
// Refuses more than 4096 ops in flight per lane. 0 is valid and means 1.
absl::Status CheckDepth(uint32_t depth);
// Refuses a read percentage over 100, and a mix by lane without a percentage or whose number of readers has no mix by
// lane to apply to. Also refuses read-only and write-only lanes in operations that do not mix reads and writes.
absl::Status CheckMix(const OperationSpec& spec, const v1::Operation& operation);

// Refuses a spreading of workers (Phase.spreading) next to assignments that select workers, groups without clients or
// without assignments, and over 10^6 clients.
absl::Status CheckSpreading(const v1::Phase& phase);

// Refuses traces (-X, -Y) of metadata operations, and replaying in operations or files that cannot follow one.
absl::Status CheckTrace(const OperationSpec& spec, const v1::FileLayout& files, const v1::Trace& trace);

}  // namespace iobench

#endif  // COMMON_MODEL_PHASE_CHECK_H_
