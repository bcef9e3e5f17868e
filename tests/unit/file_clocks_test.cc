#include "coordinator/preflight/file_clocks.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/time.h"

namespace iobench {
namespace {

// A client whose clock is ahead of the file system's by this, and that took 20 ms to create its file.
ClockSight Ahead(const std::string& client, double seconds) {
  constexpr int64_t kStampNs = 1'000'000'000'500'000'000;
  const int64_t begin_ns = kStampNs + static_cast<int64_t>(seconds * kNanosPerSecond);
  return {.client = client,
          .begin_wall_ns = begin_ns,
          .end_wall_ns = begin_ns + 20'000'000,
          .modified_ns = kStampNs};
}

FileClocks Of(const std::vector<ClockSight>& sights) {
  return CompareClocks(sights, StepOfWholeSecondsNs(sights));
}

TEST_CASE(
    "clients that agree with each other and not with the file system show that the server's clock is off") {
  const FileClocks behind = Of({Ahead("c0", -3600), Ahead("c1", -3600.5)});
  REQUIRE(behind.server_ahead_s.has_value());
  CHECK(*behind.server_ahead_s == Approx(3600.48));
  CHECK(Summary(behind).starts_with("the server's clock is 1 h"));
  CHECK(Summary(behind).find("ahead of those of all 2 clients, which agree within 480 ms") !=
        std::string::npos);
  CHECK(Lines(behind).size() == 2);
  const FileClocks ahead = Of({Ahead("c0", 10), Ahead("c1", 10)});
  REQUIRE(ahead.server_ahead_s.has_value());
  CHECK(*ahead.server_ahead_s == Approx(-10));
  CHECK(Summary(ahead).find(" behind those of all 2 clients") != std::string::npos);
}

TEST_CASE("one client that differs is no server that differs, and neither is a single client") {
  const FileClocks one = Of({Ahead("c0", 2), Ahead("c1", 0)});
  CHECK_FALSE(one.server_ahead_s.has_value());
  CHECK(Lines(one) == std::vector<std::string>{"c0: its clock is 2 s ahead of the file system's"});
  CHECK(one.between_clients_s == Approx(1.98));
  CHECK_FALSE(Of({Ahead("c0", 3600)}).server_ahead_s.has_value());
  CHECK_FALSE(Of({Ahead("c0", 2), Ahead("c1", 3)}).server_ahead_s.has_value());
  CHECK_FALSE(Of({Ahead("c0", 0.05), Ahead("c1", 0.05)}).server_ahead_s.has_value());
}

}  // namespace
}  // namespace iobench
