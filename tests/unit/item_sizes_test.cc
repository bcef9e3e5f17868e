#include "worker/metadata/item_sizes.h"

#include <algorithm>
#include <catch2/catch.hpp>
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

}  // namespace
}  // namespace iobench
