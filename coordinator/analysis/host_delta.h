// One client's counters, put together from what its workers read. Workers of one client share counters: each is taken
// once. A counter that is not there stays absent, never 0.
#ifndef COORDINATOR_ANALYSIS_HOST_DELTA_H_
#define COORDINATOR_ANALYSIS_HOST_DELTA_H_

#include <span>

#include "iobench/v1/result.pb.h"

namespace iobench {

// The host's counters from the first worker that has any; per target the first reading; disk_read_bytes and
// disk_write_bytes are each process's own, so they are sums over processes (one may hold several workers), absent unless
// every worker has them.
// REQUIRES: the workers' numbers are under run.workers_size().
v1::HostDelta ClientDelta(const v1::RunRecord& run, std::span<const v1::WorkerPhaseResult* const> workers);

// Of the whole host, all processors = 100; NaN where it is not known. Waiting for I/O is idle.
double CpuPercent(const v1::HostDelta& host);  // user and system
double StealPercent(const v1::HostDelta& host);

// The fuller direction of all interfaces together against their link speeds; NaN where either is not known.
double NetworkPercent(const v1::HostDelta& host);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_HOST_DELTA_H_
