#include "worker/simulated/simulated_workers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/time.h"
#include "worker/client/client_probe.h"
#include "worker/simulated/simulated_phase.h"
#include "worker/worker_service.h"

namespace iobench {
namespace {

// From -10 s to 10 s, different for neighbours.
WorkerClock ClockOf(uint32_t index) {
  constexpr int64_t kSpreadMs = 20'001;
  return WorkerClock((int64_t{index} * 7919 % kSpreadMs - kSpreadMs / 2) * 1'000'000);
}

}  // namespace

std::vector<std::unique_ptr<WorkerHandler>> MakeSimulatedWorkers(uint32_t count, SimulationLoop& loop) {
  const SessionParts parts = {.make_tasks = [&loop] { return loop.MakeRunner(); },
                              .make_phase =
                                  [&loop](const v1::Prepare& prepare, const WorkerClock& clock,
                                          double loop_ns, PhaseControl::EventTaker take_event) {
                                    return std::make_shared<SimulatedPhase>(prepare, clock, loop_ns,
                                                                            std::move(take_event), loop);
                                  }};
  v1::WorkerFacts facts = ProbeWorker(WorkerOptions());
  const std::string boot_id = facts.boot_id();
  std::vector<std::unique_ptr<WorkerHandler>> workers;
  workers.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    facts.set_host(absl::StrCat("sim-", facts.pid(), "-", i));
    facts.set_boot_id(absl::StrCat(boot_id, " ", facts.host()));
    workers.push_back(MakeWorkerService(facts, ClockOf(i), parts));
  }
  return workers;
}

}  // namespace iobench
