#include "common/text/utf8.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

TEST_CASE("text that is UTF-8 stays as it is") {
  for (const std::string text : {"", "/mnt/nfs", "/mnt/M\xc3\xbcnchen", "quotes \" and \\ and \x01"}) {
    CHECK(IsUtf8(text));
    CHECK(AsUtf8(text) == text);
  }
}

TEST_CASE("bytes that are not UTF-8 are replaced and so found") {
  CHECK_FALSE(IsUtf8("/mnt/M\xfcnchen"));
  CHECK(AsUtf8("/mnt/M\xfcnchen") == "/mnt/M\xef\xbf\xbdnchen");
  CHECK_FALSE(IsUtf8("cut \xc3"));
}

}  // namespace
}  // namespace iobench
