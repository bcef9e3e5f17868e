// Which files the documents of a run may replace.
#include "coordinator/saved_run/run_documents.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "catch2/catch.hpp"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

ClusterOptions Into(const TempDir& directory, const std::string& format) {
  ClusterOptions options;
  options.out = directory.path();
  if (!format.empty()) options.formats.push_back(format);
  return options;
}

v1::IozoneOutput LogAndHistograms() {
  v1::IozoneOutput output;
  output.set_log(true);
  output.set_histograms(true);
  return output;
}

v1::Plan PlanOf(const std::vector<std::string>& operations) {
  v1::Plan plan;
  for (const std::string& name : operations) {
    v1::Phase& phase = *plan.add_phases();
    phase.set_name(name);
    v1::Operation& operation = *phase.add_assignments()->mutable_operation();
    operation.set_name(name);
    operation.set_record_bytes(4096);
  }
  return plan;
}

TEST_CASE("a format that shows no phase of the plan is refused before anything is measured") {
  struct Row {
    const char* operation;
    const char* shown_by;
  };
  for (const Row& row : std::vector<Row>{{"write", "bonnie bonnie-csv bonnie-csv-1.96 bonnie-1 fio-json ior"},
                                         {"create", "bonnie bonnie-csv bonnie-csv-1.96 mdtest"},
                                         {"random-mix", "fio-json"},
                                         {"mkdir", "mdtest"}}) {
    const std::vector<std::string> shown_by = absl::StrSplit(row.shown_by, ' ');
    for (const Document& document : Documents()) {
      const TempDir directory;
      const absl::Status checked = CheckDocuments(Into(directory, document.name), std::nullopt, PlanOf({row.operation}));
      const bool shows = !document.shows_some || std::find(shown_by.begin(), shown_by.end(), document.name) != shown_by.end();
      INFO(row.operation << " as " << document.name << ": " << checked);
      const bool is_built = document.is_built == nullptr || document.is_built().ok();
      if (is_built) CHECK(checked.ok() == shows);
      if (!shows) CHECK(absl::StrContains(checked.message(), absl::StrCat("--format ", document.name, ": ")));
    }
  }
  const TempDir directory;
  CHECK(CheckDocuments(Into(directory, "mdtest"), std::nullopt, PlanOf({"write", "create"})).ok());
}

TEST_CASE("a file of the user is in the way of a document until the user gives --force") {
  for (const std::string format : {"markdown", "openmetrics", "bonnie-csv"}) {
    const TempDir directory;
    ClusterOptions options = Into(directory, format);
    const std::string file = (*DocumentNamed(format))->file_name;
    INFO(file);
    CHECK(CheckDocuments(options, std::nullopt, PlanOf({"write"})).ok());
    directory.Write(file, "not ours");
    const absl::Status refused = CheckDocuments(options, std::nullopt, PlanOf({"write"}));
    CHECK(absl::IsAlreadyExists(refused));
    CHECK(absl::StrContains(refused.message(), directory / file));
    CHECK(absl::StrContains(refused.message(), "--force"));
    options.force = true;
    CHECK(CheckDocuments(options, std::nullopt, PlanOf({"write"})).ok());
    CHECK(CheckDocuments(Into(directory, "timeline-csv"), std::nullopt, PlanOf({"write"})).ok());
  }
}

TEST_CASE("a file of the user is in the way of a table until the user gives --force") {
  const TempDir directory;
  std::filesystem::create_directory(directory / "tables");
  directory.Write("tables/mine.csv", "not ours, and no table has its name");
  CHECK(CheckDocuments(Into(directory, ""), std::nullopt, PlanOf({"write"})).ok());
  directory.Write("tables/layers.csv", "not ours");
  ClusterOptions options = Into(directory, "");
  const absl::Status refused = CheckDocuments(options, std::nullopt, PlanOf({"write"}));
  CHECK(absl::IsAlreadyExists(refused));
  CHECK(absl::StrContains(refused.message(), "tables/layers.csv"));
  options.force = true;
  CHECK(CheckDocuments(options, std::nullopt, PlanOf({"write"})).ok());
}

TEST_CASE("a page of this program is in nobody's way and another page is") {
  const TempDir directory;
  directory.Write("report.html", "<!doctype html><meta name=\"generator\" content=\"cluster-iobench\">");
  CHECK(CheckDocuments(Into(directory, "html"), std::nullopt, PlanOf({"write"})).ok());
  directory.Write("report.html", "<!doctype html>my thesis");
  CHECK(absl::IsAlreadyExists(CheckDocuments(Into(directory, "html"), std::nullopt, PlanOf({"write"}))));
  CHECK(CheckDocuments(Into(directory, ""), std::nullopt, PlanOf({"write"})).ok());  // it is left alone
}

TEST_CASE("files that IOzone itself wrote are in the way of those of -+T and -+z") {
  for (const char* const file : {"Child_0.log", "Child_17.log", "Iozone_histogram_child_3.txt"}) {
    const TempDir directory;
    directory.Write(file, "IOzone's");
    CHECK(CheckDocuments(Into(directory, ""), std::nullopt, PlanOf({"write"})).ok());
    const absl::Status refused = CheckDocuments(Into(directory, ""), LogAndHistograms(), PlanOf({"write"}));
    CHECK(absl::IsAlreadyExists(refused));
    CHECK(absl::StrContains(refused.message(), file));
  }
  const TempDir directory;
  for (const char* const file : {"Child_.log", "Child_a.log", "Child_1.log.old", "My_Child_1.log"}) {
    directory.Write(file, "of no lane");
  }
  CHECK(CheckDocuments(Into(directory, ""), LogAndHistograms(), PlanOf({"write"})).ok());
}

TEST_CASE("in a directory with a result, its files are those of an earlier run") {
  const TempDir directory;
  directory.Write("report.md", "# of an earlier run");
  directory.Write("Child_0.log", "of an earlier run");
  directory.Write("phases.csv", "run_id");
  CHECK(CheckDocuments(Into(directory, "markdown"), LogAndHistograms(), PlanOf({"write"})).ok());
}

TEST_CASE("a format that is given twice is one document") {
  const TempDir directory;
  ClusterOptions options = Into(directory, "markdown");
  options.formats.push_back("markdown");
  const std::vector<std::string> names = RunDocuments(options).FileNames();
  CHECK(std::count(names.begin(), names.end(), "report.md") == 1);
}

}  // namespace
}  // namespace iobench
