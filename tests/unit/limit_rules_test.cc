#include "coordinator/analysis/explain/limit_rules.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "common/text/units.h"

namespace iobench {
namespace {

std::string RowOf(const LimitRule& rule) {
  return absl::StrCat("| `", rule.name, "` | ", rule.signal, " | ", rule.meaning, " |\n");
}

TEST_CASE("a rule names its threshold in its signal") {
  for (const LimitRule& rule : LimitRules()) {
    INFO(rule.name);
    if (rule.threshold == 0) continue;
    const std::string threshold = rule.threshold < 1 ? absl::StrCat(std::round(100 * rule.threshold), " %")
                                                     : FormatBytes(rule.threshold);
    CHECK(std::string(rule.signal).find(threshold) != std::string::npos);
  }
}

TEST_CASE("docs/explain.md shows the rules in their order, and no others") {
  std::ifstream file(IOBENCH_SOURCE_DIR "/docs/explain.md");
  std::ostringstream text;
  text << file.rdbuf();
  std::string expected = "| name | signal | meaning |\n|---|---|---|\n";
  for (const LimitRule& rule : LimitRules()) expected += RowOf(rule);
  INFO(expected);
  CHECK(text.str().find(expected + "\n") != std::string::npos);
}

}  // namespace
}  // namespace iobench
