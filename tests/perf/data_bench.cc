// The cost of generating and checking data between ops, with 1 MiB records that are in the cache, as after a read.
//
//   data_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only
//
// The limit is 3 GB/s a lane to stamp sectors or to check them; `bytes_per_second` is the figure to look at.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>

#include "worker/data/deduped_records.h"
#include "worker/data/pattern_checker.h"
#include "worker/data/sector_checker.h"
#include "worker/data/sector_writer.h"

namespace iobench {
namespace {

constexpr uint32_t kRecordBytes = 1 << 20;
constexpr uint64_t kFileBytes = 64 << 20;

Op OpAt(OpKind kind, uint64_t index) {
  return {kind, 0, index * kRecordBytes % kFileBytes, kRecordBytes};
}

void MakeRecords(benchmark::State& state, RecordMaker& maker) {
  uint64_t index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(maker.Make(OpAt(OpKind::kWrite, index++)));
  state.SetBytesProcessed(static_cast<int64_t>(index * kRecordBytes));
}

void BM_StampSectors(benchmark::State& state) {
  auto writer = SectorWriter::Create({.run = 1, .seed = 1, .generation = 1}, kRecordBytes);
  if (!writer.ok()) return state.SkipWithError("no memory");
  MakeRecords(state, **writer);
}

void BM_ShareRecords(benchmark::State& state) {
  auto records = DedupedRecords::Create(
      {.percent = 50, .within_percent = 50, .interior_percent = 50, .record_bytes = kRecordBytes},
      kRecordBytes);
  if (!records.ok()) return state.SkipWithError("no memory");
  MakeRecords(state, **records);
}

void BM_CheckSectors(benchmark::State& state) {
  auto writer = SectorWriter::Create({.run = 1, .seed = 1, .generation = 1}, kRecordBytes);
  auto buffer = AlignedBuffer::Allocate(kRecordBytes);
  if (!writer.ok() || !buffer.ok()) return state.SkipWithError("no memory");
  const Op op = OpAt(OpKind::kRead, 7);
  std::memcpy(buffer->data(), (*writer)->Make(op), kRecordBytes);
  SectorChecker checker({.run = 1, .seed = 1, .low = 1, .high = 1, .file_bytes = kFileBytes});
  uint64_t count = 0;
  for (auto _ : state) {
    checker.Check(op, buffer->data());
    ++count;
  }
  const v1::VerifyResult result = checker.Result();
  if (result.mismatched() > 0 || result.sectors() != count * (kRecordBytes / kSectorBytes)) {
    return state.SkipWithError("the sectors were not checked");
  }
  state.SetBytesProcessed(static_cast<int64_t>(count * kRecordBytes));
}

void BM_CheckPattern(benchmark::State& state) {
  auto buffer = AlignedBuffer::Allocate(kRecordBytes);
  if (!buffer.ok()) return state.SkipWithError("no memory");
  std::memset(buffer->data(), 0x5a, kRecordBytes);
  PatternChecker checker(0x5a);
  uint64_t count = 0;
  for (auto _ : state) {
    checker.Check(OpAt(OpKind::kRead, count), buffer->data());
    ++count;
  }
  if (checker.Result().mismatched() > 0) return state.SkipWithError("the pattern was not checked");
  state.SetBytesProcessed(static_cast<int64_t>(count * kRecordBytes));
}

BENCHMARK(BM_StampSectors);
BENCHMARK(BM_CheckSectors);
BENCHMARK(BM_CheckPattern);
BENCHMARK(BM_ShareRecords);

}  // namespace
}  // namespace iobench

BENCHMARK_MAIN();
