#include "common/transport/door/guess_limit.h"

#include <catch2/catch.hpp>
#include <string>

namespace iobench {
namespace {

constexpr int64_t kNow = 1'000'000'000'000;

void GuessAsOftenAsAllowed(GuessLimit& limit, const std::string& peer, int64_t now_ns, int expected_count) {
  int count = 0;
  for (; count < 10 * GuessLimit::kBurst && limit.Allows(peer, now_ns); ++count) limit.RecordWrong(peer, now_ns);
  CHECK(count == expected_count);
}

TEST_CASE("a host that guesses is slowed down, whatever its ports are, and others are not") {
  GuessLimit limit;
  for (int i = 0; i < GuessLimit::kBurst; ++i) {
    const std::string peer = "10.0.0.7:" + std::to_string(4000 + i);
    REQUIRE(limit.Allows(peer, kNow));
    limit.RecordWrong(peer, kNow);
  }
  CHECK_FALSE(limit.Allows("10.0.0.7:9", kNow));
  CHECK(limit.Allows("10.0.0.8:9", kNow));
  CHECK(limit.Allows("unix socket", kNow));
}

TEST_CASE("a host may guess again after some time, and never faster than that") {
  GuessLimit limit;
  GuessAsOftenAsAllowed(limit, "10.0.0.7:1", kNow, GuessLimit::kBurst);
  GuessAsOftenAsAllowed(limit, "10.0.0.7:1", kNow + 5 * GuessLimit::kNsPerGuess, 5);
  GuessAsOftenAsAllowed(limit, "10.0.0.7:1", kNow + 1'000 * GuessLimit::kNsPerGuess, GuessLimit::kBurst);
}

TEST_CASE("right tokens cost nothing") {
  GuessLimit limit;
  for (int i = 0; i < 10 * GuessLimit::kBurst; ++i) REQUIRE(limit.Allows("10.0.0.7:1", kNow));
}

TEST_CASE("a network of IPv6 addresses counts as one host") {
  GuessLimit limit;
  for (int i = 0; i < GuessLimit::kBurst; ++i) limit.RecordWrong("[2001:db8::" + std::to_string(i) + "]:1", kNow);
  CHECK_FALSE(limit.Allows("[2001:db8::abcd%3]:1", kNow));
  CHECK(limit.Allows("[2001:db8:0:1::1]:1", kNow));
}

TEST_CASE("more hosts than are kept share one allowance, until the first are forgotten") {
  GuessLimit limit;
  const auto host = [](size_t i) { return "10.1." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":1"; };
  for (size_t i = 0; i < GuessLimit::kMaxHosts; ++i) limit.RecordWrong(host(i), kNow);
  GuessAsOftenAsAllowed(limit, "10.2.0.1:1", kNow, GuessLimit::kBurst);
  CHECK_FALSE(limit.Allows("10.2.0.2:1", kNow));
  CHECK(limit.Allows(host(0), kNow));  // it is known
  const int64_t later = kNow + 2 * GuessLimit::kNsPerGuess;
  limit.RecordWrong("10.2.0.2:1", later);  // makes room
  CHECK(limit.Allows("10.2.0.3:1", later));
}

}  // namespace
}  // namespace iobench
