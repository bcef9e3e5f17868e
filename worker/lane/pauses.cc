#include "worker/lane/pauses.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/model/plan_traits.h"

namespace iobench {
namespace {

int64_t NanosFromMs(double ms) {
  return std::llround(ms * 1e6);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Pauses>> Pauses::Create(const v1::Between& between, const StopCell& stop,
                                                       PauseClock& clock) {
  const bool any = between.think_ms() > 0 || between.purge_processor_cache() || between.ops_per_s() > 0 ||
                   between.burst_bytes() > 0;
  if (!any) return nullptr;
  std::optional<AlignedBuffer> cache_sized;
  if (between.purge_processor_cache()) {
    auto buffer = AlignedBuffer::Allocate(ProcessorCacheBytes(between));
    if (!buffer.ok()) return buffer.status();
    cache_sized = *std::move(buffer);
  }
  return std::unique_ptr<Pauses>(new Pauses(between, stop, clock, std::move(cache_sized)));
}

Pauses::Pauses(const v1::Between& between, const StopCell& stop, PauseClock& clock,
               std::optional<AlignedBuffer> cache_sized)
    : stop_(stop),
      clock_(clock),
      think_ns_(NanosFromMs(between.think_ms())),
      think_counts_(between.think_in_throughput()),
      interval_ns_(between.ops_per_s() > 0 ? 1e9 / between.ops_per_s() : 0),
      burst_bytes_(between.burst_bytes()),
      burst_pause_ns_(NanosFromMs(between.burst_pause_ms())),
      cache_sized_(std::move(cache_sized)),
      cache_line_bytes_(ProcessorCacheLineBytes(between)) {}

void Pauses::Before(const Op&) {
  if (burst_bytes_ > 0 && in_burst_bytes_ >= burst_bytes_) EndBurst();
  if (think_ns_ > 0) Think();
  if (cache_sized_) Purge();
  if (interval_ns_ > 0) AwaitTurn();
}

void Pauses::After(const Op& done) {
  in_burst_bytes_ += done.length;
  wrote_ |= done.kind != OpKind::kRead;
}

int64_t Pauses::longest_asked_ns() const {
  return think_ns_ + std::llround(interval_ns_) + (burst_bytes_ > 0 ? burst_pause_ns_ : 0);
}

void Pauses::EndBurst() {
  if (wrote_ && flush_) flush_status_.Update(flush_());
  if (burst_pause_ns_ > 0) {
    const int64_t begin_ns = clock_.NowNs();
    left_out_ns_ += WaitUntil(begin_ns + burst_pause_ns_) - begin_ns;
  }
  in_burst_bytes_ = 0;
  wrote_ = false;
}

// Busy waiting, like a program that computes between two ops.
void Pauses::Think() {
  const int64_t begin_ns = clock_.NowNs();
  int64_t now_ns = begin_ns;
  while (now_ns < begin_ns + think_ns_ && !Ended(now_ns)) now_ns = clock_.NowNs();
  if (!think_counts_) left_out_ns_ += now_ns - begin_ns;
}

// Reads one byte of every cache line, which evicts the previous contents of the cache.
void Pauses::Purge() const {
  const volatile std::byte* const bytes = cache_sized_->data();
  for (size_t at = 0; at < cache_sized_->size(); at += cache_line_bytes_) static_cast<void>(bytes[at]);
}

void Pauses::AwaitTurn() {
  const auto now_ns = static_cast<double>(clock_.NowNs());
  const double due_ns = due_ns_ ? std::max(*due_ns_, now_ns - interval_ns_) : now_ns;
  WaitUntil(std::llround(due_ns));
  due_ns_ = due_ns + interval_ns_;
}

int64_t Pauses::WaitUntil(int64_t until_ns) {
  return iobench::WaitUntil(clock_, stop_, std::min(until_ns, deadline_ns_));
}

bool Pauses::Ended(int64_t now_ns) const {
  return now_ns >= deadline_ns_ || stop_.stop.load(std::memory_order_relaxed);
}

}  // namespace iobench
