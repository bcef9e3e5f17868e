// Records what a lane does: totals, one latency histogram per op kind, latencies over time, and the timeline.
#ifndef WORKER_LOOP_LANE_RECORDER_H_
#define WORKER_LOOP_LANE_RECORDER_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "common/clock.h"
#include "common/histogram.h"
#include "common/latency_slices.h"
#include "common/live/latency_bins.h"
#include "common/memory/own_lines.h"
#include "common/model/op.h"
#include "common/timeline.h"

namespace iobench {

// Progress that other threads may read while the lane runs: one writer, relaxed loads. The two values may be from
// different ops, and the timed loop updates them at least every 64 ops and at every event. They are read a few times a
// second, so the cell shares a cache line with what the lane uses for each op.
struct LiveCell {
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> ops{0};
};

// The only record of a lane's ops, from which all its figures are computed. Call the setters, Start, Add and Event for
// each op, and Finish, in this order. One thread writes. Others may read only after the lane has stopped, except
// through live() and AddLatenciesTo(). Does not allocate after the constructor.
class LaneRecorder {
 public:
  // Allocates histograms only for `kinds` and `calls`; Add must not get other kinds. `scale` converts tick differences
  // to ns.
  LaneRecorder(OpKinds kinds, const TickScale& scale, OpKinds calls = {});

  // Clears the timeline and the latency slices. `at` is the start of the first op, s_i in docs/definitions.md.
  void Start(Ticks at);
  // The lane continues after a wait that the plan required (wear-out), which therefore is no stall. Do not call it if
  // the lane only continues after a failed op.
  void Resume(Ticks at);

  // Adds an op whose latency counts from `begin` (in an open loop, when it was due) to `end`. The loop itself checks whether `end >= next_event()`.
  void Add(OpKind kind, Ticks begin, Ticks end, uint32_t bytes) {
    Kind& of_kind = *kinds_[static_cast<size_t>(kind)];
    slices_.Add(of_kind.histogram.Add(scale_.DurationNs(end.value - begin.value)));
    of_kind.bytes += bytes;
    of_kind.ops += 1;
    last_end_ = end;
    const uint64_t bytes_now = this->bytes() + bytes;
    const uint64_t ops_now = ops() + 1;
    timeline_.Note(end, bytes_now, ops_now);
    live_.bytes.store(bytes_now, std::memory_order_relaxed);
    live_.ops.store(ops_now, std::memory_order_relaxed);
  }

  // Adds a flush call between ops, or after Finish. It counts in nothing but its own number and latencies; one that
  // ends in the warm-up does not count. Calls that the constructor did not get are not kept. REQUIRES: Start.
  void AddCall(OpKind call, Ticks begin, Ticks end);

  // True if the lane has no ops of other kinds than `kind`.
  bool expects_only(OpKind kind) const;

  // Adds ops that followed each other directly: ops[i] ended at ends[i], which is when the next one began. `begin` is
  // when the first one began. Returns when the last one ended, or `begin` if there are none. REQUIRES: both spans have
  // the same length; all but the last op ended before next_event().
  Ticks AddInRow(std::span<const Op> ops, std::span<const Ticks> ends, Ticks begin);

  // The time of the next event: a timeline point is due, or a latency slice or the warm-up ends.
  Ticks next_event() const { return next_event_; }
  // Handle an event: call BeforeEvent, add the ops that ended at `now`, then call Event with the `begin` of the last of
  // them. REQUIRES: now >= next_event().
  void BeforeEvent(Ticks now);
  void Event(Ticks begin, Ticks now);

  // Ops that end by this instant count in the totals, but not in histograms and measured totals. The op in flight at
  // that instant is the first that counts, as in every window. Call it before Start.
  void SetWarmupEnd(Ticks at);
  // True if an op that ends then, and after all that were added, belongs to the warm-up.
  bool IsInWarmup(Ticks at) const { return warmup_end_ != kNoWarmup && at <= warmup_end_; }

  // Until `at`, the lane waited for an op that then did not begin, or for one that failed. This time belongs to the
  // lane's ops time.
  void RecordWaitedUntil(Ticks at) { waited_until_ = std::max(waited_until_, at); }
  // Up to `ticks` between two ops are not a stall, because the plan asks for such pauses. Call it before Start.
  void SetAskedPause(uint64_t ticks) { asked_pause_ticks_ = ticks; }

  // Until `at`, which is now, the lane's files were flushed between two passes or bursts.
  void RecordFlushedUntil(Ticks at) { flushed_until_ = at; }

  // Closes the timeline after the last op, and evaluates the time from then to ops_end() as a stall. If the warm-up has
  // not ended by then, all ops count as warm-up. Call it after the last Run of a phase; further calls have no effect.
  void Finish();
  // Adds work done after the timed part (completing a file); it counts only in the overall total.
  void AddUnmeasured(uint64_t bytes, uint64_t ops);

  Ticks first_op() const { return first_op_; }
  // The end of the last op, and the end of the lane's ops time, which may include a wait or failed ops after it.
  Ticks last_end() const { return last_end_; }
  Ticks ops_end() const { return std::max(last_end_, waited_until_); }
  // Totals of all timed ops, including the warm-up. Those of AddUnmeasured are not included.
  uint64_t bytes() const { return live_.bytes.load(std::memory_order_relaxed); }
  uint64_t ops() const { return live_.ops.load(std::memory_order_relaxed); }
  uint64_t unmeasured_bytes() const { return unmeasured_bytes_; }
  uint64_t unmeasured_ops() const { return unmeasured_ops_; }
  uint64_t warmup_bytes() const { return warmup_bytes_; }
  uint64_t warmup_ops() const { return warmup_ops_; }
  // Totals and latencies of one kind after the warm-up. The histogram is null if the constructor did not get the kind.
  uint64_t bytes_of(OpKind kind) const;
  uint64_t ops_of(OpKind kind) const;
  const Histogram* histogram_of(OpKind kind) const;
  // Latencies of a flush call after the warm-up, in all and over time from the same instant as latency_slices(). Null if
  // the constructor did not get it.
  const Histogram* histogram_of_call(OpKind call) const;
  const LatencySlices* slices_of_call(OpKind call) const;
  // A time in which no op ended; failed ops do not count as ends. Such times are evaluated only at events, so they cost
  // nothing per op.
  struct Stall {
    Ticks begin, end;
    bool flushed = false;  // RecordFlushedUntil named an instant in it
    uint64_t ticks() const { return end.value - begin.value; }
  };
  // The longest one after the warm-up. One that is shorter than the distance of the timeline's points (0.1 % of the
  // phase) may be missing; without any, begin equals end.
  const Stall& longest_stall() const { return longest_stall_; }
  // Those of 1 s or more, however long the phase is, and also those in the warm-up: the longest ones, in no order.
  static constexpr size_t kMaxGaps = 16;
  std::span<const Stall> gaps() const { return std::span(gaps_).first(gap_count_); }
  const ProgressTimeline& timeline() const { return timeline_; }
  // Latencies of all kinds over time, after the warm-up: from its end, or from the start if that is later. Every op is
  // in the slice in which it ended.
  const LatencySlices& latency_slices() const { return slices_; }
  const LiveCell& live() const { return live_; }  // callable from any thread at any time
  // Adds the latencies of all ops so far, since the warm-up if it has ended. Callable from any thread at any time.
  void AddLatenciesTo(LatencyBins& bins) const;

 private:
  // Op ends at this distance become timeline points; the distance doubles as the phase goes on. At this rate, 4096
  // points are full after 41 ms. If ops are longer, each becomes a point.
  static constexpr int64_t kFirstIntervalNs = 10'000;
  static constexpr Ticks kNoWarmup{UINT64_MAX};
  static constexpr int64_t kShortestGapNs = 1'000'000'000;

  void EndWarmup();
  void EndWarmupBefore(Ticks now);
  void AddStall(Ticks before, Ticks begin, Ticks now);
  void AddGap(const Stall& gap);
  void AddStallAtEnd();
  void SetNextEvent();

  struct Kind : OnOwnLines {
    uint64_t bytes = 0;
    uint64_t ops = 0;
    Histogram histogram;
  };
  struct Call {
    explicit Call(uint64_t first_slice_ticks) : slices(first_slice_ticks) {}
    Histogram histogram;
    LatencySlices slices;
  };
  // A system call that copies a record leaves little of the recorder in the L1 cache. What Add uses is therefore kept
  // together: here, at the front of each Kind, and in the first members of histogram, slices and timeline.
  // All of it is on lines of the lane's own: the recorder by its alignment, the rest by how it is allocated.
  alignas(kOwnLinesBytes) TickScale scale_;
  LiveCell live_;
  Ticks last_end_;
  LatencySlices slices_;
  ProgressTimeline timeline_;
  std::array<std::unique_ptr<Kind>, kOpKindCount> kinds_;
  std::array<std::unique_ptr<Call>, kOpKindCount> calls_;
  Ticks first_op_, waited_until_, next_event_;
  Ticks warmup_end_ = kNoWarmup;  // kNoWarmup also once it is over
  // In any time of kShortestGapNs there is an instant at which the end of an op is an event, so none is overlooked.
  Ticks look_at_;
  const uint64_t shortest_gap_ticks_;
  Ticks flushed_until_{0};
  Ticks gaps_from_;    // the start, or the end of a wait that the plan required
  Ticks counts_from_;  // the start, the end of the warm-up, or the end of a wait that the plan required
  uint64_t asked_pause_ticks_ = 0;
  Stall longest_stall_;
  std::array<Stall, kMaxGaps> gaps_;
  size_t gap_count_ = 0;
  uint64_t unmeasured_bytes_ = 0, unmeasured_ops_ = 0;
  uint64_t warmup_bytes_ = 0, warmup_ops_ = 0;
};
static_assert(alignof(LaneRecorder) == kOwnLinesBytes);

}  // namespace iobench

#endif  // WORKER_LOOP_LANE_RECORDER_H_
