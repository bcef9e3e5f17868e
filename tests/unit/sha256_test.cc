#include "common/digest/sha256.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

// FIPS 180-4's own examples.
constexpr char kOfNothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST_CASE("pieces are hashed as if they were one") {
  CHECK(Sha256Of({}) == kOfNothing);
  CHECK(Sha256Of({"abc"}) == kOfAbc);
  CHECK(Sha256Of({"a", "", "bc"}) == kOfAbc);
}

TEST_CASE("a file of several parts has the hash of its bytes") {
  std::string name = "/tmp/iobench_sha256_test.XXXXXX";
  REQUIRE(mkstemp(name.data()) >= 0);
  const std::string bytes(3'000'001, 'x');
  std::ofstream(name, std::ios::binary) << bytes;
  CHECK(Sha256OfFile(name).value() == Sha256Of({bytes}));
  std::remove(name.c_str());
  CHECK(absl::IsNotFound(Sha256OfFile(name).status()));
}

TEST_CASE("the running program has the hash of its file") {
  CHECK(Sha256OfProgram() == Sha256OfFile("/proc/self/exe").value());
  CHECK(Sha256OfProgram().size() == 64);
}

}  // namespace
}  // namespace iobench
