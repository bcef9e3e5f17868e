// Combines several observers of one run into one. Each sees the progress at its own interval, from the same polls.
#ifndef COORDINATOR_LIVE_OBSERVER_LIST_H_
#define COORDINATOR_LIVE_OBSERVER_LIST_H_

#include <cstdint>
#include <vector>

#include "coordinator/live/run_observer.h"

namespace iobench {

// Workers are polled at the shortest interval of the list, so an observer with a longer one adds no polls.
class ObserverList final : public RunObserver {
 public:
  // The observers must outlive it; they are called in this order.
  explicit ObserverList(const std::vector<RunObserver*>& observers);

  void WorkersJoin(uint32_t joined, uint32_t count) override;
  void RunStarts(const v1::RunReport& report) override;
  void SpaceFills(uint32_t percent, uint64_t bytes) override;
  void PhasePrepares(const PhaseProgress& progress) override;
  void PhaseMoves(const PhaseProgress& progress) override;
  void FilesAreFinished(const Unfinished& unfinished) override;
  void PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) override;
  int64_t progress_interval_ns() const override { return interval_ns_; }
  bool shows_latency() const override;

 private:
  struct Entry {
    RunObserver* observer;
    double interval_s;  // 0: never
    double next_s = 0;  // when PhaseMoves is due, since T
  };
  std::vector<Entry> entries_;
  int64_t interval_ns_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_LIVE_OBSERVER_LIST_H_
