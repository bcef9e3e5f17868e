// Notices when this process stood still: stopped, on a host that was suspended, or without a processor.
#ifndef COORDINATOR_CLUSTER_HEARTBEAT_H_
#define COORDINATOR_CLUSTER_HEARTBEAT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "common/mutex.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Pure: takes the two clocks at each beat. CLOCK_BOOTTIME goes on while the host is suspended, CLOCK_MONOTONIC does not.
class StandstillWatch {
 public:
  // Beats are this far apart unless nothing runs, and this late at least where the process stood still.
  static constexpr int64_t kBeatNs = 250'000'000;
  static constexpr int64_t kShortestNs = 2'000'000'000;

  // Returns the time since the last beat if that was too long.
  std::optional<v1::Standstill> Beat(int64_t monotonic_ns, int64_t boottime_ns);

 private:
  std::optional<int64_t> monotonic_ns_;
  int64_t boottime_ns_ = 0;
};

// A thread that does nothing but beat, so that a thread that is busy or hangs in a call is not taken for a process that
// stood still. Callable from any thread.
class Heartbeat {
 public:
  // Returns null if no thread can be started; then nothing is noticed.
  static std::shared_ptr<Heartbeat> Start();
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Returns what was noticed since the last call. Beats itself, in case this thread is the first that runs again.
  std::vector<v1::Standstill> Take();

 private:
  Heartbeat() = default;
  void Run();
  void Beat() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  CondVar ending_;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  StandstillWatch watch_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::Standstill> noticed_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_HEARTBEAT_H_
