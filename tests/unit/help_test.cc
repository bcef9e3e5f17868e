// What --help shows: within the terminal's width, examples first, and the options that most users need unless it is asked for
// all.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "coordinator/command_line/cli.h"
#include "coordinator/command_line/examples.h"
#include "coordinator/command_line/most_used.h"
#include "coordinator/options/command_table.h"

namespace iobench {
namespace {

using Catch::Contains;

std::string TextFor(const std::vector<std::string>& arguments, size_t columns) {
  const auto line = ParseCommandLine(arguments, columns);
  REQUIRE(line.ok());
  return std::get<TextAnswer>(*line).text;
}

// The long names at the beginning of lines.
std::set<std::string> OptionsIn(const std::string& text) {
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t name = line.find("--");
    if (!line.starts_with("  -") || name == std::string::npos || name > 5) continue;
    names.insert(line.substr(name + 2, line.find_first_of(" [", name) - name - 2));
  }
  return names;
}

TEST_CASE("no line of a help is wider than the terminal") {
  std::vector<std::vector<std::string>> helps = {{}, {"--help"}, {"--help", "iozone"}};
  for (const CommandSpec& command : Commands()) {
    helps.push_back({std::string(command.name), "--help"});
    helps.push_back({std::string(command.name), "--help", "all"});
  }
  for (const size_t columns : {80, 100, 140}) {
    for (const std::vector<std::string>& help : helps) {
      std::istringstream lines(TextFor(help, columns));
      for (std::string line; std::getline(lines, line);) {
        INFO(line);
        // What is to be typed stays in one piece.
        const bool typed = line.starts_with("  cluster-iobench ") || line.starts_with("  --format ");
        CHECK((typed || DisplayColumns(line) <= columns));
      }
    }
  }
}

TEST_CASE("the help of run shows the thirty options that most use, and all if asked") {
  const std::string brief = TextFor({"run", "--help"}, 80), all = TextFor({"run", "--help", "all"}, 80);
  std::set<std::string> shown = OptionsIn(brief);
  shown.erase("help");
  const std::set<std::string> most_used(MostUsedOptions().begin(), MostUsedOptions().end());
  CHECK(most_used.size() == 30);
  CHECK(shown == most_used);
  const std::set<std::string> of_all = OptionsIn(all);
  CHECK(of_all.size() > 150);
  CHECK(std::includes(of_all.begin(), of_all.end(), shown.begin(), shown.end()));
  CHECK_THAT(brief, Contains("more options: `cluster-iobench run --help all`"));
  CHECK_THAT(all, !Contains("more options"));
  CHECK(TextFor({"--help", "all"}, 80) == all);
}

TEST_CASE("examples stand before the options, and every command has one that works") {
  for (const CommandSpec& command : Commands()) {
    const std::string name(command.name), text = TextFor({name, "--help"}, 100);
    INFO(text);
    REQUIRE_FALSE(ExamplesOf(name).empty());
    CHECK(text.find("\nExamples:\n") < text.find("\n  -h,--help"));
    for (const Example& example : ExamplesOf(name)) CHECK_THAT(text, Contains(std::string(example.line)));
  }
}

}  // namespace
}  // namespace iobench
