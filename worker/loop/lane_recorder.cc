#include "worker/loop/lane_recorder.h"

#include <algorithm>
#include <cassert>

namespace iobench {
namespace {

uint64_t FirstSliceTicks(const TickScale& scale) {
  return std::max<uint64_t>(1, scale.DurationTicks(LatencySlices::kFirstSliceNs));
}

}  // namespace

LaneRecorder::LaneRecorder(OpKinds kinds, const TickScale& scale, OpKinds calls)
    : scale_(scale),
      slices_(FirstSliceTicks(scale)),
      timeline_(std::max<uint64_t>(1, scale.DurationTicks(kFirstIntervalNs))),
      shortest_gap_ticks_(std::max<uint64_t>(2, scale.DurationTicks(kShortestGapNs))) {
  for (int i = 0; i < kOpKindCount; ++i) {
    if (kinds.Has(static_cast<OpKind>(i))) kinds_[static_cast<size_t>(i)] = std::make_unique<Kind>();
    if (calls.Has(static_cast<OpKind>(i))) {
      calls_[static_cast<size_t>(i)] = std::make_unique<Call>(FirstSliceTicks(scale));
    }
  }
}

void LaneRecorder::Start(Ticks at) {
  first_op_ = at;
  last_end_ = at;
  counts_from_ = at;
  gaps_from_ = at;
  longest_stall_ = {at, at};
  gap_count_ = 0;
  look_at_ = {at.value + shortest_gap_ticks_ / 2};
  timeline_.Start(at);
  slices_.Start(warmup_end_ == kNoWarmup ? at : std::max(at, warmup_end_));
  for (const std::unique_ptr<Call>& call : calls_) {
    if (call != nullptr) call->slices.Start(slices_.begin());
  }
  SetNextEvent();
}

void LaneRecorder::Resume(Ticks at) {
  AddStallAtEnd();
  counts_from_ = at;
  gaps_from_ = at;
}

void LaneRecorder::SetWarmupEnd(Ticks at) {
  warmup_end_ = at;
}

Ticks LaneRecorder::AddInRow(std::span<const Op> ops, std::span<const Ticks> ends, Ticks begin) {
  assert(ops.size() == ends.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    Add(ops[i].kind, begin, ends[i], ops[i].length);
    begin = ends[i];
  }
  return begin;
}

void LaneRecorder::AddCall(OpKind call, Ticks begin, Ticks end) {
  Call* const of_call = calls_[static_cast<size_t>(call)].get();
  if (of_call == nullptr || IsInWarmup(end)) return;
  if (end >= of_call->slices.slice_end()) of_call->slices.Advance(end);
  of_call->slices.Add(of_call->histogram.Add(scale_.DurationNs(end.value - begin.value)));
}

void LaneRecorder::BeforeEvent(Ticks now) {
  EndWarmupBefore(now);
  if (now >= slices_.slice_end()) slices_.Advance(now);
}

void LaneRecorder::Event(Ticks begin, Ticks now) {
  assert(now >= next_event_);
  AddStall(timeline_.EndBefore(now, ops()), begin, now);
  if (now >= timeline_.next_point()) timeline_.Keep(now, bytes(), ops());
  look_at_ = {now.value + shortest_gap_ticks_ / 2};
  SetNextEvent();
}

void LaneRecorder::Finish() {
  AddStallAtEnd();
  if (warmup_end_ != kNoWarmup) EndWarmup();
  timeline_.Finish(last_end_, bytes(), ops());
  SetNextEvent();
}

void LaneRecorder::AddUnmeasured(uint64_t bytes, uint64_t ops) {
  unmeasured_bytes_ += bytes;
  unmeasured_ops_ += ops;
}

bool LaneRecorder::expects_only(OpKind kind) const {
  for (size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != nullptr && i != static_cast<size_t>(kind)) return false;
  }
  return true;
}

uint64_t LaneRecorder::bytes_of(OpKind kind) const {
  const Kind* const of_kind = kinds_[static_cast<size_t>(kind)].get();
  return of_kind == nullptr ? 0 : of_kind->bytes;
}
uint64_t LaneRecorder::ops_of(OpKind kind) const {
  const Kind* const of_kind = kinds_[static_cast<size_t>(kind)].get();
  return of_kind == nullptr ? 0 : of_kind->ops;
}
const Histogram* LaneRecorder::histogram_of(OpKind kind) const {
  const Kind* const of_kind = kinds_[static_cast<size_t>(kind)].get();
  return of_kind == nullptr ? nullptr : &of_kind->histogram;
}

const Histogram* LaneRecorder::histogram_of_call(OpKind call) const {
  const Call* const of_call = calls_[static_cast<size_t>(call)].get();
  return of_call == nullptr ? nullptr : &of_call->histogram;
}

const LatencySlices* LaneRecorder::slices_of_call(OpKind call) const {
  const Call* const of_call = calls_[static_cast<size_t>(call)].get();
  return of_call == nullptr ? nullptr : &of_call->slices;
}

void LaneRecorder::AddLatenciesTo(LatencyBins& bins) const {
  for (const std::unique_ptr<Kind>& kind : kinds_) {
    if (kind != nullptr) bins.AddFrom(kind->histogram);
  }
}

// Warm-up ops are recorded like all others and discarded here, so that the loop need not distinguish them.
void LaneRecorder::EndWarmup() {
  warmup_bytes_ = bytes();
  warmup_ops_ = ops();
  warmup_end_ = kNoWarmup;
  slices_.Start(slices_.begin());
  for (const std::unique_ptr<Kind>& kind : kinds_) {
    if (kind == nullptr) continue;
    kind->histogram.Clear();
    kind->bytes = 0;
    kind->ops = 0;
  }
}

void LaneRecorder::EndWarmupBefore(Ticks now) {
  if (now <= warmup_end_) return;
  counts_from_ = warmup_end_;
  EndWarmup();
  longest_stall_ = {counts_from_, counts_from_};
}

// Between `before`, the previous end, and the op's begin, the lane may have paused as the plan requires. That pause
// comes first and is not part of a stall; the rest of the time, and the op itself, may be.
void LaneRecorder::AddStall(Ticks before, Ticks begin, Ticks now) {
  const auto stall_since = [&](Ticks earliest) {
    const Ticks since = std::max(before, earliest);
    const uint64_t hook_ticks = begin > since ? begin.value - since.value : 0;
    const Ticks from{since.value + std::min(hook_ticks, asked_pause_ticks_)};
    return Stall{from, now, flushed_until_ > from};
  };
  const Stall counted = stall_since(counts_from_);
  if (counted.ticks() > longest_stall_.ticks()) longest_stall_ = counted;
  if (const Stall gap = stall_since(gaps_from_); gap.ticks() >= shortest_gap_ticks_) AddGap(gap);
}

void LaneRecorder::AddGap(const Stall& gap) {
  if (gap_count_ < kMaxGaps) {
    gaps_[gap_count_++] = gap;
    return;
  }
  Stall& shortest =
      *std::ranges::min_element(gaps_, [](const Stall& a, const Stall& b) { return a.ticks() < b.ticks(); });
  if (gap.ticks() > shortest.ticks()) shortest = gap;
}

// No op ends the wait or the failed ops at the end, so no event evaluates them.
void LaneRecorder::AddStallAtEnd() {
  const Ticks end = ops_end();
  EndWarmupBefore(end);
  if (end > std::max(last_end_, counts_from_)) AddStall(last_end_, end, end);
}

void LaneRecorder::SetNextEvent() {
  next_event_ = std::min({timeline_.next_point(), slices_.slice_end(), warmup_end_, look_at_});
}

}  // namespace iobench
