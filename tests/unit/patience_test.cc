#include "coordinator/options/patience.h"

#include <catch2/catch.hpp>
#include <string>

namespace iobench {
namespace {

TEST_CASE("whatever is given, no worker leaves before its coordinator would drop it") {
  struct Row {
    std::optional<double> lost_after_s, lease_s;
    double expected_lost_after_s, expected_lease_s;
  };
  const Row rows[] = {
      {std::nullopt, std::nullopt, 45, 45}, {120, std::nullopt, 120, 120}, {5, std::nullopt, 5, 45},
      {std::nullopt, 2, 2, 2},              {std::nullopt, 60, 45, 60},    {10, 10, 10, 10},
      {10, 12.5, 10, 12.5},
  };
  for (const Row& row : rows) {
    const auto patience = PatienceFrom(row.lost_after_s, row.lease_s);
    REQUIRE(patience.ok());
    CHECK(patience->lost_after_s == row.expected_lost_after_s);
    CHECK(patience->lease_s == row.expected_lease_s);
  }
}

TEST_CASE("a lease that is too short is refused by both names") {
  const absl::Status refused = PatienceFrom(20, 10).status();
  CHECK(absl::IsInvalidArgument(refused));
  CHECK_THAT(std::string(refused.message()),
             Catch::StartsWith("--lease 10 s is shorter than --lost-after 20 s: "));
}

}  // namespace
}  // namespace iobench
