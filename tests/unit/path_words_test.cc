#include "coordinator/report/text/path_words.h"

#include <catch2/catch.hpp>
#include <limits>

namespace iobench {
namespace {

TEST_CASE("a path has its share of the first one's rate, and what its repetitions show") {
  v1::EachPathCell cell;
  cell.set_of_first(0.75);
  CHECK(RatioText(cell) == "75 %");
  CHECK(VerdictText(cell).empty());
  cell.set_verdict("worse");
  cell.set_low(0.7);
  cell.set_high(0.995);
  CHECK(VerdictText(cell) == "worse (-30.0 % to -0.5 %)");
  cell.set_of_first(std::numeric_limits<double>::quiet_NaN());
  CHECK(RatioText(cell) == "-");
}

}  // namespace
}  // namespace iobench
