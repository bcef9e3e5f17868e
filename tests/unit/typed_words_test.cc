// A word that is no option is answered with the option that was probably meant.
#include "coordinator/command_line/typed_words.h"

#include <catch2/catch.hpp>

#include "tests/support/command_words.h"

namespace iobench {
namespace {

using Catch::Contains;

std::string ErrorOf(const std::vector<std::string>& arguments) {
  const auto line = ParseCommandLine(arguments);
  return line.ok() ? "" : std::string(line.status().message());
}

TEST_CASE("a typo in an option's name is answered with the name", "[typed_words]") {
  CHECK(ErrorOf({"--tmie", "3"}) == "unknown option \"--tmie\"; did you mean --time?");
  CHECK(ErrorOf({"--path", "/tmp", "--lanse=4"}) ==
        "unknown option \"--lanse\"; did you mean --lanes or --lease?");
  CHECK(ErrorOf({"worker", "--jion", "h:1"}) == "unknown option \"--jion\"; did you mean --join?");
  CHECK(ErrorOf({"selftest", "--phase", "3"}) == "unknown option \"--phase\"; did you mean --phases?");
  CHECK(
      ErrorOf({"--zzzzzzzz"}) ==
      "unknown option \"--zzzzzzzz\"; `cluster-iobench --help` lists commands, `cluster-iobench run --help` options");
  CHECK(ErrorOf({"compare", "--zzzzzzzz"}) ==
        "unknown option \"--zzzzzzzz\"; `cluster-iobench compare --help` lists its options");
}

TEST_CASE("what fio and elbencho call an option of ours is answered with ours", "[typed_words]") {
  CHECK(ErrorOf({"--bs", "4k"}) == "unknown option \"--bs\"; the name here is --record");
  CHECK(ErrorOf({"--iodepth=8"}) == "unknown option \"--iodepth\"; the name here is --depth");
}

TEST_CASE("a dash that a word processor has made is named", "[typed_words]") {
  CHECK(ErrorOf({"-–lanse", "4"}) ==
        "\"-–lanse\" begins with a Unicode dash; options need a plain -; did you mean --lanes or --lease?");
  CHECK_THAT(ErrorOf({"–path", "/tmp"}), Contains("did you mean --path?"));
  CHECK_THAT(ErrorOf({"—time", "3"}), Contains("did you mean --time?"));
  CHECK_THAT(ErrorOf({"–c"}), Contains("did you mean -c?"));
}

TEST_CASE("a long name behind one hyphen is not read as letters", "[typed_words]") {
  CHECK(ErrorOf({"-time", "3"}) == "\"-time\" is read as letters; did you mean --time?");
  CHECK_THAT(ErrorOf({"-file", "/tmp/x"}), Contains("did you mean --file?"));
  CHECK(ErrorOf({"-Raz"}) == "");
  CHECK(ErrorOf({"-ce", "-i0"}) == "");
}

TEST_CASE("a directory needs no --path before it", "[typed_words]") {
  const auto line = JobFrom({"/mnt/nfs", "-i", "0", "../other", "-c"});
  REQUIRE(line.ok());
  CHECK(line->given.Texts("path") == std::vector<std::string>{"/mnt/nfs", "../other"});
  const auto dot = JobFrom({"-i", "0", "."});
  REQUIRE(dot.ok());
  CHECK(dot->given.Texts("path") == std::vector<std::string>{"."});
}

TEST_CASE("any other word is answered with what it may be", "[typed_words]") {
  CHECK(ErrorOf({"wroker", "--join", "h:1"}) == "unknown command \"wroker\"; did you mean worker?");
  CHECK(ErrorOf({"read"}) == "\"read\" belongs to no option; write --op before it to run it");
  CHECK(ErrorOf({"scratch"}) == "\"scratch\" belongs to no option; write --path before it to test in it");
  CHECK(ErrorOf({"-c", "4"}) ==
        "\"4\" belongs to no option (-c takes no argument); write --path before it to test in it");
}

}  // namespace
}  // namespace iobench
