// What the timed loop itself costs per op: the null engine, with histogram, timeline and live cell on.
//
//   timed_loop_bench --benchmark_repetitions=9 --benchmark_report_aggregates_only
//
// The limit is 30 ns per op, sequential and random; `per_op` is the figure to look at (CPU time).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "worker/engine/io_engine.h"
#include "worker/loop/queued_loop.h"

namespace iobench {
namespace {

constexpr uint64_t kOpsPerPass = 1'000'000;

void RunPasses(benchmark::State& state, const char* operation, StreamShape shape, TickSource ticks) {
  auto stream = MakeOpStream(**FindOperation(operation), shape);
  auto engine = MakeEngine("null", {.ticks = ticks});
  if (!stream.ok() || !engine.ok()) return state.SkipWithError("set-up failed");
  const TickScale scale = CurrentTickScale();
  StopCell stop;
  uint64_t ops = 0;
  uint64_t pass = 0;
  for (auto _ : state) {
    state.PauseTiming();
    LaneRecorder recorder({OpKind::kRead, OpKind::kWrite}, scale);
    (*stream)->Restart(pass++);
    LaneContext lane{
        .stream = **stream, .payload = nullptr, .read_buffer = nullptr, .stop = stop, .recorder = recorder};
    state.ResumeTiming();
    const LoopEnd end = (*engine)->Run(lane);
    state.PauseTiming();
    if (end.reason != LoopEnd::Reason::kDone || recorder.histogram_of(OpKind::kRead)->count() == 0) {
      return state.SkipWithError("the lane did not run");
    }
    ops += recorder.ops();
    state.ResumeTiming();
  }
  state.counters["per_op"] =
      benchmark::Counter(static_cast<double>(ops), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// One file; the count of records is no power of two, so that the random order drops candidates as in real runs.
StreamShape OneFile() {
  return {.object_bytes = kOpsPerPass * 4096, .op_bytes = 4096};
}
StreamShape TenFiles() {
  return {.object_count = 10, .object_bytes = kOpsPerPass / 10 * 4096, .op_bytes = 4096};
}

void BM_Sequential(benchmark::State& state) {
  RunPasses(state, "read", OneFile(), ChosenTickSource());
}
void BM_Random(benchmark::State& state) {
  RunPasses(state, "random-read", OneFile(), ChosenTickSource());
}
void BM_RandomTenFiles(benchmark::State& state) {
  RunPasses(state, "random-read", TenFiles(), ChosenTickSource());
}
void BM_RandomMix(benchmark::State& state) {
  RunPasses(state, "random-mix", OneFile(), ChosenTickSource());
}
void BM_Stride(benchmark::State& state) {
  RunPasses(state, "stride-read", OneFile(), ChosenTickSource());
}
// Ends the prepared ops: all of them in one turn, or one per turn.
class NullQueue {
 public:
  explicit NullQueue(bool all_at_once) : all_at_once_(all_at_once) {}
  void Prepare(uint32_t slot, const Op& op) { flying_[count_++] = {slot, op.length}; }
  void Await(int64_t) {}
  size_t Turn(bool, std::span<OpEnd> ends) {
    const size_t begin = all_at_once_ ? 0 : count_ - 1;
    std::copy(flying_ + begin, flying_ + count_, ends.begin());
    return std::exchange(count_, begin) - begin;
  }
  const std::byte* DataOf(uint32_t) const { return nullptr; }

 private:
  const bool all_at_once_;
  OpEnd flying_[64];
  size_t count_ = 0;
};

void RunQueuePasses(benchmark::State& state, bool all_at_once) {
  auto stream = MakeOpStream(**FindOperation("random-read"),
                             {.object_bytes = kOpsPerPass * 4096, .op_bytes = 4096});
  if (!stream.ok()) return state.SkipWithError("set-up failed");
  const TickScale scale = CurrentTickScale();
  StopCell stop;
  OpSlots slots(32);
  NullQueue queue(all_at_once);
  uint64_t ops = 0;
  uint64_t pass = 0;
  for (auto _ : state) {
    state.PauseTiming();
    LaneRecorder recorder(OpKind::kRead, scale);
    (*stream)->Restart(pass++);
    LaneContext lane{
        .stream = **stream, .payload = nullptr, .read_buffer = nullptr, .stop = stop, .recorder = recorder};
    state.ResumeTiming();
    const LoopEnd end = RunQueue<TscClock>(lane, slots, queue);
    state.PauseTiming();
    if (end.reason != LoopEnd::Reason::kDone || recorder.ops() != kOpsPerPass) {
      return state.SkipWithError("the lane did not run");
    }
    ops += recorder.ops();
    state.ResumeTiming();
  }
  state.counters["per_op"] =
      benchmark::Counter(static_cast<double>(ops), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// 32 ops in flight, in random order: all ops of a turn end with it, as cached reads do; or one a turn, as from a
// device.
void BM_QueueOfAll(benchmark::State& state) {
  RunQueuePasses(state, true);
}
void BM_QueueOfOne(benchmark::State& state) {
  RunQueuePasses(state, false);
}
// The price of not trusting the TSC.
void BM_SequentialMonotonic(benchmark::State& state) {
  RunPasses(state, "read", OneFile(), TickSource::kMonotonic);
}

BENCHMARK(BM_Sequential)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Random)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_RandomTenFiles)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_RandomMix)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Stride)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_QueueOfAll)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_QueueOfOne)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SequentialMonotonic)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace iobench

BENCHMARK_MAIN();
