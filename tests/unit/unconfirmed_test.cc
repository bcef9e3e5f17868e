#include "common/transport/grpc/unconfirmed.h"

#include <catch2/catch.hpp>
#include <string>

namespace iobench {
namespace {

std::string DrainAll(Unconfirmed<std::string>& messages) {
  std::string all;
  while (messages.has_next()) all += messages.Take();
  return all;
}

TEST_CASE("a new connection carries what the other end does not have, and nothing that it has") {
  Unconfirmed<std::string> messages;
  for (const char* text : {"a", "b", "c", "d"}) messages.Push(text);
  CHECK(DrainAll(messages) == "abcd");
  REQUIRE(messages.Restart(2));
  CHECK(DrainAll(messages) == "cd");
  messages.Push("e");
  REQUIRE(messages.Restart(2));
  CHECK(DrainAll(messages) == "cde");
  REQUIRE(messages.Restart(5));
  CHECK(!messages.has_next());
}

TEST_CASE("messages are confirmed while others are still to be written") {
  Unconfirmed<std::string> messages;
  for (const char* text : {"a", "b", "c"}) messages.Push(text);
  CHECK(messages.Take() == "a");
  CHECK(messages.Take() == "b");
  REQUIRE(messages.Confirm(1));
  REQUIRE(messages.Confirm(1));  // again
  CHECK(messages.Take() == "c");
  REQUIRE(messages.Confirm(0));  // late
  REQUIRE(messages.Restart(1));
  CHECK(DrainAll(messages) == "bc");
}

TEST_CASE("nobody can confirm what was not written, or lack what he has confirmed") {
  Unconfirmed<std::string> messages;
  messages.Push("a");
  messages.Push("b");
  CHECK(messages.Take() == "a");
  CHECK_FALSE(messages.Confirm(2));
  CHECK_FALSE(messages.Restart(2));
  REQUIRE(messages.Confirm(1));
  CHECK_FALSE(messages.Restart(0));
  CHECK(DrainAll(messages) == "b");
}

}  // namespace
}  // namespace iobench
