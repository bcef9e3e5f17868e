#include "worker/pattern/permutation.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace iobench {
namespace {

std::vector<uint64_t> WholeOrder(uint64_t count, uint64_t key) {
  Permutation permutation(count, key);
  std::vector<uint64_t> order;
  std::array<uint64_t, 64> batch;
  while (const size_t filled = permutation.Fill(batch))
    order.insert(order.end(), batch.begin(), batch.begin() + filled);
  return order;
}

bool HasEachOnce(std::vector<uint64_t> order, uint64_t count) {
  std::sort(order.begin(), order.end());
  if (order.size() != count) return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

// How far `cells` are from even, in standard deviations from what drawing without replacement gives: below 0 more even
// than chance, above 0 less. `drawn_share` of the population was drawn.
double ChiSquareSigmas(const std::vector<uint64_t>& cells, double expected, double drawn_share) {
  double sum = 0;
  for (const uint64_t cell : cells) sum += std::pow(static_cast<double>(cell) - expected, 2) / expected;
  const double degrees = static_cast<double>(cells.size() - 1);
  return (sum / (1 - drawn_share) - degrees) / std::sqrt(2 * degrees);
}

TEST_CASE("a permutation hands out every number exactly once") {
  for (uint64_t count = 1; count <= 300; ++count) {
    INFO(count);
    REQUIRE(HasEachOnce(WholeOrder(count, 7 * count), count));
  }
  for (const uint64_t count : {1023u, 1024u, 1025u, 65'535u, 65'536u, 65'537u, 1'000'003u}) {
    INFO(count);
    REQUIRE(HasEachOnce(WholeOrder(count, 1), count));
  }
}

TEST_CASE("a permutation maps every number to another one, whatever else is mapped with it") {
  for (const uint64_t count : {1u, 2u, 63u, 64u, 65u, 1'000u, 4'096u, 4'097u}) {
    INFO(count);
    const Permutation permutation(count, count);
    std::vector<uint64_t> images;
    for (uint64_t first = 0; first < count; first += 64) {
      std::vector<uint64_t> numbers(std::min<uint64_t>(64, count - first));
      std::iota(numbers.begin(), numbers.end(), first);
      permutation.Map(numbers);
      images.insert(images.end(), numbers.begin(), numbers.end());
    }
    CHECK(HasEachOnce(images, count));
    std::array<uint64_t, 2> alone = {count - 1, count - 1};
    permutation.Map(alone);
    CHECK(alone[0] == images.back());
    CHECK(alone[1] == images.back());
  }
}

TEST_CASE("a permutation is the same for the same key and another for another key") {
  REQUIRE(WholeOrder(1000, 5) == WholeOrder(1000, 5));
  const std::vector<uint64_t> a = WholeOrder(1000, 5);
  const std::vector<uint64_t> b = WholeOrder(1000, 6);
  // Two independent orders agree in one place on average; 10 happens once in ten million tries.
  int same_count = 0;
  for (size_t i = 0; i < a.size(); ++i) same_count += a[i] == b[i] ? 1 : 0;
  REQUIRE(same_count < 10);
}

TEST_CASE("what a permutation took back comes again in the same order") {
  const std::vector<uint64_t> whole = WholeOrder(100, 3);
  for (const size_t back : {size_t{0}, size_t{1}, size_t{13}, size_t{40}}) {
    Permutation permutation(100, 3);
    std::vector<uint64_t> order(40);
    REQUIRE(permutation.Fill(order) == 40);
    permutation.Unread(back);
    order.resize(40 - back);
    std::array<uint64_t, 17> batch;
    while (const size_t filled = permutation.Fill(batch)) {
      order.insert(order.end(), batch.begin(), batch.begin() + filled);
    }
    REQUIRE(order == whole);
  }
}

TEST_CASE("the orders of few numbers are equally likely over the keys") {
  for (const uint64_t count : {2u, 3u, 4u}) {
    constexpr uint64_t kKeys = 24'000;
    std::map<std::vector<uint64_t>, uint64_t> seen;
    for (uint64_t key = 0; key < kKeys; ++key) ++seen[WholeOrder(count, key * 0x51ED27)];
    uint64_t order_count = 1;
    for (uint64_t i = 2; i <= count; ++i) order_count *= i;
    REQUIRE(seen.size() == order_count);
    const double expected = static_cast<double>(kKeys) / static_cast<double>(order_count);
    for (const auto& [order, times] : seen) {
      INFO(count << " numbers, one order came " << times << " times instead of about " << expected);
      REQUIRE(static_cast<double>(times) > 0.8 * expected);
      REQUIRE(static_cast<double>(times) < 1.2 * expected);
    }
  }
}

// A storage system with n stripes sees index mod n. Its neighbours must be spread like random draws: neither in turn
// (flatters the storage) nor in clumps. 2^19 + 7 is the worst case for the filter, 2^19 has nothing filtered.
TEST_CASE("at every power of two up to 1024 and every lag up to 64 the order looks random") {
  for (const uint64_t count : {uint64_t{1} << 19, (uint64_t{1} << 19) + 7}) {
    for (const uint64_t key : {1u, 2u, 0xABCDEFu}) {
      const std::vector<uint64_t> order = WholeOrder(count, key);
      for (uint64_t modulus = 2; modulus <= 1024; modulus *= 2) {
        INFO("count " << count << ", key " << key << ", modulus " << modulus);

        // How often two ops `lag` apart hit the same stripe: binomial with p = 1/modulus.
        const double p = 1.0 / static_cast<double>(modulus);
        for (size_t lag = 1; lag <= 64; ++lag) {
          uint64_t hits = 0;
          for (size_t i = lag; i < order.size(); ++i) {
            hits += ((order[i] ^ order[i - lag]) & (modulus - 1)) == 0 ? 1 : 0;
          }
          const double tries = static_cast<double>(order.size() - lag);
          const double sigmas = (static_cast<double>(hits) - tries * p) / std::sqrt(tries * p * (1 - p));
          INFO("lag " << lag << ": " << sigmas << " sigmas");
          REQUIRE(std::abs(sigmas) < 6);
        }

        // A stretch of the order spreads over the stripes as chance would, 64 a stripe expected.
        const size_t stretch = 64 * modulus;
        for (size_t begin = 0; begin + stretch <= order.size();
             begin += std::max(stretch, order.size() / 8)) {
          std::vector<uint64_t> stripes(modulus);
          for (size_t i = begin; i < begin + stretch; ++i) ++stripes[order[i] & (modulus - 1)];
          const double sigmas =
              ChiSquareSigmas(stripes, 64, static_cast<double>(stretch) / static_cast<double>(order.size()));
          INFO("stretch at " << begin << ": " << sigmas << " sigmas");
          REQUIRE(sigmas < 8);   // not in clumps; with few stripes chi-square has a long tail
          REQUIRE(sigmas > -5);  // nor in turn
        }
      }
    }
  }
}

TEST_CASE("neighbours in the order are not correlated at any lag up to 64") {
  for (const uint64_t count : {10'000u, 65'536u, 100'000u, 600'000u}) {
    const std::vector<uint64_t> order = WholeOrder(count, 99);
    const double mean = static_cast<double>(count - 1) / 2;
    double variance = 0;
    for (const uint64_t index : order) variance += std::pow(static_cast<double>(index) - mean, 2);
    for (size_t lag = 1; lag <= 64; ++lag) {
      double covariance = 0;
      for (size_t i = lag; i < order.size(); ++i) {
        covariance += (static_cast<double>(order[i]) - mean) * (static_cast<double>(order[i - lag]) - mean);
      }
      INFO("count " << count << ", lag " << lag);
      REQUIRE(std::abs(covariance / variance) < 5.5 / std::sqrt(static_cast<double>(count)));
    }
  }
}

}  // namespace
}  // namespace iobench
