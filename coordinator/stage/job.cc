#include "coordinator/stage/job.h"

#include <algorithm>
#include <utility>

#include "common/process/last_resort.h"
#include "coordinator/process/signals.h"
#include "coordinator/stage/stage.h"
#include "worker/worker_service.h"

namespace iobench {

uint32_t LanesPerWorker(const Job& job) {
  return std::max({1u, job.plan.lanes_per_worker(), job.lanes_per_worker});
}

bool SaysWhere(const GivenOptions& given) {
  return given.Has("path") || given.Has("file") || given.Has("files");
}

int CarryOut(const Job& job, Transport& transport, uint32_t worker_count, JoinWatch join_watch) {
  WorkerOptions identity;
  identity.measure_costs = false;
  return job.carry_out({.transport = transport,
                        .worker_count = worker_count,
                        .interrupt = TheInterrupt(),
                        .coordinator = MakeWorkerService(identity)->Facts(),
                        .command = job.command,
                        .join_watch = std::move(join_watch),
                        .resume = job.resume,
                        .results_lock = job.results_lock});
}

int CarryOutConnected(const Job& job, Transport& transport, uint32_t worker_count, JoinWatch join_watch) {
  const int exit_code = CarryOut(job, transport, worker_count, std::move(join_watch));
  // Everything is saved, and only the connections are closed. A worker that was told to leave has 30 s.
  constexpr double kEndTakesS = 90;
  EndAfter(kEndTakesS, "cluster-iobench: the connections of the workers do not end; the results are complete\n",
           exit_code);
  return exit_code;
}

}  // namespace iobench
