// IOzone's latency bands: their edges, and which latencies they count.
#include "coordinator/analysis/iozone_bands.h"

#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace iobench {
namespace {

uint64_t CountIn(const std::string& label, const Histogram& latency) {
  const std::vector<uint64_t> counts = CountsInIozoneBands(latency);
  REQUIRE(counts.size() == IozoneBands().size());
  for (size_t i = 0; i < counts.size(); ++i) {
    if (IozoneBands()[i].label == label) return counts[i];
  }
  FAIL("no band " << label);
  return 0;
}

TEST_CASE("there are IOzone's 40 bands on 9 lines, ascending, and no label is used twice") {
  REQUIRE(IozoneBands().size() == 40);
  std::map<int, int> on_line;
  std::set<std::string> labels;
  for (size_t i = 0; i < 40; ++i) {
    if (i > 0) CHECK(IozoneBands()[i - 1].up_to_ns < IozoneBands()[i].up_to_ns);
    ++on_line[IozoneBands()[i].line];
    CHECK(labels.insert(IozoneBands()[i].label).second);
  }
  CHECK(on_line ==
        std::map<int, int>{{1, 5}, {2, 5}, {3, 5}, {4, 5}, {5, 4}, {6, 5}, {7, 5}, {8, 5}, {9, 1}});
}

TEST_CASE("a latency counts in the band that ends above it, and one beyond in the next") {
  Histogram latency;
  latency.Add(1'000);
  latency.Add(19'900);  // in the bucket of 19,840 to 19,967 ns
  CHECK(CountIn("20us", latency) == 2);
  latency.Add(20'100);  // in that of 20,096 to 20,223 ns
  CHECK(CountIn("40us", latency) == 1);
  latency.Add(25'000'000'000);
  CHECK(CountIn("30s", latency) == 1);
  latency.Add(uint64_t{1} << 43);  // over 73 minutes, above the histogram's range
  latency.Add(121'000'000'000);
  CHECK(CountIn("120+s", latency) == 2);
}

TEST_CASE("every latency is in one band") {
  Histogram latency;
  uint64_t added = 0;
  for (uint64_t ns = 1; ns < uint64_t{1} << 45; ns = ns * 3 / 2 + 1, ++added) latency.Add(ns);
  const std::vector<uint64_t> counts = CountsInIozoneBands(latency);
  CHECK(std::accumulate(counts.begin(), counts.end(), uint64_t{0}) == added);
}

}  // namespace
}  // namespace iobench
