// A worker: accepts requests, runs phases on its lanes and sends events. control.proto lists its states and
// transitions.
#ifndef WORKER_WORKER_SERVICE_H_
#define WORKER_WORKER_SERVICE_H_

#include <memory>

#include "common/transport/transport.h"
#include "worker/client/worker_options.h"

namespace iobench {

// Creates the worker of this process and probes its host, which takes some milliseconds. Handle may be called from any
// thread, but by only one at a time; it never blocks. Shutdown and the destructor join the lane threads; lanes stuck in
// the kernel are abandoned after 5 s (their memory is leaked intentionally). A request after Shutdown starts afresh, as
// after joining another coordinator.
std::unique_ptr<WorkerHandler> MakeWorkerService(const WorkerOptions& options);

}  // namespace iobench

#endif  // WORKER_WORKER_SERVICE_H_
