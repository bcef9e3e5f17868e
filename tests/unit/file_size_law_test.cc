#include "common/file_sizes/file_size_law.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace iobench {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 60;

FileSizeLaw LawOf(const std::string& text) {
  const auto law = ParseFileSizes(text);
  REQUIRE(law.ok());
  return *law;
}

std::vector<uint64_t> Drawn(const FileSizeLaw& law, size_t count, uint64_t largest_bytes = kNoLimit) {
  std::mt19937_64 random(4711);
  std::vector<uint64_t> sizes;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t part = random(), first = random(), second = random();
    sizes.push_back(law.SizeAt(part, first, second, largest_bytes));
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

using Distribution = std::function<double(double bytes)>;

// The largest distance between the shares of the sizes and the distribution, at whole bytes, times the root of the number
// of sizes: Kolmogorov's statistic, which is above 1.95 in one of 1000 cases.
double KolmogorovOf(const std::vector<uint64_t>& sorted, const Distribution& distribution) {
  const auto count = static_cast<double>(sorted.size());
  double most = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i + 1 < sorted.size() && sorted[i + 1] == sorted[i]) continue;  // the share is that of the last of equal ones
    most = std::max(most, std::abs(static_cast<double>(i + 1) / count - distribution(static_cast<double>(sorted[i]))));
  }
  return most * std::sqrt(count);
}

// Integrates the normal density, in place of the error function that the law itself uses for its mean.
double NormalDistribution(double z) {
  constexpr int kSteps = 4000;
  const double width = z / kSteps;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double x = (i + 0.5) * width;
    sum += std::exp(-x * x / 2) * width;
  }
  return 0.5 + sum / std::sqrt(2 * 3.14159265358979323846);
}

double MeanOf(const std::vector<uint64_t>& sizes) {
  double sum = 0;
  for (const uint64_t size : sizes) sum += static_cast<double>(size);
  return sum / static_cast<double>(sizes.size());
}

TEST_CASE("lognormal sizes have the distribution of their formula, for every whole number of bytes") {
  const Distribution tens = [](double bytes) { return NormalDistribution(std::log(bytes / 10) / 0.5); };
  const Distribution tens_of_thousands = [](double bytes) { return NormalDistribution(std::log(bytes / 13'000) / 2.5); };
  CHECK(KolmogorovOf(Drawn(LawOf("lognormal:10/0.5"), 100'000), tens) < 1.95);
  CHECK(KolmogorovOf(Drawn(LawOf("lognormal:13000/2.5"), 20'000), tens_of_thousands) < 1.95);
}

TEST_CASE("half of lognormal sizes are up to the median, and their mean is median x exp(sigma^2 / 2)") {
  const std::vector<uint64_t> sizes = Drawn(LawOf("lognormal:1m/1"), 1'000'000);
  const auto below = std::upper_bound(sizes.begin(), sizes.end(), uint64_t{1} << 20) - sizes.begin();
  CHECK(std::abs(static_cast<double>(below) - 500'000) < 4 * 500);  // 4 standard deviations
  // The standard deviation of a size is mean x sqrt(exp(sigma^2) - 1), that of the mean a thousandth.
  const double mean = 1'048'576 * std::exp(0.5);
  CHECK(std::abs(MeanOf(sizes) - mean) < 4 * mean * std::sqrt(std::exp(1.0) - 1) / 1000);
  CHECK(LawOf("lognormal:1m/1").MeanBytes(kNoLimit) == Approx(mean));
}

TEST_CASE("pareto sizes have the distribution of their formula, for every whole number of bytes") {
  const Distribution small = [](double bytes) { return bytes < 3 ? 0 : 1 - std::pow(3 / bytes, 1.5); };
  const Distribution large = [](double bytes) { return bytes < 4096 ? 0 : 1 - std::pow(4096 / bytes, 1.1); };
  CHECK(KolmogorovOf(Drawn(LawOf("pareto:3/1.5"), 100'000), small) < 1.95);
  CHECK(KolmogorovOf(Drawn(LawOf("pareto:4k/1.1"), 100'000), large) < 1.95);
  // The mean of pareto:100/3 is 100 x 3 / 2, its variance 100^2 x 3 / (2^2 x 1); half a byte is added by rounding up.
  const std::vector<uint64_t> sizes = Drawn(LawOf("pareto:100/3"), 1'000'000);
  CHECK(std::abs(MeanOf(sizes) - 150.5) < 4 * std::sqrt(7'500.0) / 1000);
  CHECK(LawOf("pareto:100/3").MeanBytes(kNoLimit) == Approx(150));
  CHECK(LawOf("pareto:100/3").DeviationBytes(kNoLimit) == Approx(std::sqrt(7'500.0)));
  CHECK(LawOf("lognormal:1m/1").DeviationBytes(kNoLimit) == Approx(1'048'576 * std::exp(0.5) * std::sqrt(std::exp(1.0) - 1)));
}

TEST_CASE("desktop sizes have a lognormal body and a Pareto tail") {
  const Distribution published = [](double bytes) {
    const double tail = bytes < 536'870'912 ? 0 : 1 - std::pow(536'870'912 / bytes, 0.91);
    return 0.99994 * NormalDistribution((std::log(bytes) - 9.48) / 2.46) + 0.00006 * tail;
  };
  const std::vector<uint64_t> sizes = Drawn(LawOf("desktop"), 20'000);
  CHECK(KolmogorovOf(sizes, published) < 1.95);
  // Of a million, 60 are from the tail, at 512 MiB or above; of the body, 1 - Phi((20.1 - 9.48) / 2.46) = 0.79 per 100,000.
  const std::vector<uint64_t> many = Drawn(LawOf("desktop"), 1'000'000);
  const double above = static_cast<double>(many.end() - std::lower_bound(many.begin(), many.end(), 536'870'912u));
  const double expected = 60 + 1e6 * (1 - NormalDistribution((std::log(536'870'912.0) - 9.48) / 2.46)) * 0.99994;
  CHECK(std::abs(above - expected) < 4 * std::sqrt(expected));
}

TEST_CASE("atlas sizes have the shares of the published table, and even logarithms between its sizes") {
  // Percentages as the source prints them, rounded to two digits.
  const std::vector<std::pair<double, double>> table = {{4, 17.08},    {8, 4.90},      {16, 3.76},      {32, 4.61},
                                                        {64, 6.07},    {256, 11.50},   {512, 7.22},     {1024, 3.14},
                                                        {4096, 11.87}, {16384, 11.24}, {524288, 16.32}, {1048576, 1.65}};
  const std::vector<uint64_t> sizes = Drawn(LawOf("atlas"), 200'000);
  const auto up_to = [&sizes](double bytes) {
    const auto end = std::upper_bound(sizes.begin(), sizes.end(), static_cast<uint64_t>(bytes));
    return static_cast<double>(end - sizes.begin());
  };
  double chi = 0, before = 0, begin = 1;
  for (const auto& [kib, percent] : table) {
    const double end = kib * 1024, expected = 2'000 * percent;
    const double counted = up_to(end) - before;
    chi += (counted - expected) * (counted - expected) / expected;
    // Half of a bar's sizes are up to the geometric mean of its ends, but for whole bytes.
    const double half = up_to(std::sqrt(begin * end)) - before;
    CHECK(std::abs(half - counted / 2) < 4 * std::sqrt(counted / 4));
    before += counted;
    begin = end;
  }
  const double expected = 2'000 * 0.64;  // 1 GiB and above
  chi += (200'000 - before - expected) * (200'000 - before - expected) / expected;
  CHECK((chi - 12) / std::sqrt(24.0) < 4);
}

TEST_CASE("sizes above the largest become the largest, and the mean follows") {
  for (const char* const text : {"lognormal:1000/2", "pareto:500/0.8", "pareto:500/1", "desktop", "atlas"}) {
    INFO(text);
    const FileSizeLaw law = LawOf(text);
    const std::vector<uint64_t> sizes = Drawn(law, 1'000'000, 10'000);
    CHECK(sizes.back() == 10'000);
    CHECK(sizes.front() >= 1);
    // A standard deviation is at most half of the range.
    CHECK(std::abs(MeanOf(sizes) - 0.5 - law.MeanBytes(10'000)) < 4 * 5'000 / 1000.0 + 0.5);
    double squares = 0;
    for (const uint64_t size : sizes) squares += static_cast<double>(size) * static_cast<double>(size);
    const double deviation = std::sqrt(squares / static_cast<double>(sizes.size()) - MeanOf(sizes) * MeanOf(sizes));
    CHECK(law.DeviationBytes(10'000) == Approx(deviation).epsilon(0.01));
  }
  CHECK(LawOf("pareto:500/2").MeanBytes(100) == 100);
  const std::vector<uint64_t> all_largest = Drawn(LawOf("pareto:500/2"), 100, 100);
  CHECK(all_largest.front() == 100);
}

TEST_CASE("the ends of the random numbers give sizes") {
  for (const char* const text : {"lognormal:1/10", "pareto:1/0.01", "desktop", "atlas"}) {
    for (const uint64_t random : {uint64_t{0}, UINT64_MAX}) {
      const uint64_t size = LawOf(text).SizeAt(random, random, random, uint64_t{1} << 30);
      CHECK(size >= 1);
      CHECK(size <= uint64_t{1} << 30);
    }
  }
}

TEST_CASE("file sizes that cannot be are refused with the syntax") {
  for (const char* const text : {"", "lognormal", "lognormal:", "lognormal:4k", "lognormal:0/1", "lognormal:4k/0", "lognormal:4k/11",
                                 "lognormal:4k/1x", "pareto:4k/0", "pareto:-1/1", "pareto:4k/101", "uniform:1/2", "Desktop", "zipf:1"}) {
    INFO(text);
    const auto law = ParseFileSizes(text);
    REQUIRE_FALSE(law.ok());
    CHECK(std::string(law.status().message()).find("lognormal:MEDIAN/SIGMA") != std::string::npos);
    CHECK(std::string(law.status().message()).find("desktop") != std::string::npos);
  }
}

TEST_CASE("each published distribution says where it is from") {
  for (const PublishedSizes& published : AllPublishedSizes()) {
    CHECK(ParseFileSizes(std::string(published.name)).ok());
    CHECK(published.source.size() > 50);
  }
}

}  // namespace
}  // namespace iobench
