#include "common/transport/join_error.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

// Messages of gRPC 1.51, as they came: nothing of them is left for the user to read.
TEST_CASE("a broken connection is described in our own words") {
  struct Case {
    const char* message;
    const char* text;
  };
  constexpr Case kCases[] = {
      {"failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:9400: Failed to connect to remote host: "
       "Connection refused",
       "nothing listens at its port any more: it has ended"},
      {"failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:9400: No route to host",
       "its host is down or cut off (no route to host)"},
      {"recvmsg:Connection reset by peer", "the connection was reset: it was killed, or something in between cut it"},
      {"Socket closed", "the connection was closed: it has ended, or something in between cut it"},
      {"GOAWAY received", "it has closed the connection"},
      {"keepalive watchdog timeout", "it did not answer: its host or the network is down"},
      {"recvmsg:Connection timed out", "it did not answer: its host or the network is down"},
      {"Received message larger than max (17 vs. 16)", "it sent a message that is too large"},
      {"", "the connection broke"},
      {"fizz", "the connection broke (gRPC: \"fizz\")"}};
  for (const Case& each : kCases) CHECK(BrokenConnectionText(each.message) == each.text);
}

TEST_CASE("an attempt to join that failed for an unknown reason quotes it") {
  CHECK(JoinErrorText("fizz", /*speaks_grpc=*/false) == "it cannot be reached (gRPC: \"fizz\")");
  CHECK(JoinErrorText("", /*speaks_grpc=*/false).empty());
  CHECK(JoinErrorText("x: Failed to connect to remote host: Connection refused", false) ==
        "connection refused: nothing listens on that port");
}

}  // namespace
}  // namespace iobench
