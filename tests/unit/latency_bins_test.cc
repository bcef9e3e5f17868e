#include "common/live/latency_bins.h"

#include <atomic>
#include <cmath>
#include <thread>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"

namespace iobench {
namespace {

Histogram Of(std::initializer_list<uint64_t> latencies_ns) {
  Histogram histogram;
  for (const uint64_t ns : latencies_ns) histogram.Add(ns);
  return histogram;
}

LatencyBins BinsOf(std::initializer_list<uint64_t> latencies_ns) {
  LatencyBins bins;
  bins.AddFrom(Of(latencies_ns));
  return bins;
}

TEST_CASE("figures are those of the histogram, 3.2 % off at most, or 4 ns below 128 ns") {
  for (uint64_t ns = 1; ns < 1'000'000'000'000; ns += 1 + ns / 5) {
    INFO(ns);
    const LatencyBins bins = BinsOf({ns});
    const double margin_ns = std::max(4.0, 0.032 * static_cast<double>(ns));
    CHECK(bins.PercentileNs(0.5) == Approx(static_cast<double>(ns)).margin(margin_ns));
    CHECK(bins.MeanNs() == bins.PercentileNs(1));
  }
}

TEST_CASE("a percentile is that of the nearest rank, and 1 is the max") {
  LatencyBins bins;
  bins.AddFrom(Of({1'000, 1'000, 1'000, 1'000'000}));
  bins.AddFrom(Of({2'000, 2'000}));
  CHECK(bins.count() == 6);
  CHECK(bins.PercentileNs(0.5) == Approx(1'000).epsilon(0.032));
  CHECK(bins.PercentileNs(0.51) == Approx(2'000).epsilon(0.032));
  CHECK(bins.PercentileNs(0.99) == Approx(1'000'000).epsilon(0.032));
  CHECK(bins.MeanNs() == Approx(1'007'000.0 / 6).epsilon(0.032));
}

TEST_CASE("without ops no figure is known") {
  const LatencyBins bins;
  CHECK(bins.count() == 0);
  CHECK(std::isnan(bins.MeanNs()));
  CHECK(std::isnan(bins.PercentileNs(0.5)));
}

TEST_CASE("between two answers to polls, only what came in between counts") {
  const LatencyBins before = BinsOf({100, 5'000}), now = BinsOf({100, 5'000, 100, 9'000'000});
  const LatencyBins since = now.Since(before);
  CHECK(since.count() == 2);
  CHECK(since.PercentileNs(1) == Approx(9'000'000).epsilon(0.032));
  CHECK(since.PercentileNs(0.5) == Approx(100).margin(4));
  CHECK(now.Since(now).count() == 0);
}

TEST_CASE("after the end of a warm-up, whose ops are forgotten, all ops count") {
  CHECK(BinsOf({700, 700, 700}).Since(BinsOf({100, 5'000})).count() == 3);
}

TEST_CASE("a message holds the same counts, and adds to others") {
  LatencyBins bins = BinsOf({70, 70, 3'000, 1'000'000'000});
  const v1::LatencyBins message = bins.ToProto();
  CHECK(message.counts_size() == 3);
  REQUIRE(bins.AddProto(message).ok());
  CHECK(bins.count() == 8);
  CHECK(bins.Since(BinsOf({70, 70, 3'000, 1'000'000'000})).ToProto().SerializeAsString() ==
        message.SerializeAsString());
}

TEST_CASE("a full message stays below 4 KB, whatever the latencies") {
  Histogram everywhere;
  for (uint32_t bucket = 0; bucket < Histogram::kBucketCount; ++bucket)
    everywhere.Add(Histogram::LowerEdge(bucket));
  LatencyBins bins;
  for (int i = 0; i < 1'000; ++i) bins.AddFrom(everywhere);
  CHECK(bins.ToProto().counts_size() == static_cast<int>(LatencyBins::kBinCount));
  CHECK(bins.ToProto().ByteSizeLong() < 4096);
}

TEST_CASE("a damaged message adds nothing") {
  LatencyBins bins;
  v1::LatencyBins message = BinsOf({70}).ToProto();
  message.add_bin_gaps(1);
  CHECK(absl::IsInvalidArgument(bins.AddProto(message)));  // a gap without a count
  message.add_counts(1);
  message.set_bin_gaps(1, 0);
  CHECK(absl::IsInvalidArgument(bins.AddProto(message)));  // the same bin twice
  message.set_bin_gaps(1, 4'294'967'295);
  const absl::Status outside = bins.AddProto(message);
  CHECK(absl::StrContains(std::string(outside.message()), "of 576"));
  message.set_bin_gaps(1, 1);
  message.set_counts(1, UINT64_MAX);  // together with the other bin, 0 ops
  CHECK(absl::IsInvalidArgument(bins.AddProto(message)));
  CHECK(bins.count() == 0);
}

TEST_CASE("a histogram can be read while another thread adds to it, and no op is lost or counted twice") {
  constexpr uint64_t kOps = 2'000'000;
  Histogram histogram;
  std::atomic<bool> ended{false};
  std::thread lane([&] {
    for (uint64_t i = 0; i < kOps; ++i) histogram.Add(50 + i % 1'000);
    ended = true;
  });
  LatencyBins before, sum;
  while (!ended) {
    LatencyBins now;
    now.AddFrom(histogram);
    sum.Merge(now.Since(before));
    before = now;
  }
  lane.join();
  LatencyBins all;
  all.AddFrom(histogram);
  sum.Merge(all.Since(before));
  CHECK(sum.count() == kOps);
  CHECK(sum.ToProto().SerializeAsString() == all.ToProto().SerializeAsString());
}

}  // namespace
}  // namespace iobench
