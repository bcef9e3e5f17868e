// Validates the parts of a phase. The coordinator checks plans with these functions; a worker checks each request with
// them before it acts. Each returns InvalidArgument with a message for the author of the plan.
#ifndef COMMON_MODEL_PHASE_CHECK_H_
#define COMMON_MODEL_PHASE_CHECK_H_

#include "absl/status/status.h"
#include "common/model/operation.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Upper limits for plans. The worker checks them itself, so that a wrong request cannot exhaust a client's memory or
// threads.
inline constexpr uint64_t kLargestRecordBytes = uint64_t{1} << 30;
inline constexpr uint32_t kMaxLanesPerWorker = 4096;
inline constexpr uint64_t kLargestDataBytes = uint64_t{1} << 62;    // 4 EiB: of a lane, and of all
inline constexpr uint64_t kMaxItemsPerLane = 100'000'000;           // the numbers in their names have eight digits
inline constexpr uint64_t kLargestTreeFileBytes = uint64_t{1} << 30;
inline constexpr uint32_t kMaxXattrBytes = 65'536;                  // Linux' XATTR_SIZE_MAX

// Refuses times outside 0 to 10^7 s, --time together with --deadline, --wear-out without a deadline, whole passes
// without --time, and a warm-up that leaves nothing to measure.
absl::Status CheckStop(const v1::StopRule& stop);
// Refuses pauses and paces out of range, options without the option that they refine (-+J without -J, a burst pause
// without a burst), and processor caches of over 4 GiB.
absl::Status CheckBetween(const v1::Between& between);
// Refuses invalid parameters of engine sim, and such parameters with any other engine.
absl::Status CheckSimulated(const v1::Operation& operation);
// Refuses rates outside 10^-4 to 10^9 ops/s, ramps without --time, invalid bursts, and options that also determine when
// ops begin or how many there are (-+O, -J, -+b, -Y, --wear-out).
absl::Status CheckArrivals(const v1::Operation& operation, const v1::StopRule& stop);
// Returns the shortest time limit that CheckArrivals accepts for all operations of the phase: the longest period of
// their bursts. 0: any.
double LeastSecondsOf(const v1::Phase& phase);
// Refuses trees without items, with more than 10^8 items per lane or 10^6 directories, deeper than 20 levels, or with
// file sizes or attributes that contradict each other or are too large. Only sizes are checked here; the coordinator
// checks whether they suit the operation.
absl::Status CheckTree(const v1::Tree& tree);
// Refuses percentages over 100 and a -V pattern that is not one byte.
absl::Status CheckPercents(const v1::DataContent& data);
// Refuses more than 4096 ops in flight per lane. 0 is valid and means 1.
absl::Status CheckDepth(uint32_t depth);
// Refuses a read percentage over 100, a mix by lane without a percentage, a number of reader lanes without a mix by
// lane, and a mix by lane in operations whose lanes cannot only read or only write.
absl::Status CheckMix(const OperationSpec& spec, const v1::Operation& operation);

// For operations with several record sizes, refuses sizes and shares that are out of range or that contradict each other or
// record_bytes, and operations whose ops cannot have several sizes.
absl::Status CheckRecordShares(const OperationSpec& spec, const v1::Operation& operation);

// For operations in random order that use several records in a row, refuses numbers that do not fit into a file of
// `file_bytes`, other operations, several record sizes, and traces.
absl::Status CheckBurstRecords(const OperationSpec& spec, const v1::Operation& operation, uint64_t file_bytes);

// For MPI-IO, refuses what CheckMpiHints refuses, views of files that are not interleaved, and collective I/O that the
// ranks could not do together: with several lanes per rank, files of their own, reads beside writes.
absl::Status CheckMpiIo(const OperationSpec& spec, const v1::Operation& operation, const v1::FileLayout& files,
                        const v1::TimedRegion& region, const v1::StopRule& stop, uint32_t lanes_per_worker);

// For phases with a spreading of workers (Phase.spreading), refuses assignments that select workers, weights outside 0
// to 10^12, groups without clients or without assignments, and more than 10^6 clients.
absl::Status CheckSpreading(const v1::Phase& phase);

// Refuses traces (-X, -Y, -Q) of metadata operations, and replaying (-Y) with operations, file layouts or data that
// cannot follow a trace.
absl::Status CheckTrace(const OperationSpec& spec, const v1::FileLayout& files, const v1::DataContent& data,
                        const v1::Trace& trace);

}  // namespace iobench

#endif  // COMMON_MODEL_PHASE_CHECK_H_
