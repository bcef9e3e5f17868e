#include "coordinator/live/observer_list.h"

#include <algorithm>

#include "common/time.h"

namespace iobench {

ObserverList::ObserverList(const std::vector<RunObserver*>& observers) {
  for (RunObserver* observer : observers) {
    const int64_t interval_ns = observer->progress_interval_ns();
    entries_.push_back({observer, SecondsFrom(interval_ns)});
    if (interval_ns <= 0) continue;
    interval_ns_ = interval_ns_ == 0 ? interval_ns : std::min(interval_ns_, interval_ns);
  }
}

bool ObserverList::shows_latency() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.observer->shows_latency(); });
}

void ObserverList::WorkersJoin(uint32_t joined, uint32_t count) {
  for (const Entry& entry : entries_) entry.observer->WorkersJoin(joined, count);
}

void ObserverList::RunStarts(const v1::RunReport& report) {
  for (const Entry& entry : entries_) entry.observer->RunStarts(report);
}

void ObserverList::SpaceFills(uint32_t percent, uint64_t bytes) {
  for (Entry& entry : entries_) entry.observer->SpaceFills(percent, bytes);
}

void ObserverList::PhasePrepares(const PhaseProgress& progress) {
  for (Entry& entry : entries_) {
    entry.next_s = 0;
    entry.observer->PhasePrepares(progress);
  }
}

void ObserverList::PhaseMoves(const PhaseProgress& progress) {
  // Calls come a little late, never early: a tolerance of half a poll interval keeps an observer in step.
  const double tolerance_s = SecondsFrom(interval_ns_) / 2;
  for (Entry& entry : entries_) {
    if (entry.interval_s <= 0) continue;
    if (entry.next_s == 0) entry.next_s = entry.interval_s;
    if (progress.elapsed_s < entry.next_s - tolerance_s) continue;
    while (entry.next_s - tolerance_s <= progress.elapsed_s) entry.next_s += entry.interval_s;
    entry.observer->PhaseMoves(progress);
  }
}

void ObserverList::FilesAreFinished(const Unfinished& unfinished) {
  for (Entry& entry : entries_) entry.observer->FilesAreFinished(unfinished);
}

void ObserverList::PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) {
  for (const Entry& entry : entries_) entry.observer->PhaseEnds(report, phase);
}

}  // namespace iobench
