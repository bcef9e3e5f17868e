#include "common/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

std::string ProblemWith(const std::string& file, uint64_t max_bytes = 100) {
  const auto text = ReadSmallFile("plan", file, max_bytes);
  REQUIRE(absl::IsInvalidArgument(text.status()));
  return std::string(text.status().message());
}

TEST_CASE("a file is read whole, up to the longest that is allowed, also through a link") {
  const TempDir directory;
  const std::string file = directory / "a", link = directory / "link";
  REQUIRE(::symlink("a", link.c_str()) == 0);
  for (const size_t length : {size_t{0}, size_t{1}, size_t{65536}, size_t{65537}, size_t{300'000}}) {
    std::string content(length, 'x');
    if (length > 0) content.back() = '.';
    std::ofstream(file) << content;
    REQUIRE(ReadSmallFile("plan", file, 300'000).value() == content);
    REQUIRE(ReadSmallFile("plan", link, length).value() == content);
  }
  REQUIRE(ProblemWith(file, 299'999).starts_with("plan " + file + ": it is longer than "));
}

TEST_CASE("a file that does not say how long it is is read to its end, or to the limit") {
  REQUIRE_FALSE(ReadSmallFile("file", "/proc/self/status", 1 << 20).value().empty());
  REQUIRE(ProblemWith("/proc/self/status", 10) == "plan /proc/self/status: it is longer than 10 B");
}

TEST_CASE("what has no end or makes one wait is no file to be read") {
  const TempDir directory;
  const std::string fifo = directory / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  REQUIRE(ProblemWith(fifo) == "plan " + fifo + ": not a regular file, but a FIFO");
  REQUIRE(ProblemWith("/dev/zero") == "plan /dev/zero: not a regular file, but a character device");
  REQUIRE(ProblemWith("/tmp") == "plan /tmp: not a regular file, but a directory");
}

TEST_CASE("a file that is not there says why") {
  const auto text = ReadSmallFile("trace", "/nonexistent/t", 100);
  REQUIRE(absl::IsNotFound(text.status()));
  REQUIRE(text.status().message() == "trace /nonexistent/t: No such file or directory (ENOENT)");
}

}  // namespace
}  // namespace iobench
