// Each of IOzone's letters is an option here or refused with a reason, and docs/iozone.md has their options.
#include "coordinator/options/iozone_letters.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "coordinator/options/command_table.h"
#include "coordinator/options/option.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

using Catch::Contains;

// The options in sections 2.1 and 2.2 of IOzone 3.471's reference.
const std::vector<std::string>& IozoneLetters() {
  static const std::vector<std::string> letters = {
      "a",  "A",  "b",  "B",  "c",  "C",  "d",  "D",  "e",  "E",  "f",  "F",  "g",  "G",  "h",  "H",
      "i",  "I",  "j",  "J",  "k",  "K",  "l",  "L",  "m",  "M",  "n",  "N",  "o",  "O",  "p",  "P",
      "q",  "Q",  "r",  "R",  "s",  "S",  "t",  "T",  "u",  "U",  "v",  "V",  "w",  "W",  "x",  "X",
      "y",  "Y",  "z",  "Z",  "+a", "+A", "+b", "+B", "+c", "+C", "+d", "+D", "+E", "+F", "+h", "+H",
      "+i", "+J", "+k", "+K", "+l", "+L", "+m", "+n", "+N", "+O", "+p", "+P", "+q", "+r", "+s", "+S",
      "+t", "+T", "+u", "+U", "+V", "+w", "+W", "+x", "+X", "+y", "+z", "+Z"};
  return letters;
}

std::vector<std::string> OurLetters() {
  std::vector<std::string> letters;
  for (const OptionSpec& option : kPlanOptions) {
    if (!option.letter.empty()) letters.emplace_back(option.letter);
  }
  for (const LaunchLetter& letter : LaunchLetters()) letters.emplace_back(letter.letter);
  for (const RefusedLetter& letter : RefusedLetters()) letters.emplace_back(letter.letter);
  return letters;
}

TEST_CASE("a letter that is no option of a plan stands for an option of run, and takes an argument if that does") {
  for (const LaunchLetter& letter : LaunchLetters()) {
    if (letter.name == "help" || letter.name == "version") continue;
    INFO(std::string(letter.name));
    const auto rows = CommandOptions();
    const auto row = std::find_if(rows.begin(), rows.end(), [&letter](const OptionSpec& option) {
      return option.name == letter.name && (option.commands & kForRun) != 0;
    });
    REQUIRE(row != rows.end());
    CHECK(row->is_flag() != letter.takes_argument);
  }
}

TEST_CASE("every letter of IOzone is an option here or refused with a reason, and none is both") {
  const std::vector<std::string> ours = OurLetters();
  for (const std::string& letter : IozoneLetters()) {
    INFO(letter);
    CHECK(std::count(ours.begin(), ours.end(), letter) == 1);
  }
  CHECK(ours.size() == IozoneLetters().size());  // and there are no others
}

TEST_CASE("--help iozone lists every letter once, with ours beside") {
  const std::string help = IozoneHelp(100);
  for (const std::string& letter : OurLetters()) {
    const std::string begin = absl::StrCat("\n  -", letter, std::string(5 - letter.size() - 1, ' '));
    INFO(begin);
    const size_t at = help.find(begin);
    REQUIRE(at != std::string::npos);
    CHECK(help.find(begin, at + 1) == std::string::npos);
  }
  CHECK_THAT(help, Contains("-+n  --no-retest"));
  CHECK_THAT(help, Contains("-i 12  preadv, repreadv"));
}

std::string OptionOf(const std::string& letter) {
  for (const OptionSpec& option : kPlanOptions)
    if (option.letter == letter) return std::string(option.name);
  for (const LaunchLetter& launch : LaunchLetters())
    if (launch.letter == letter) return std::string(launch.name);
  return "";
}

TEST_CASE("a row of docs/iozone.md is of a letter, once, with the option that it stands for") {
  const std::string text = FileText(SourcePath("docs/iozone.md"));
  std::set<std::string> documented;
  for (const auto& line : absl::StrSplit(text, '\n')) {
    const std::string row(line);
    if (row.rfind("| `-", 0) != 0) continue;
    const size_t end = row.find_first_of("` ", 4);
    REQUIRE(end != std::string::npos);
    INFO(row);
    const std::string letter = row.substr(4, end - 4);
    CHECK(documented.insert(letter).second);
    REQUIRE_FALSE(OptionOf(letter).empty());
    CHECK_THAT(row, Contains(absl::StrCat("` | `--", OptionOf(letter), "` | ")));
  }
  CHECK(documented.size() > 30);
}

}  // namespace
}  // namespace iobench
