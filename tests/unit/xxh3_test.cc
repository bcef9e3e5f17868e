#include "common/digest/xxh3.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

namespace iobench {
namespace {

TEST_CASE("XXH3 gives the values that its specification gives") {
  CHECK(Xxh3Of("") == 0x2d06800538d394c2);
  CHECK(Xxh3Of("abc") == 0x78af5f94892f3950);
}

TEST_CASE("another seed or one changed byte gives another XXH3") {
  std::string text(100000, 'x');
  const uint64_t before = Xxh3Of(text);
  CHECK(Xxh3Of(text, 1) != before);
  text[77777] = 'y';
  CHECK(Xxh3Of(text) != before);
}

TEST_CASE("the XXH3 of a file is that of its contents, however it is read") {
  std::string name = "/tmp/xxh3_test.XXXXXX";
  const int fd = ::mkstemp(name.data());
  REQUIRE(fd >= 0);
  ::close(fd);
  std::string text;
  for (int64_t i = 0; i < 300000; ++i)
    text += static_cast<char>(i * i % 251);  // longer than a part that is read at a time
  std::ofstream(name, std::ios::binary) << text;
  CHECK(Xxh3OfFile(name).value() == Xxh3Of(text));
  ::unlink(name.c_str());
  CHECK(Xxh3OfFile(name).status().message().find(name) != absl::string_view::npos);
}

}  // namespace
}  // namespace iobench
