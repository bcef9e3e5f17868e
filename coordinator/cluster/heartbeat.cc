#include "coordinator/cluster/heartbeat.h"

#include <ctime>

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "common/process/thread.h"

namespace iobench {
namespace {

int64_t BoottimeNowNs() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

}  // namespace

std::optional<v1::Standstill> StandstillWatch::Beat(int64_t monotonic_ns, int64_t boottime_ns) {
  const std::optional<int64_t> before_ns = std::exchange(monotonic_ns_, monotonic_ns);
  const int64_t absence_ns = boottime_ns - std::exchange(boottime_ns_, boottime_ns);
  if (!before_ns || absence_ns < kShortestNs) return std::nullopt;
  v1::Standstill standstill;
  standstill.set_begin_coord_ns(*before_ns);
  standstill.set_seconds(SecondsFrom(absence_ns));
  standstill.set_suspended_s(SecondsFrom(std::max<int64_t>(0, absence_ns - (monotonic_ns - *before_ns))));
  return standstill;
}

std::shared_ptr<Heartbeat> Heartbeat::Start() {
  std::shared_ptr<Heartbeat> heartbeat(new Heartbeat());
  auto thread = StartThread([self = heartbeat.get()] { self->Run(); });
  if (!thread.ok()) return nullptr;
  heartbeat->thread_ = *std::move(thread);
  return heartbeat;
}

Heartbeat::~Heartbeat() {
  {
    MutexLock lock(mutex_);
    ends_ = true;
  }
  ending_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::Run() {
  MutexLock lock(mutex_);
  while (!ends_) {
    Beat();
    ending_.WaitUntil(mutex_, MonotonicNowNs() + StandstillWatch::kBeatNs,
                      [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return ends_; });
  }
}

void Heartbeat::Beat() {
  std::optional<v1::Standstill> standstill = watch_.Beat(MonotonicNowNs(), BoottimeNowNs());
  if (standstill.has_value()) noticed_.push_back(*std::move(standstill));
}

std::vector<v1::Standstill> Heartbeat::Take() {
  MutexLock lock(mutex_);
  Beat();
  return std::exchange(noticed_, {});
}

}  // namespace iobench
