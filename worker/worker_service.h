// A worker: accepts requests, runs phases on its lanes and sends events. control.proto lists its states and
// transitions.
#ifndef WORKER_WORKER_SERVICE_H_
#define WORKER_WORKER_SERVICE_H_

#include <memory>

#include "common/clock.h"
#include "common/transport/transport.h"
#include "iobench/v1/result.pb.h"
#include "worker/client/worker_options.h"
#include "worker/phase_control.h"

namespace iobench {

// Creates the worker of this process and probes its host, which takes some milliseconds. Handle may be called from any
// thread, but by only one at a time; it never blocks. Shutdown and the destructor join the lane threads; lanes stuck in
// the kernel are abandoned after 0.5 s (their memory is leaked intentionally). A request after Shutdown starts afresh,
// as after joining another coordinator. `janitor`, if any, must outlive it.
std::unique_ptr<WorkerHandler> MakeWorkerService(const WorkerOptions& options, Janitor* janitor = nullptr);

// The same with given facts and parts.
std::unique_ptr<WorkerHandler> MakeWorkerService(v1::WorkerFacts facts, const WorkerClock& clock,
                                                 SessionParts parts);

}  // namespace iobench

#endif  // WORKER_WORKER_SERVICE_H_
