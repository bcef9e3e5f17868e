#include "worker/metadata/item_sizes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

namespace iobench {
namespace {

v1::Tree TreeOf(uint64_t least, uint64_t most) {
  v1::Tree tree;
  tree.set_random_sizes(true);
  tree.set_min_file_bytes(least);
  tree.set_file_bytes(most);
  return tree;
}

TEST_CASE("without random sizes all files have the same") {
  v1::Tree tree;
  tree.set_file_bytes(3901);
  const ItemSizes sizes(tree, 7, 3);
  REQUIRE(sizes.Of(0) == 3901);
  REQUIRE(sizes.Of(99'999'999) == 3901);
  REQUIRE(sizes.SumOf(10) == 39'010);
  REQUIRE(ItemSizes().SumOf(10) == 0);
}

TEST_CASE("random sizes reach from the least to the most, both included, each as often") {
  const ItemSizes sizes(TreeOf(10, 13), 1, 0);
  std::map<uint32_t, int> count;
  for (uint64_t item = 0; item < 40'000; ++item) ++count[sizes.Of(item)];
  REQUIRE(count.size() == 4);
  REQUIRE(count.begin()->first == 10);
  REQUIRE(count.rbegin()->first == 13);
  for (const auto& [bytes, times] : count) {
    INFO(bytes);
    REQUIRE(times > 9500);  // 10,000 of 40,000, give or take six standard deviations of 87
    REQUIRE(times < 10'500);
  }
}

TEST_CASE("a size follows from seed, owner and item, and from nothing else") {
  const v1::Tree tree = TreeOf(0, uint64_t{1} << 30);
  std::vector<uint32_t> sizes;
  for (const auto& [seed, owner] : {std::pair{1, 0}, {1, 0}, {2, 0}, {1, 1}}) {
    sizes.push_back(ItemSizes(tree, static_cast<uint64_t>(seed), static_cast<uint32_t>(owner)).Of(42));
  }
  REQUIRE(sizes[0] == sizes[1]);
  REQUIRE(sizes[0] != sizes[2]);
  REQUIRE(sizes[0] != sizes[3]);
  const ItemSizes all(tree, 1, 0);
  uint64_t sum = 0;
  for (uint64_t item = 0; item < 100; ++item) {
    REQUIRE(all.Of(item) <= uint64_t{1} << 30);
    sum += all.Of(item);
  }
  REQUIRE(all.SumOf(100) == sum);
}

TEST_CASE("one size is a range, too") {
  const ItemSizes sizes(TreeOf(5, 5), 1, 0);
  REQUIRE(sizes.Of(1) == 5);
  REQUIRE(sizes.SumOf(3) == 15);
}

TEST_CASE("sizes of a distribution are drawn by item, and have the shares of its formula") {
  v1::Tree tree;
  tree.set_sizes("pareto:100/1.5");
  tree.set_file_bytes(100'000);
  const ItemSizes sizes(tree, 7, 3), same(tree, 7, 3), of_other_owner(tree, 7, 4);
  constexpr int kItems = 200'000;
  // Of all files, (100 / n)^1.5 are larger than n bytes: intervals whose ends are 2^(1/4) apart.
  std::vector<double> ends, counts;
  for (double end = 100; end < 1'000; end *= 1.189207) ends.push_back(std::floor(end));
  counts.resize(ends.size() + 1);
  uint64_t sum = 0;
  int unlike = 0, largest = 0;
  for (uint64_t item = 0; item < kItems; ++item) {
    const uint32_t bytes = sizes.Of(item);
    ++counts[static_cast<size_t>(std::lower_bound(ends.begin(), ends.end(), bytes) - ends.begin())];
    sum += bytes;
    REQUIRE(bytes == same.Of(item));
    REQUIRE(bytes >= 100);
    REQUIRE(bytes <= 100'000);
    unlike += bytes != of_other_owner.Of(item) ? 1 : 0;
    largest += bytes == 100'000 ? 1 : 0;
  }
  CHECK(sizes.SumOf(kItems) == sum);
  CHECK(unlike > kItems * 9 / 10);
  CHECK(std::abs(largest - kItems * std::pow(0.001, 1.5)) < 4 * std::sqrt(kItems * std::pow(0.001, 1.5)));
  double chi = 0, above = 1;
  for (size_t i = 1; i < counts.size(); ++i) {
    const double next = i < ends.size() ? std::pow(100 / ends[i], 1.5) : 0;
    const double expected = kItems * (above - next);
    chi += (counts[i] - expected) * (counts[i] - expected) / expected;
    above = next;
  }
  const double degrees = static_cast<double>(counts.size()) - 2;
  CHECK((chi - degrees) / std::sqrt(2 * degrees) < 4);
  CHECK((chi - degrees) / std::sqrt(2 * degrees) > -4);
}

}  // namespace
}  // namespace iobench
