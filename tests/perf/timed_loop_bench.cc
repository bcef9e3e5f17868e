// What the timed loop itself costs per op: the null engine, with histogram, timeline and live cell on.
//
//   timed_loop_bench --benchmark_repetitions=9 --benchmark_report_aggregates_only
//
// The limit is 30 ns per op, sequential and random; `per_op` is the figure to look at (CPU time).
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>

#include "worker/engine/io_engine.h"

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

// One file; the count of records is no power of two, so that the random order drops candidates as it does in life.
StreamShape OneFile() {
  return {.object_bytes = kOpsPerPass * 4096, .record_bytes = 4096};
}
StreamShape TenFiles() {
  return {.object_count = 10, .object_bytes = kOpsPerPass / 10 * 4096, .record_bytes = 4096};
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
// The price of not trusting the TSC.
void BM_SequentialMonotonic(benchmark::State& state) {
  RunPasses(state, "read", OneFile(), TickSource::kMonotonic);
}

BENCHMARK(BM_Sequential)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Random)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_RandomTenFiles)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_RandomMix)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Stride)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SequentialMonotonic)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace iobench

BENCHMARK_MAIN();
