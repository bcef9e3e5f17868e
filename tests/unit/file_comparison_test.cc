// What saved files are compared with is in tests/unit/verify_test.cc.
#include "coordinator/saved_run/file_comparison.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

// Returns where the file "saved", which holds `saved`, differs from `computed`.
std::string Difference(const std::string& saved, const std::string& computed) {
  const TempDir directory;
  directory.Write("saved", saved);
  const absl::StatusOr<std::string> line =
      LineOfFirstDifference(directory / "saved", [&computed](std::ostream& out) {
        out << computed;
        return absl::OkStatus();
      });
  REQUIRE(line.ok());
  return *line;
}

TEST_CASE("a file differs from what is computed in a line, or by lines that only one of them has") {
  CHECK(Difference("a\nb\n", "a\nb\n").empty());
  CHECK(Difference("a\nb\n", "a\nc\n") == "line 2");
  CHECK(Difference("a\n", "a\nb\n") == "line 2");
  CHECK(Difference("a\nb\n", "a\n") == "line 2");
  CHECK(Difference("", "a") == "line 1");
}

TEST_CASE("what is computed may fail, which is told with the name of the file") {
  const TempDir directory;
  directory.Write("saved", "a");
  const auto fails = [](std::ostream&) { return absl::DataLossError("the report could not be written"); };
  CHECK(
      LineOfFirstDifference(directory / "saved", fails).status() ==
      absl::DataLossError(absl::StrCat("result ", directory / "saved", ": the report could not be written")));
}

TEST_CASE("a file that is missing or no file is named") {
  const TempDir directory;
  const auto nothing = [](std::ostream&) { return absl::OkStatus(); };
  const auto error_of = [&](const std::string& path) {
    return std::string(LineOfFirstDifference(path, nothing).status().message());
  };
  CHECK_THAT(error_of(directory / "none"),
             Catch::StartsWith(absl::StrCat("result ", directory / "none", ": No such file")));
  CHECK(error_of(directory.path()) == absl::StrCat("result ", directory.path(), ": not a regular file, but a directory"));
}

}  // namespace
}  // namespace iobench
