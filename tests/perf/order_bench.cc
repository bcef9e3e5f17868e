// The cost of an op's place: what a stream of ops takes per op, in each random order. A lane fills batches of 64.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <string>

#include "worker/pattern/op_stream.h"

namespace iobench {
namespace {

void Measure(benchmark::State& state, const char* name, const StreamShape& shape) {
  const auto operation = FindOperation(name);
  const auto stream = MakeOpStream(**operation, shape);
  if (!stream.ok()) return state.SkipWithError(std::string(stream.status().message()).c_str());
  std::array<Op, 64> batch;
  uint64_t pass = 0;
  for (auto _ : state) {
    if ((*stream)->Fill(batch) < batch.size()) (*stream)->Restart(++pass);
    benchmark::DoNotOptimize(batch);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * batch.size()));
  state.counters["ns_per_op"] = benchmark::Counter(static_cast<double>(state.iterations() * batch.size()) * 1e-9,
                                                   benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// The number of records is a power of two, the best case of every order, or just above one, the worst.
void FillBatches(benchmark::State& state, const std::string& access, uint64_t records) {
  const auto distribution = ParseAccess(access);
  if (!distribution.ok()) return state.SkipWithError("no such access");
  Measure(state, "random-read",
          {.object_bytes = records * 4096, .op_bytes = 4096, .access = *distribution, .seed = 7});
}

// As many ops as `records`, of one size or of three.
void FillSizes(benchmark::State& state, const char* operation, bool several, uint64_t records, const char* access = "") {
  const auto distribution = ParseAccess(access);
  if (!distribution.ok()) return state.SkipWithError("no such access");
  StreamShape shape{.object_bytes = records * 4096, .op_bytes = 4096, .access = *distribution, .seed = 7};
  if (several) {
    shape.object_bytes = records * 124 * 1024;  // the mean
    shape.op_bytes = 1024 * 1024;
    shape.records = {{4 * 1024, 60}, {64 * 1024, 30}, {1024 * 1024, 10}};
  }
  Measure(state, operation, shape);
}

constexpr uint64_t kPower = uint64_t{1} << 18, kAbove = kPower + 1, kBetween = kPower * 3 / 2;
#define IOBENCH_ORDER(name, access)                               \
  BENCHMARK_CAPTURE(FillBatches, name##_2_to_18, access, kPower); \
  BENCHMARK_CAPTURE(FillBatches, name##_halfway, access, kBetween); \
  BENCHMARK_CAPTURE(FillBatches, name##_just_above, access, kAbove)
IOBENCH_ORDER(each_once, "");
IOBENCH_ORDER(zipf, "zipf:1.1");
IOBENCH_ORDER(pareto, "pareto:0.2");
IOBENCH_ORDER(hot, "hot:20/80");
IOBENCH_ORDER(normal, "normal:10");

#define IOBENCH_SIZES(name, operation)                                           \
  BENCHMARK_CAPTURE(FillSizes, name##_one_halfway, operation, false, kBetween); \
  BENCHMARK_CAPTURE(FillSizes, name##_three_halfway, operation, true, kBetween); \
  BENCHMARK_CAPTURE(FillSizes, name##_one_just_above, operation, false, kAbove); \
  BENCHMARK_CAPTURE(FillSizes, name##_three_just_above, operation, true, kAbove)
IOBENCH_SIZES(random, "random-read");
IOBENCH_SIZES(in_order, "read");
BENCHMARK_CAPTURE(FillSizes, zipf_one_halfway, "random-read", false, kBetween, "zipf:1.1");
BENCHMARK_CAPTURE(FillSizes, zipf_three_halfway, "random-read", true, kBetween, "zipf:1.1");

}  // namespace
}  // namespace iobench

BENCHMARK_MAIN();
