#include "worker/sampler/sampler.h"

#include <cassert>
#include <utility>

#include "common/clock.h"
#include "common/mutex.h"
#include "common/process/thread.h"

namespace iobench {
namespace {

// Some minutes at the default interval; then every other reading is dropped.
constexpr size_t kMaxReadings = 2000;

}  // namespace

void ReadingLog::Add(ServerReading reading) {
  readings_.push_back(std::move(reading));
  if (readings_.size() < max_readings_) return;
  DropEveryOther();
  stride_ *= 2;
}

// Keeps the first, the newest and every other one between them.
void ReadingLog::DropEveryOther() {
  size_t kept = 0;
  for (size_t i = 0; i < readings_.size(); ++i) {
    if (i % 2 != 0 && i + 1 != readings_.size()) continue;
    if (kept != i) readings_[kept] = std::move(readings_[i]);
    ++kept;
  }
  readings_.resize(kept);
}

std::vector<v1::ServerInterval> ReadingLog::Take() {
  std::vector<v1::ServerInterval> intervals;
  size_t bytes = 0;
  for (size_t i = 1; i < readings_.size(); ++i) {
    intervals.push_back(IntervalBetween(readings_[i - 1], readings_[i]));
    bytes += intervals.back().ByteSizeLong();
    if (bytes <= max_taken_bytes_ || readings_.size() == 2) continue;
    DropEveryOther();
    intervals.clear();
    bytes = i = 0;
  }
  if (readings_.size() > 1) readings_.erase(readings_.begin(), readings_.end() - 1);
  stride_ = 1;
  return intervals;
}

struct Sampler::Shared {
  explicit Shared(Read reader) : read(std::move(reader)) {}
  Mutex reading;  // held while `read` runs and its result is added, so that readings are in order
  const Read read ABSL_GUARDED_BY(reading);
  Mutex mutex;
  CondVar changed;
  ReadingLog log ABSL_GUARDED_BY(mutex){kMaxReadings};
  int64_t interval_ns ABSL_GUARDED_BY(mutex) = 0;
  int64_t next_ns ABSL_GUARDED_BY(mutex) = 0;  // when the thread reads again
  bool ended ABSL_GUARDED_BY(mutex) = false;
};

Sampler::Sampler(Read read) : shared_(std::make_shared<Shared>(std::move(read))) {}

Sampler::~Sampler() {
  MutexLock lock(shared_->mutex);
  shared_->ended = true;
  shared_->changed.NotifyAll();
}

absl::StatusOr<std::vector<v1::ServerInterval>> Sampler::Take(int64_t interval_ns) {
  assert(interval_ns > 0);
  std::vector<v1::ServerInterval> intervals;
  bool starts = false;
  {
    MutexLock in_order(shared_->reading);
    ServerReading reading = shared_->read();
    MutexLock lock(shared_->mutex);
    starts = shared_->interval_ns == 0;
    shared_->log.Add(std::move(reading));
    intervals = shared_->log.Take();
    shared_->interval_ns = interval_ns;
    shared_->next_ns = MonotonicNowNs() + interval_ns;
    shared_->changed.NotifyAll();
  }
  if (starts) {
    auto thread = StartThread([shared = shared_] { Run(shared); });
    if (!thread.ok()) {
      MutexLock lock(shared_->mutex);
      shared_->interval_ns = 0;  // so that the next call tries again
      return thread.status();
    }
    thread->detach();
  }
  return intervals;
}

void Sampler::Run(const std::shared_ptr<Shared>& shared) {
  while (true) {
    {
      MutexLock lock(shared->mutex);
      const int64_t until_ns = shared->next_ns;
      shared->changed.WaitUntil(shared->mutex, until_ns, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return shared->ended || shared->next_ns != until_ns;
      });
      if (shared->ended) return;
      if (shared->next_ns != until_ns) continue;  // Take has just read
    }
    MutexLock in_order(shared->reading);
    ServerReading reading = shared->read();
    MutexLock lock(shared->mutex);
    if (shared->ended) return;
    shared->log.Add(std::move(reading));
    shared->next_ns += shared->interval_ns * shared->log.stride();
    // After a pause of the whole host, missed readings are not made up.
    if (shared->next_ns < MonotonicNowNs()) shared->next_ns = MonotonicNowNs() + shared->interval_ns;
  }
}

}  // namespace iobench
