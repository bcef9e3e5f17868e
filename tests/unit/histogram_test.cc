#include "common/histogram.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace iobench {
namespace {

constexpr uint64_t kLimitNs = uint64_t{1} << Histogram::kMaxBits;

Histogram Of(const std::vector<uint64_t>& values_ns) {
  Histogram histogram;
  for (uint64_t ns : values_ns) histogram.Add(ns);
  return histogram;
}

std::string Bytes(const Histogram& histogram) {
  return histogram.ToProto().SerializeAsString();
}

TEST_CASE("buckets lie side by side from 0 to 2^42, each found from its edges", "[histogram]") {
  REQUIRE(Histogram::kBucketCount == 4608);
  uint64_t next_edge = 0;
  for (uint32_t i = 0; i < Histogram::kBucketCount; ++i) {
    const uint64_t lower = Histogram::LowerEdge(i);
    const uint64_t upper = Histogram::UpperEdge(i);
    REQUIRE(lower == next_edge);
    REQUIRE(upper >= lower);
    REQUIRE(Histogram::IndexOf(lower) == i);
    REQUIRE(Histogram::IndexOf(upper) == i);
    REQUIRE(Histogram::IndexOf(lower + (upper - lower) / 2) == i);
    next_edge = upper + 1;
  }
  CHECK(next_edge == kLimitNs);
}

TEST_CASE("below 128 ns a bucket holds one value, above it is at most 1/128 wide", "[histogram]") {
  for (uint32_t ns = 0; ns < 128; ++ns) {
    REQUIRE(Histogram::IndexOf(ns) == ns);
    REQUIRE(Histogram::LowerEdge(ns) == ns);
    REQUIRE(Histogram::UpperEdge(ns) == ns);
  }
  for (uint32_t i = 128; i < Histogram::kBucketCount; ++i) {
    const uint64_t width = Histogram::UpperEdge(i) - Histogram::LowerEdge(i) + 1;
    REQUIRE(width * 128 <= Histogram::LowerEdge(i));
  }
}

TEST_CASE("an octave is cut into 128 buckets", "[histogram]") {
  // [256, 512) in steps of 2, [1 Mi, 2 Mi) in steps of 8192.
  CHECK(Histogram::IndexOf(256) == 256);
  CHECK(Histogram::IndexOf(257) == 256);
  CHECK(Histogram::IndexOf(258) == 257);
  CHECK(Histogram::IndexOf(512) == 384);
  CHECK(Histogram::IndexOf(1 << 20) == 13 * 128 + 128);
  CHECK(Histogram::IndexOf((1 << 20) + 8191) == 13 * 128 + 128);
  CHECK(Histogram::IndexOf((1 << 20) + 8192) == 13 * 128 + 129);
}

TEST_CASE("an empty histogram has no mean and no percentile", "[histogram]") {
  const Histogram empty;
  CHECK(empty.count() == 0);
  CHECK(empty.min_ns() == 0);
  CHECK(empty.max_ns() == 0);
  CHECK(std::isnan(empty.mean_ns()));
  CHECK(std::isnan(empty.stddev_ns()));
  CHECK(std::isnan(empty.PercentileNs(0.5)));
  CHECK_FALSE(empty.Trusted(0.5));
}

TEST_CASE("count, minimum, maximum, mean and deviation are exact", "[histogram]") {
  const Histogram histogram = Of({2, 4, 4, 4, 5, 5, 7, 9});  // mean 5, deviation 2
  CHECK(histogram.count() == 8);
  CHECK(histogram.min_ns() == 2);
  CHECK(histogram.max_ns() == 9);
  CHECK(histogram.mean_ns() == 5.0);
  CHECK(histogram.stddev_ns() == 2.0);
}

TEST_CASE("equal values deviate by 0, not by the root of a rounding error", "[histogram]") {
  Histogram histogram;
  for (int i = 0; i < 1000; ++i) histogram.Add(123'456'789);
  CHECK(histogram.stddev_ns() < 10);
  CHECK_FALSE(std::isnan(histogram.stddev_ns()));
}

TEST_CASE("a percentile is the nearest rank", "[histogram]") {
  Histogram histogram;
  for (uint64_t ns = 1; ns <= 100; ++ns) histogram.Add(ns);
  for (int percent = 1; percent <= 100; ++percent) {
    CHECK(histogram.PercentileNs(percent / 100.0) == percent);
  }
  CHECK(histogram.PercentileNs(0.001) == 1);
  CHECK(histogram.PercentileNs(0.501) == 51);
  CHECK(Of({10, 20, 30}).PercentileNs(0.5) == 20);
  CHECK(Of({10, 20, 30, 40}).PercentileNs(0.5) == 20);
}

TEST_CASE("a percentile is the upper edge of its bucket, but never above the maximum", "[histogram]") {
  const Histogram histogram = Of({1'000'000, 1'000'001, 2'000'000'000});
  CHECK(histogram.PercentileNs(0.5) ==
        static_cast<double>(Histogram::UpperEdge(Histogram::IndexOf(1'000'000))));
  CHECK(histogram.PercentileNs(0.5) <= 1'000'000 * (1 + 1.0 / 128));
  CHECK(histogram.PercentileNs(1.0) == 2'000'000'000);
  CHECK(Of({1'000'000}).PercentileNs(0.5) == 1'000'000);
}

TEST_CASE("values of 2^42 ns and more are counted, and ranked last", "[histogram]") {
  const Histogram histogram = Of({5, kLimitNs - 1, kLimitNs, UINT64_MAX});
  CHECK(histogram.count() == 4);
  CHECK(histogram.overflow_count() == 2);
  CHECK(histogram.max_ns() == UINT64_MAX);
  CHECK(histogram.PercentileNs(0.25) == 5);
  CHECK(histogram.PercentileNs(0.5) == static_cast<double>(kLimitNs - 1));
  CHECK(histogram.PercentileNs(0.75) == static_cast<double>(UINT64_MAX));
}

TEST_CASE("a percentile is trusted when 100 values lie above it", "[histogram]") {
  Histogram histogram;
  for (int i = 0; i < 9'999; ++i) histogram.Add(1);
  CHECK(histogram.Trusted(0.9));
  CHECK_FALSE(histogram.Trusted(0.99));
  histogram.Add(1);
  CHECK(histogram.Trusted(0.99));
  for (int i = 10'000; i < 999'999; ++i) histogram.Add(1);
  CHECK_FALSE(histogram.Trusted(0.9999));
  histogram.Add(1);
  CHECK(histogram.Trusted(0.9999));
}

TEST_CASE("merging is adding, in whatever order", "[histogram]") {
  const std::vector<uint64_t> a = {1, 100, 100, 1'000'000};
  const std::vector<uint64_t> b = {3, 100, kLimitNs + 7};
  const std::vector<uint64_t> c = {2'000'000'000};
  Histogram left = Of(a);
  left.Merge(Of(b));
  left.Merge(Of(c));
  Histogram right_part = Of(b);
  right_part.Merge(Of(c));
  Histogram right = Of(a);
  right.Merge(right_part);
  std::vector<uint64_t> all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  CHECK(Bytes(left) == Bytes(right));
  CHECK(Bytes(left) == Bytes(Of(all)));
}

TEST_CASE("merging an empty one changes nothing, clearing leaves an empty one", "[histogram]") {
  Histogram histogram = Of({7, 9});
  histogram.Merge(Histogram());
  CHECK(Bytes(histogram) == Bytes(Of({7, 9})));
  histogram.Clear();
  CHECK(Bytes(histogram) == Bytes(Histogram()));
  histogram.Add(50);
  CHECK(histogram.min_ns() == 50);
}

TEST_CASE("a message holds the buckets in use and gives the histogram back", "[histogram]") {
  std::mt19937_64 random(7);
  Histogram histogram = Of({0, 0, kLimitNs - 1, kLimitNs, 40});
  for (int i = 0; i < 10'000; ++i) histogram.Add(random() >> (random() % 64));
  Histogram back;
  REQUIRE(back.AddProto(histogram.ToProto()).ok());
  CHECK(Bytes(back) == Bytes(histogram));

  const v1::Histogram message = Of({3, 3, 100}).ToProto();
  REQUIRE(message.index_gaps_size() == 2);
  CHECK(message.index_gaps(0) == 3);
  CHECK(message.index_gaps(1) == 97);
  CHECK(message.counts(0) == 2);
  CHECK(message.count() == 3);
}

TEST_CASE("adding a message is merging", "[histogram]") {
  Histogram histogram = Of({5, 6});
  REQUIRE(histogram.AddProto(Of({1, kLimitNs}).ToProto()).ok());
  CHECK(Bytes(histogram) == Bytes(Of({5, 6, 1, kLimitNs})));
  REQUIRE(histogram.AddProto(v1::Histogram()).ok());
  CHECK(histogram.min_ns() == 1);  // the 0 of an empty message does not count as a value
}

TEST_CASE("a message that does not fit is refused and adds nothing", "[histogram]") {
  struct Row {
    const char* what;
    std::function<void(v1::Histogram&)> spoil;
  };
  const Row rows[] = {
      {"an index is missing", [](v1::Histogram& m) { m.mutable_index_gaps()->RemoveLast(); }},
      {"a count is missing", [](v1::Histogram& m) { m.mutable_counts()->RemoveLast(); }},
      {"the last bucket lies beyond the range",
       [](v1::Histogram& m) { m.set_index_gaps(2, Histogram::kBucketCount - 20); }},
      {"gaps whose sum wraps round in 32 bits",
       [](v1::Histogram& m) { m.set_index_gaps(1, UINT32_MAX - 5); }},
      {"a bucket comes twice", [](v1::Histogram& m) { m.set_index_gaps(1, 0); }},
      {"counts whose sum wraps round",
       [](v1::Histogram& m) {
         m.set_counts(0, UINT64_MAX);
         m.set_count(2);
       }},
      {"count is not the sum", [](v1::Histogram& m) { m.set_count(4); }},
      {"minimum over maximum", [](v1::Histogram& m) { m.set_min_ns(31); }},
      {"a bucket below the minimum", [](v1::Histogram& m) { m.set_min_ns(11); }},
      {"a bucket above the maximum", [](v1::Histogram& m) { m.set_max_ns(29); }},
      {"a sum that is no number", [](v1::Histogram& m) { m.set_sum_ns(std::nan("")); }},
      {"a sum of squares under 0", [](v1::Histogram& m) { m.set_sum_squares_ns2(-1); }},
  };
  Histogram histogram = Of({5, 6});
  const std::string before = Bytes(histogram);
  for (const Row& row : rows) {
    INFO(row.what);
    v1::Histogram message = Of({10, 20, 30}).ToProto();
    row.spoil(message);
    CHECK(histogram.AddProto(message).code() == absl::StatusCode::kInvalidArgument);
    CHECK(Bytes(histogram) == before);
  }
  // The end of the range is allowed.
  v1::Histogram last_bucket = Of({kLimitNs - 1}).ToProto();
  CHECK(last_bucket.index_gaps(0) == Histogram::kBucketCount - 1);
  CHECK(histogram.AddProto(last_bucket).ok());
}

}  // namespace
}  // namespace iobench
