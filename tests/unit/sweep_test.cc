#include "coordinator/plan/sweep.h"

#include <catch2/catch.hpp>

#include "common/text/units.h"

namespace iobench {
namespace {

struct NamedOption {
  OptionName name;
  std::string text;
};

using Catch::Contains;

GivenOptions Given(const std::vector<NamedOption>& options) {
  GivenOptions given;
  for (const auto& [name, text] : options) REQUIRE(given.Add(name, text).ok());
  return given;
}

std::vector<SweepCell> CellsOf(const std::vector<NamedOption>& options) {
  const auto sweep = SweepOf(Given(options), 1);
  REQUIRE(sweep.ok());
  return sweep->cells;
}

std::string ErrorOf(const std::vector<NamedOption>& options) {
  return std::string(SweepOf(Given(options), 1).status().message());
}

TEST_CASE("automatic mode goes through IOzone's sizes and records, with its crossover") {
  // As `iozone -a` prints them: sizes double from 64 KiB to 512 MiB, records from 4 KiB to 16 MiB or to the size; from
  // 32 MiB on, records under 64 KiB are left out.
  std::vector<SweepCell> expected;
  for (uint64_t size = 64_KiB; size <= 512_MiB; size *= 2) {
    const uint64_t least = size >= 32_MiB ? 64_KiB : 4_KiB;
    for (uint64_t record = least; record <= std::min<uint64_t>(size, 16_MiB); record *= 2) {
      expected.push_back({1, size, record});
    }
  }
  const std::vector<SweepCell> cells = CellsOf({{"auto", ""}});
  CHECK(cells == expected);
  CHECK(cells.front() == SweepCell{1, 64_KiB, 4_KiB});
  CHECK(cells.back() == SweepCell{1, 512_MiB, 16_MiB});
  CHECK(cells.size() == 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 5 * 9);
}

TEST_CASE("-z has no crossover, and nor has who chooses records or sizes") {
  const auto smallest_record_at = [](const std::vector<SweepCell>& cells, uint64_t size) {
    for (const SweepCell& cell : cells) {
      if (cell.bytes == size) return cell.record_bytes;
    }
    return uint64_t{0};
  };
  CHECK(smallest_record_at(CellsOf({{"auto", ""}, {"all-records", ""}}), 64_MiB) == 4_KiB);
  CHECK(smallest_record_at(CellsOf({{"auto", ""}, {"min-record", "8k"}}), 64_MiB) == 8_KiB);
  CHECK(smallest_record_at(CellsOf({{"auto", ""}, {"size", "64m"}}), 64_MiB) == 4_KiB);
  CHECK(smallest_record_at(CellsOf({{"auto", ""}, {"record", "16k"}}), 64_MiB) == 16_KiB);
  CHECK(smallest_record_at(CellsOf({{"auto", ""}, {"max-size", "64m"}}), 64_MiB) == 64_KiB);
}

TEST_CASE("a range ends at the last step that is not over its largest") {
  // IOzone: -n 1M -g 10M gives 1, 2, 4 and 8 MiB.
  const auto cells = CellsOf({{"auto", ""}, {"min-size", "1m"}, {"max-size", "10m"}, {"record", "64k"}});
  REQUIRE(cells.size() == 4);
  CHECK(cells.back().bytes == 8_MiB);
}

TEST_CASE("-+x is the step of sizes and of records") {
  const auto cells = CellsOf({{"auto", ""},
                              {"min-size", "64k"},
                              {"max-size", "1m"},
                              {"min-record", "4k"},
                              {"max-record", "64k"},
                              {"multiplier", "4"}});
  CHECK(cells == std::vector<SweepCell>{{1, 64_KiB, 4_KiB},
                                        {1, 64_KiB, 16_KiB},
                                        {1, 64_KiB, 64_KiB},
                                        {1, 256_KiB, 4_KiB},
                                        {1, 256_KiB, 16_KiB},
                                        {1, 256_KiB, 64_KiB},
                                        {1, 1_MiB, 4_KiB},
                                        {1, 1_MiB, 16_KiB},
                                        {1, 1_MiB, 64_KiB}});
}

TEST_CASE("lists of sizes and records are taken in any order, each once") {
  // IOzone tests only 256k of `-s 256k -s 64k`.
  const auto cells =
      CellsOf({{"size", "256k"}, {"size", "64k"}, {"size", "256k"}, {"record", "8k"}, {"record", "4k"}});
  CHECK(cells == std::vector<SweepCell>{
                     {1, 64_KiB, 4_KiB}, {1, 64_KiB, 8_KiB}, {1, 256_KiB, 4_KiB}, {1, 256_KiB, 8_KiB}});
}

TEST_CASE("lists leave out records that are larger than their file, unless no file takes one") {
  CHECK(CellsOf({{"size", "64k"}, {"size", "4k"}, {"record", "8k"}, {"record", "4k"}}) ==
        std::vector<SweepCell>{{1, 4_KiB, 4_KiB}, {1, 64_KiB, 4_KiB}, {1, 64_KiB, 8_KiB}});
  CHECK_THAT(ErrorOf({{"size", "64k"}, {"record", "1m"}, {"record", "4k"}}), Contains("1 MiB"));
  CHECK_THAT(ErrorOf({{"size", "1k"}, {"size", "64k"}, {"record", "8k"}, {"record", "4k"}}),
             Contains("1 KiB"));
}

TEST_CASE("lanes are swept as a list or through a range, outermost") {
  const auto listed =
      CellsOf({{"lanes", "4"}, {"lanes", "1"}, {"lanes", "4"}, {"size", "64k"}, {"size", "128k"}});
  CHECK(listed == std::vector<SweepCell>{
                      {4, 64_KiB, 64_KiB}, {4, 128_KiB, 64_KiB}, {1, 64_KiB, 64_KiB}, {1, 128_KiB, 64_KiB}});
  const auto counted = CellsOf({{"min-lanes", "2"}, {"max-lanes", "4"}});
  REQUIRE(counted.size() == 3);
  CHECK(counted[0].lanes == 2);
  CHECK(counted[2].lanes == 4);
  CHECK(CellsOf({{"max-lanes", "3"}}).size() == 3);
  CHECK(SweepOf(Given({{"lanes", "2"}, {"lanes", "5"}}), 1)->max_lanes() == 5);
}

TEST_CASE("limits that leave nothing are refused with both") {
  CHECK_THAT(ErrorOf({{"auto", ""}, {"min-size", "2m"}, {"max-size", "1m"}}),
             Contains("-n") && Contains("-g"));
  CHECK_THAT(ErrorOf({{"auto", ""}, {"min-record", "8k"}, {"max-record", "4k"}}),
             Contains("-y") && Contains("-q"));
  CHECK_THAT(ErrorOf({{"auto", ""}, {"min-size", "4k"}, {"min-record", "8k"}}), Contains("smallest"));
  CHECK_THAT(ErrorOf({{"min-lanes", "5"}, {"max-lanes", "2"}}), Contains("-l") && Contains("-u"));
}

}  // namespace
}  // namespace iobench
