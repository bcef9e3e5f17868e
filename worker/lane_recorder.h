// What a lane's thread writes down while it runs: totals, latency histogram per op class, timeline.
#ifndef WORKER_LANE_RECORDER_H_
#define WORKER_LANE_RECORDER_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "common/clock.h"
#include "common/histogram.h"
#include "common/op.h"
#include "common/timeline.h"

namespace iobench {

// What others may look at while the lane runs: one writer, relaxed loads; cannot disturb it. Own cache line.
struct alignas(64) LiveCell {
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> ops{0};
};

// One writer thread; readers other than live() only after the lane has stopped.
class LaneRecorder {
 public:
  // Histograms are allocated only for the kinds used; ops of other kinds must not come. `scale` turns tick
  // differences into ns.
  LaneRecorder(OpKinds kinds, const TickScale& scale);

  void Start(Ticks at);   // T's first op begins; sets s_i
  void Resume(Ticks at);  // and goes on after the plan had the lane wait

  // An op that ran from `begin` to `end`. Hot, so nothing is asked here: `end >= next_event()` is the loop's question.
  void Add(OpKind kind, Ticks begin, Ticks end, uint32_t bytes) {
    Kind& of_kind = kinds_[static_cast<size_t>(kind)];
    of_kind.histogram->Add(scale_.DurationNs(end.value - begin.value));
    of_kind.bytes += bytes;
    of_kind.ops += 1;
    last_end_ = end;
    const uint64_t bytes_now = bytes_ += bytes;
    const uint64_t ops_now = ops_ += 1;
    timeline_.Note(end, bytes_now, ops_now);
    live_.bytes.store(bytes_now, std::memory_order_relaxed);
    live_.ops.store(ops_now, std::memory_order_relaxed);
  }

  // The instant of the next thing Event() must look at (a timeline point, or the end of the warm-up).
  Ticks next_event() const { return next_event_; }
  // Both REQUIRE: now >= next_event(). The ops that ended at `now`, the last of them from `begin`, are added between them.
  void BeforeEvent(Ticks now);
  void Event(Ticks begin, Ticks now);

  // Ops that have ended by this instant count in the totals but not in histograms and measured totals; the op that is
  // running at it is the first that does, as in every window. Before Start.
  void SetWarmupEnd(Ticks at);

  // The lane went on waiting for its next op until `at`, when it was told that there is none.
  void NoteWaitedUntil(Ticks at) { waited_until_ = at; }
  // So much of the time between two ops is no stall: the plan asks for it. Before Start.
  void SetAskedPause(uint64_t ticks) { asked_pause_ticks_ = ticks; }

  // The last op has ended: closes the timeline. A warm-up that has not ended by then took everything. The lane calls
  // it after the last Run of a phase; again is harmless.
  void Finish();
  // Moved after the timed part (finishing a file): in no figure but the total.
  void AddUnmeasured(uint64_t bytes, uint64_t ops);

  Ticks first_op() const { return first_op_; }
  Ticks last_end() const { return last_end_; }  // of an op
  Ticks ops_end() const { return std::max(last_end_, waited_until_); }
  uint64_t bytes() const { return bytes_; }  // timed ops only
  uint64_t ops() const { return ops_; }
  uint64_t unmeasured_bytes() const { return unmeasured_bytes_; }
  uint64_t unmeasured_ops() const { return unmeasured_ops_; }
  uint64_t warmup_bytes() const { return warmup_bytes_; }
  uint64_t warmup_ops() const { return warmup_ops_; }
  uint64_t bytes_of(OpKind kind) const;  // after the warm-up
  uint64_t ops_of(OpKind kind) const;
  const Histogram* histogram_of(OpKind kind) const;  // null: kind not used
  // The longest time after the warm-up in which no op ended. Found where points of the timeline are kept, so it costs an
  // op nothing, and is only told where it is longer than these are apart (0.1 % of the phase); else both are equal.
  struct Stall {
    Ticks begin, end;
  };
  const Stall& longest_stall() const { return longest_stall_; }
  const ProgressTimeline& timeline() const { return timeline_; }
  const LiveCell& live() const { return live_; }  // any thread, at any time

 private:
  // Op ends this far apart become points of the timeline; it doubles as the phase goes on. 4096 points of it fill in
  // 41 ms, and an op that is longer can afford to be one each time.
  static constexpr int64_t kFirstIntervalNs = 10'000;

  void EndWarmup();
  void NoteStall(Ticks begin, Ticks now);
  void SetNextEvent();

  struct Kind {
    std::unique_ptr<Histogram> histogram;
    uint64_t bytes = 0;
    uint64_t ops = 0;
  };
  LiveCell live_;
  std::array<Kind, kOpKindCount> kinds_;
  TickScale scale_;
  ProgressTimeline timeline_;
  Ticks first_op_, last_end_, waited_until_, next_event_;
  Ticks warmup_end_{UINT64_MAX};  // UINT64_MAX: none, or over
  Ticks counts_from_;             // the start, the end of the warm-up or of a wait that the plan asked for
  uint64_t asked_pause_ticks_ = 0;
  Stall longest_stall_;
  uint64_t bytes_ = 0, ops_ = 0;
  uint64_t unmeasured_bytes_ = 0, unmeasured_ops_ = 0;
  uint64_t warmup_bytes_ = 0, warmup_ops_ = 0;
};

}  // namespace iobench

#endif  // WORKER_LANE_RECORDER_H_
