// One client's counters, put together from what its workers read. Workers of one client share counters: each is taken
// once. A counter that is not there stays absent, never 0.
#ifndef COORDINATOR_ANALYSIS_HOST_DELTA_H_
#define COORDINATOR_ANALYSIS_HOST_DELTA_H_

#include <span>

#include "iobench/v1/result.pb.h"

namespace iobench {

// The host's counters from the worker whose lanes ended last: all began to count before the common start. Per target, too.
// disk_read_bytes and disk_write_bytes are each process's own, so they are sums over processes (one may hold several
// workers), absent unless every worker has them.
// REQUIRES: the workers' numbers are under run.workers_size().
v1::HostDelta ClientDelta(const v1::RunRecord& run, std::span<const v1::WorkerPhaseResult* const> workers);

// Of the whole host, all processors = 100; NaN where it is not known. Waiting for I/O is idle.
double CpuPercent(const v1::HostDelta& host);  // user and system
double StealPercent(const v1::HostDelta& host);

// What the client's workers' own processes used of it, in the same measure. A process may hold several workers.
double OwnCpuPercent(const v1::RunRecord& run, std::span<const v1::WorkerPhaseResult* const> workers,
                     const v1::HostDelta& host);

// The fuller direction of an interface against its link's speed; NaN where that is not known.
double NetworkPercent(const v1::HostDelta& host, const v1::NicDelta& nic);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_HOST_DELTA_H_
