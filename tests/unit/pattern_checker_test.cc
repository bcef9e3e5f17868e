#include "worker/data/pattern_checker.h"

#include <catch2/catch.hpp>
#include <string>

namespace iobench {
namespace {

v1::VerifyResult Checked(unsigned char pattern, const std::string& data, uint64_t offset = 0) {
  PatternChecker checker(pattern);
  checker.Check({OpKind::kRead, 1, offset, static_cast<uint32_t>(data.size())},
                reinterpret_cast<const std::byte*>(data.data()));
  return checker.Result();
}

TEST_CASE("every byte of a pattern is looked at") {
  const std::string right(5000, '\x5a');
  REQUIRE(Checked(0x5a, right).sectors() == 10);
  REQUIRE(Checked(0x5a, right).mismatched() == 0);
  for (const size_t at : {size_t{0}, size_t{1}, size_t{511}, size_t{512}, size_t{4999}}) {
    std::string wrong = right;
    wrong[at] = '\x5b';
    const auto result = Checked(0x5a, wrong, 4096);
    INFO("byte " << at);
    REQUIRE(result.mismatched() == 1);
    REQUIRE(result.counts().at("corrupt") == 1);
    REQUIRE(result.first(0).offset() == 4096 + at);
    REQUIRE(result.first(0).expected() == "every byte 0x5a");
    REQUIRE(result.first(0).found() == "0x5b");
    REQUIRE(result.first(0).file() == "1");
  }
}

TEST_CASE("zeros in place of a pattern are zeros, and right where the pattern is 0") {
  std::string half(4096, '\x11');
  half.replace(1024, 1024, 1024, '\0');
  const auto result = Checked(0x11, half);
  REQUIRE(result.mismatched() == 2);
  REQUIRE(result.counts().at("zeros") == 2);
  REQUIRE(Checked(0, std::string(4096, '\0')).mismatched() == 0);
  REQUIRE(Checked(0, half).counts().at("corrupt") == 6);
}

}  // namespace
}  // namespace iobench
