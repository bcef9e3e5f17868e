#include "common/text/repeated_lines.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

using Lines = std::vector<std::string>;

std::string Counts(const RepeatedLines::LeftOut& left_out) {
  std::string text = absl::StrCat(left_out.all(), " left out");
  for (const auto& [subject, count] : left_out.by_subject) absl::StrAppend(&text, ", ", subject, " ", count);
  return absl::StrCat(text, ", others ", left_out.others);
}

TEST_CASE("the first line of each subject is passed on at once, and the others are summed up when the period is over") {
  RepeatedLines lines(/*period_ns=*/100, /*max_lines=*/2, Counts);
  lines.Add("a", "a breaks", 1000);
  lines.Add("b", "b breaks", 1001);
  lines.Add("a", "a breaks", 1002);
  lines.Add("a", "a breaks", 1003);
  lines.Add("c", "c breaks", 1004);
  CHECK(lines.Take(1005) == Lines{"a breaks", "b breaks"});
  CHECK(lines.Take(1099).empty());
  CHECK(lines.Take(1100) == Lines{"3 left out, a 2, b 0, others 1"});
  lines.Add("a", "a breaks", 1150);
  CHECK(lines.Take(1150) == Lines{"a breaks"});
}

TEST_CASE("what was left out is summed up at the end, whatever the time, and nothing if nothing was") {
  RepeatedLines lines(100, 2, Counts);
  CHECK(lines.Take(INT64_MAX).empty());
  lines.Add("a", "a breaks", 1);
  lines.Add("a", "a breaks", 2);
  CHECK(lines.Take(INT64_MAX) == Lines{"a breaks", "1 left out, a 1, others 0"});
  RepeatedLines silent(100, 2, [](const RepeatedLines::LeftOut&) { return std::string(); });
  silent.Add("a", "a breaks", 1);
  silent.Add("a", "a breaks", 2);
  CHECK(silent.Take(INT64_MAX) == Lines{"a breaks"});
}

}  // namespace
}  // namespace iobench
