#include "coordinator/mix/replay_rates.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

namespace iobench {
namespace {

using PerSecond = std::map<std::string, double>;

PerSecond ReplayOps(const PerSecond& per_s, NfsProtocol protocol = NfsProtocol::k4) {
  PerSecond ops;
  for (const ReplayedOperation& each : RatesThatMake(per_s, protocol))
    ops[std::string(each.operation)] = each.ops_per_s;
  return ops;
}

PerSecond ReplayRequests(const PerSecond& per_s, NfsProtocol protocol = NfsProtocol::k4) {
  PerSecond made;
  for (const ReplayedOperation& each : RatesThatMake(per_s, protocol)) {
    for (const auto& [name, rate] : each.requests_per_s) made[name] += rate;
  }
  return made;
}

TEST_CASE("a mail spool is delivered: each file made, written, renamed and removed once") {
  const PerSecond spool = {{"OPEN", 10}, {"CLOSE", 10}, {"WRITE", 10}, {"RENAME", 10}, {"REMOVE", 10}};
  const PerSecond ops = ReplayOps(spool);
  REQUIRE(ops.size() == 1);
  CHECK(ops.at("deliver") == Approx(30).epsilon(1e-4));  // three ops a file
  for (const auto& [name, rate] : ReplayRequests(spool)) CHECK(rate == Approx(10).epsilon(1e-4));
  const PerSecond on_v3 = {{"CREATE", 10}, {"WRITE", 10}, {"RENAME", 10}, {"REMOVE", 10}};
  CHECK(ReplayOps(on_v3, NfsProtocol::k3).at("deliver") == Approx(30).epsilon(1e-4));
}

TEST_CASE(
    "files made are divided into those removed and those renamed over others; the other opens only open") {
  // 10 made: 4 removed, 6 renamed over others.
  const PerSecond on_v3 = {{"CREATE", 10}, {"REMOVE", 4}, {"RENAME", 6}};
  const PerSecond ops = ReplayOps(on_v3, NfsProtocol::k3);
  CHECK(ops.at("recreate") == Approx(8).epsilon(1e-3));
  CHECK(ops.at("replace") == Approx(12).epsilon(1e-3));
  CHECK(ops.size() == 2);
  const PerSecond made =
      ReplayRequests({{"OPEN", 50}, {"CLOSE", 50}, {"REMOVE", 4}, {"RENAME", 6}, {"WRITE", 30}});
  CHECK(made.at("OPEN") == Approx(50).epsilon(1e-4));
  CHECK(made.at("REMOVE") == Approx(4).epsilon(1e-4));
  CHECK(made.at("RENAME") == Approx(6).epsilon(1e-4));
  CHECK(made.at("WRITE") == Approx(30).epsilon(1e-4));
}

TEST_CASE("listings ask for attributes too, which are deducted from stat") {
  const PerSecond ops = ReplayOps({{"READDIR", 3}, {"GETATTR", 10}});
  CHECK(ops.at("readdir") == Approx(3).epsilon(1e-4));
  CHECK(ops.at("stat") == Approx(7).epsilon(1e-4));
}

TEST_CASE("what no operation makes has a reason, and other requests keep their rates") {
  CHECK(WhyNoOperationMakes("LINK") == "no operation makes and removes these in turn");
  CHECK(WhyNoOperationMakes("READ").empty());
  const PerSecond ops = ReplayOps({{"READ", 7}, {"LINK", 5}, {"COMMIT", 2}});
  REQUIRE(ops.size() == 1);
  CHECK(ops.at("random-read") == Approx(7));
  CHECK(RequestClassOf("OPEN_NOATTR") == "OPEN");
  CHECK(RequestClassOf("LOOKUP") == "GETATTR");
}

}  // namespace
}  // namespace iobench
