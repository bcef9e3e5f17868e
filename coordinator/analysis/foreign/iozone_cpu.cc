#include "coordinator/analysis/foreign/iozone_cpu.h"

#include <algorithm>
#include <cmath>

#include "common/not_a_number.h"

namespace iobench {
namespace {

template <typename Use>
void ForEachIozoneLane(const v1::PhaseReport& phase, Use use) {
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    for (const v1::WorkerPhaseReport& worker : client.workers()) {
      for (const v1::LanePhaseReport& lane : worker.lanes()) {
        if (CountsForIozone(lane)) use(lane);
      }
    }
  }
}

IozoneCpu WithPercent(IozoneCpu cpu) {
  cpu.percent = cpu.wall_s > 0 ? 100 * cpu.cpu_s / cpu.wall_s : 0;
  return cpu;
}

}  // namespace

bool CountsForIozone(const v1::LanePhaseReport& lane) {
  return !lane.failed() && !lane.sat_out();
}

IozoneCpu IozoneCpuOf(const v1::LanePhaseReport& lane) {
  IozoneCpu cpu{.wall_s = lane.end_s() - lane.start_us() / 1e6, .cpu_s = lane.cpu_user_s() + lane.cpu_system_s()};
  if (!(cpu.wall_s > 0)) cpu.wall_s = 0;  // a lane that did nothing
  // As in IOzone. CPU time includes the close after the region, which matters in phases of less than a millisecond.
  cpu.wall_s = std::max(cpu.wall_s, cpu.cpu_s);
  return WithPercent(cpu);
}

IozoneCpu IozoneCpuOf(const v1::PhaseReport& phase) {
  IozoneCpu cpu;
  ForEachIozoneLane(phase, [&](const v1::LanePhaseReport& lane) {
    const IozoneCpu own = IozoneCpuOf(lane);
    cpu.wall_s = std::max(cpu.wall_s, own.wall_s);
    cpu.cpu_s += own.cpu_s;
  });
  return WithPercent(cpu);
}

double LeastMovedBytes(const v1::PhaseReport& phase) {
  double least = kNaN;
  ForEachIozoneLane(phase, [&](const v1::LanePhaseReport& lane) {
    least = std::fmin(least, static_cast<double>(lane.measured_bytes()));
  });
  return least;
}

double LeastMovedOps(const v1::PhaseReport& phase) {
  double least = kNaN;
  ForEachIozoneLane(phase, [&](const v1::LanePhaseReport& lane) {
    least = std::fmin(least, static_cast<double>(lane.measured_ops()));
  });
  return least;
}

}  // namespace iobench
