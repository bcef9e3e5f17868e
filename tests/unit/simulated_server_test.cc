// The model behind the simulated engine, by arithmetic, and the memory that its users share.
#include "common/simulated/simulated_server.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "common/clock.h"

namespace iobench {
namespace {

constexpr int64_t kUs = 1000;

SimulatedStorage Parsed(std::string_view text) {
  const auto storage = ParseSimulatedStorage(text);
  REQUIRE(storage.ok());
  return *storage;
}

std::string WhyBad(std::string_view text) {
  const auto storage = ParseSimulatedStorage(text);
  REQUIRE_FALSE(storage.ok());
  return std::string(storage.status().message());
}

TEST_CASE("ops wait for the server that is free first") {
  const SimulatedStorage storage = Parsed("servers=2,service=100us");
  SimulatedState state{};
  const auto end_us = [&](int64_t now_us) {
    return EndOfSimulatedOp(storage, 1, now_us * kUs, 4096, state) / kUs;
  };
  CHECK(end_us(0) == 100);
  CHECK(end_us(10) == 110);
  CHECK(end_us(20) == 200);   // the first server is free at 100
  CHECK(end_us(20) == 210);   // the second one at 110
  CHECK(end_us(500) == 600);  // both are idle
}

TEST_CASE("the link carries one op at a time, before the servers, and a round trip occupies nothing") {
  const SimulatedStorage storage = Parsed("servers=8,service=10us,link=1MiB,round-trip=50us");
  SimulatedState state{};
  const auto end_us = [&] { return EndOfSimulatedOp(storage, 1, 0, 100, state) / kUs; };
  // 100 bytes take 95.367 us at 1 MiB/s (sizes are powers of 1024).
  CHECK(end_us() == 50 + 95 + 10);
  CHECK(end_us() == 50 + 190 + 10);
  CHECK(end_us() == 50 + 286 + 10);
}

TEST_CASE("a token bucket lets a burst pass, then ops at its baseline, and refills while nobody uses it") {
  const SimulatedStorage storage = Parsed("servers=8,service=10us,baseline=1000000,burst=3000");  // 1 byte per us
  SimulatedState state{};
  const auto end_us = [&](int64_t now_us) { return EndOfSimulatedOp(storage, 1, now_us * kUs, 1000, state) / kUs; };
  constexpr int64_t kLong = 10'000'000;  // its clock began long before
  for (int i = 0; i < 3; ++i) CHECK(end_us(kLong) == kLong + 10);
  CHECK(end_us(kLong) == kLong + 1000 + 10);
  CHECK(end_us(kLong) == kLong + 2000 + 10);
  // 3000 us after that it has refilled to 1000 tokens at 3000, and at 10,000 is full.
  CHECK(end_us(kLong + 3000) == kLong + 3000 + 10);
  CHECK(end_us(kLong + 3000) == kLong + 4000 + 10);
  for (int i = 0; i < 3; ++i) CHECK(end_us(kLong + 10'000) == kLong + 10'000 + 10);
  CHECK(end_us(kLong + 10'000) == kLong + 11'000 + 10);
}

TEST_CASE("a token bucket needs a baseline and a burst") {
  CHECK(WhyBad("burst=4GiB").find("give both or neither") != std::string::npos);
  CHECK(WhyBad("baseline=100MiB").find("give both or neither") != std::string::npos);
  CHECK(WhyBad("baseline=fast,burst=1GiB").find("\"baseline=fast\" is not a number of bytes per second") !=
        std::string::npos);
  CHECK(WhyBad("baseline=1,burst=1GiB").find("would need over 10^7 s") != std::string::npos);
  CHECK(WhyBad("baseline=1MiB,burst=0").find("\"burst=0\" is not a number of bytes") != std::string::npos);
}

TEST_CASE("exponential service times have their mean and deviation, and a seed repeats them") {
  const SimulatedStorage storage = Parsed("service=100us,distribution=exponential");
  constexpr int kCount = 200'000;
  double sum = 0, squares = 0;
  SimulatedState state{}, other{};
  for (int i = 0; i < kCount; ++i) {
    const int64_t now_ns = int64_t{i} * 1'000'000'000;  // nobody waits
    const auto ns = static_cast<double>(EndOfSimulatedOp(storage, 5, now_ns, 1, state) - now_ns);
    if (i < 10) CHECK(EndOfSimulatedOp(storage, 5, now_ns, 1, other) - now_ns == static_cast<int64_t>(ns));
    sum += ns;
    squares += ns * ns;
  }
  const double mean = sum / kCount;
  CHECK(mean == Approx(100e3).epsilon(0.01));
  CHECK(std::sqrt(squares / kCount - mean * mean) == Approx(100e3).epsilon(0.02));
}

// N lanes, each of which begins an op when its last one has ended, do X(N) of the Universal Scalability Law.
TEST_CASE("with contention and crosstalk, the throughput of n lanes follows the Universal Scalability Law") {
  constexpr double kSigma = 0.05, kKappa = 0.002, kLambda = 1e4;  // 100 us
  const SimulatedStorage storage = Parsed("service=100us,contention=0.05,crosstalk=0.002");
  for (const uint32_t n : {1u, 2u, 8u, 32u}) {
    SimulatedState state{};
    std::vector<int64_t> next_ns(n, 0);
    uint64_t ops = 0;
    constexpr int64_t kEndNs = 2'000'000'000;
    for (;;) {
      int64_t& lane = *std::min_element(next_ns.begin(), next_ns.end());
      if (lane >= kEndNs) break;
      lane = EndOfSimulatedOp(storage, 1, lane, 1, state);
      ++ops;
    }
    const double expected = kLambda * n / (1 + kSigma * (n - 1) + kKappa * n * (n - 1.0));
    INFO(n << " lanes");
    CHECK(static_cast<double>(ops) / 2 == Approx(expected).epsilon(0.01));
  }
}

TEST_CASE("the parts of simulated storage are named when they are wrong") {
  CHECK_THAT(WhyBad("servers=0"), Catch::Contains("\"servers=0\" is not a number of servers"));
  CHECK_THAT(WhyBad("servers=257"), Catch::Contains("from 1 to 256"));
  CHECK_THAT(WhyBad("service=soon"), Catch::Contains("\"service=soon\" is no time"));
  CHECK_THAT(WhyBad("service=0s"), Catch::Contains("from 1us"));
  CHECK_THAT(WhyBad("distribution=normal"), Catch::Contains("constant or exponential"));
  CHECK_THAT(WhyBad("link=fast"), Catch::Contains("bytes per second"));
  CHECK_THAT(WhyBad("contention=2"), Catch::Contains("from 0 to 1"));
  CHECK_THAT(WhyBad("speed=9"),
             Catch::Contains("\"speed=9\" is unknown") && Catch::Contains("crosstalk=SHARE"));
  CHECK_THAT(WhyBad("servers=2,contention=0.1"), Catch::Contains("leave servers= out"));
  CHECK(Parsed("").servers == 1);
}

// Other tests may have simulated storage of their own at the same time.
size_t CountSharedFiles(uint64_t key) {
  const std::string suffix = absl::StrFormat("-%016x", key);
  const std::filesystem::directory_iterator files("/dev/shm");
  return std::count_if(begin(files), end(files), [&suffix](const auto& file) {
    const std::string name = file.path().filename();
    return name.starts_with("cluster-iobench.sim-") && name.ends_with(suffix);
  });
}

TEST_CASE("processes with one key share a server, and the last one removes its file") {
  const uint64_t key = static_cast<uint64_t>(::getpid()) << 32 | 77;
  {
    const auto first = SimulatedServer::Open(Parsed("service=10s"), key);
    REQUIRE(first.ok());
    const int64_t begin_ns = MonotonicNowNs();
    CHECK((*first)->Begin(1) >= begin_ns + 10'000'000 * kUs);
    const pid_t child = ::fork();
    if (child == 0) {
      auto second = SimulatedServer::Open(Parsed("service=10s"), key);
      const bool waits =
          second.ok() && (*second)->Begin(1) >= begin_ns + 20'000'000 * kUs;  // after the other's op
      if (second.ok()) second->reset();
      ::_exit(waits ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(CountSharedFiles(key) == 1);
    const auto other = SimulatedServer::Open(Parsed("service=10s"), key + 1);
    REQUIRE(other.ok());
    const int64_t end_ns = (*other)->Begin(1);
    CHECK(end_ns <= MonotonicNowNs() + 10'000'000 * kUs);  // it waits for nobody
  }
  CHECK(CountSharedFiles(key) == 0);
  CHECK(CountSharedFiles(key + 1) == 0);
}

}  // namespace
}  // namespace iobench
