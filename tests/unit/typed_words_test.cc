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
  CHECK(ErrorOf({"--path", "/tmp", "--bs", "4k"}) ==
        "unknown option \"--bs\": it is fio's; here it is -r; `--help fio` lists them all");
  CHECK(
      ErrorOf({"--iodepth=8"}) ==
      "unknown option \"--iodepth\": it is fio's; here it is --depth, with an engine that has a queue; `--help fio` lists them all");
  CHECK(ErrorOf({"--nolive"}) ==
        "unknown option \"--nolive\": it is elbencho's; here it is not needed: there is no live view unless "
        "--live is given; `--help elbencho` lists them all");
  CHECK(ErrorOf({"worker", "--dir", "/tmp"}) == "unknown option \"--dir\"; the name here is --path");
}

TEST_CASE("all options of another tool get one answer, with the line here", "[typed_words]") {
  CHECK(
      ErrorOf({"--name=db", "--rw=randrw", "--rwmixread=70", "--bs=8k", "--iodepth=4", "--ioengine=libaio",
               "--numjobs=2", "--size=1g", "--runtime=10", "--ramp_time=2", "--time_based", "--direct=1"}) ==
      "unknown options --name, --rw, --rwmixread, --bs, --iodepth, --ioengine, --numjobs, --runtime, --ramp_time and "
      "--time_based: they are fio's; here: cluster-iobench --path . --op random-mix --mix-percent 70 -r 8k -s 1g -t 2 "
      "--time 12 --warmup 2 -I --engine uring --depth 4 --label db; `--help fio` lists them all");
  // Options of ours stay as they are, and count where both say something.
  CHECK_THAT(
      ErrorOf({"/mnt/nfs", "--rw=randread", "--bs=4k", "-t", "3", "--repeat", "5"}),
      Contains("here: cluster-iobench --op random-read -r 4k --drop-caches /mnt/nfs -t 3 --repeat 5;"));
  CHECK_THAT(ErrorOf({"--hosts", "a,b", "--threads", "4", "--timelimit", "9", "--write", "--block=1m",
                      "--size", "1g", "/mnt/x/f"}),
             Contains("they are elbencho's; here: cluster-iobench --path /mnt/x --op write -r 1m -s 128m"));
}

TEST_CASE("a line of another tool's letters is answered with what it is here", "[typed_words]") {
  CHECK_THAT(
      ErrorOf({"-b", "16m", "-t", "1m", "-s", "16", "-F", "-C"}),
      Contains("if this line is IOR's, here it is: cluster-iobench --path . --op write,read -r 1m -s 256m"));
  CHECK_THAT(
      ErrorOf({"-d", "/mnt/x", "-s", "1024", "-n", "4", "-m", "vm"}),
      Contains(
          "if this line is Bonnie++'s, here it is: cluster-iobench --path /mnt/x --suite bonnie -s 1g --items 4096"));
  CHECK_THAT(ErrorOf({"-d", "5", "-i", "0"}), !Contains("if this line is"));
}

TEST_CASE("a name that begins otherwise is no typo", "[typed_words]") {
  CHECK(ErrorOf({"--queue-depth", "3"}) == "unknown option \"--queue-depth\"; the name here is --depth");
  CHECK(ErrorOf({"--mount", "/x"}) == "unknown option \"--mount\"; the name here is --path");
  CHECK_THAT(ErrorOf({"--ptah", "/x"}), Contains("did you mean --path?"));
  CHECK_THAT(ErrorOf({"--aptch", "/x"}), !Contains("did you mean --batch"));
  CHECK_THAT(ErrorOf({"--emount", "/x"}), Contains("did you mean --remount?"));
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
