#include "coordinator/stage/token_life.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "common/clock.h"
#include "common/transport/event_queue.h"
#include "common/transport/grpc/token_file.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

using Catch::Contains;

constexpr char kToken[] = "a-token-of-this-run";
constexpr int64_t kPatience_ns = 60'000'000'000;

TEST_CASE("a token without limits admits everybody who has it") {
  TokenLife life({}, nullptr);
  REQUIRE(life.Start().ok());
  CHECK(life.WhyClosed(1'000'000).empty());
}

TEST_CASE("a token with a time to live admits nobody afterwards") {
  TokenLife life({.ttl_s = 0.05}, nullptr);
  REQUIRE(life.Start().ok());
  while (life.WhyClosed(0).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_THAT(life.WhyClosed(0), Contains("--token-ttl"));
  TokenLife longer({.ttl_s = 3600}, nullptr);
  REQUIRE(longer.Start().ok());
  CHECK(longer.WhyClosed(0).empty());
}

TEST_CASE("a token for workers that were started is used up when they have joined") {
  TokenLife life({.seats = 2}, nullptr);
  REQUIRE(life.Start().ok());
  CHECK(life.WhyClosed(1).empty());
  CHECK_THAT(life.WhyClosed(2), Contains("all of them have joined"));
}

TEST_CASE("a token is worth nothing while its file is gone or has another one") {
  const TempDir directory;
  const std::string file = directory / "token";
  WaitQueue<std::string> lines;
  const auto next_line = [&] { return lines.PopUntil(MonotonicNowNs() + kPatience_ns).value_or("no line"); };
  REQUIRE(WriteTokenFile(file, {kToken, ""}).ok());
  TokenLife life({.file = file, .token = kToken}, [&](const std::string& line) { lines.Push(line); });
  REQUIRE(life.Start().ok());
  CHECK(life.WhyClosed(0).empty());

  REQUIRE(::unlink(file.c_str()) == 0);
  CHECK_THAT(next_line(), Contains(file) && Contains("no longer has"));
  CHECK_THAT(life.WhyClosed(0), Contains("no longer has the run's token"));
  REQUIRE(WriteTokenFile(file, {kToken, ""}).ok());
  CHECK_THAT(next_line(), Contains("again"));
  CHECK(life.WhyClosed(0).empty());
  REQUIRE(WriteTokenFile(file, {"a-token-of-another-run", ""}).ok());
  CHECK_THAT(next_line(), Contains("no longer has"));
  // One that cannot be read says nothing.
  REQUIRE(::chmod(file.c_str(), 0644) == 0);
  CHECK_FALSE(life.WhyClosed(0).empty());
}

TEST_CASE("a token that came through a pipe is not looked for again") {
  TokenLife life({.file = "/dev/null", .token = kToken}, nullptr);
  REQUIRE(life.Start().ok());
  CHECK(life.WhyClosed(0).empty());
}

}  // namespace
}  // namespace iobench
