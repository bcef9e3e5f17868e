#include "common/text/near_names.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

constexpr std::string_view kNames[] = {"time", "lanes", "min-lanes", "warmup", "size"};

TEST_CASE("two letters that changed places are near", "[near_names]") {
  CHECK(NamesNear("tmie", kNames) == std::vector<std::string>{"time"});
  CHECK(NamesNear("lanse", kNames) == std::vector<std::string>{"lanes"});
  CHECK(NamesNear("LANES", kNames) == std::vector<std::string>{"lanes"});
}

TEST_CASE("what is more than half another word is near to nothing", "[near_names]") {
  CHECK(NamesNear("zzzz", kNames).empty());
  CHECK(NamesNear("", kNames).empty());
  CHECK(DidYouMean("zzzz", kNames) == "");
}

TEST_CASE("all names at the smallest distance are named, with their dashes", "[near_names]") {
  CHECK(DidYouMean("tmie", kNames, "--") == "; did you mean --time?");
  CHECK(DidYouMean("tize", kNames, "--") == "; did you mean --time or --size?");  // a letter replaced in each
}

}  // namespace
}  // namespace iobench
