// What a saved run is checked for. tests/cluster/test_acceptance.py does the same with the program.
#include "coordinator/saved_run/verify.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"
#include "coordinator/analysis/report_builder.h"
#include "coordinator/report/result_store.h"
#include "tests/support/phase_script.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

constexpr uint64_t kRunNumber = 77;

// A result of two phases, saved as a run saves it.
class SavedResult {
 public:
  explicit SavedResult(const std::string& command = "") {
    std::string name = "/tmp/iobench_verify_test.XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    directory_ = name;
    std::vector<v1::PhaseRecord> phases;
    v1::RunRecord run;
    for (const char* const operation : {"write", "read"}) {
      PhaseScript script(operation);
      script.Lane(0).Moves(5_GiB).EndsAt(5_s).InOps(500);
      script.phase.set_index(static_cast<uint32_t>(phases.size()));
      phases.push_back(script.Record());
      run = script.Run();
    }
    run.mutable_plan()->clear_phases();
    for (const v1::PhaseRecord& phase : phases) *run.mutable_plan()->add_phases() = phase.phase();
    run.set_run_number(kRunNumber);
    run.set_finished(true);
    run.set_command(command);
    auto store = ResultStore::Create(directory_, ResultStore::EarlierResult::kReplace);
    REQUIRE(store.ok());
    REQUIRE(store->RemoveEarlier().ok());
    ReportBuilder builder(run);
    builder.Begin(nullptr);
    builder.AddFile(store->SaveRun(run).value());
    for (const v1::PhaseRecord& phase : phases) {
      const v1::PhaseReport report = builder.Add(phase);
      builder.AddFile(store->SavePhase(phase, kRunNumber).value());
      REQUIRE(store->AddPhase(builder.report(), report).ok());
    }
    builder.UpdateTotals();
    REQUIRE(store->SaveReport(builder.report()).ok());
  }
  ~SavedResult() { std::filesystem::remove_all(directory_); }
  SavedResult(const SavedResult&) = delete;
  SavedResult& operator=(const SavedResult&) = delete;

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  // Replaces the first `from` of a file.
  void Change(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = FileText(Path(name));
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  // Returns the lines of the output, and expects the verdict.
  std::string Verified(bool passes) const {
    std::ostringstream out;
    const absl::StatusOr<bool> passed = VerifySavedRun(directory_, out);
    INFO(passed.status() << out.str());
    REQUIRE(passed.ok());
    CHECK(*passed == passes);
    return out.str();
  }

 private:
  std::string directory_;
};

TEST_CASE("an untouched result passes every check") {
  const std::string text = SavedResult().Verified(true);
  CHECK(absl::StrContains(text, "ok      raw files: all 3 have the SHA-256 in result.json"));
  CHECK(absl::StrContains(text, "ok      plan:"));
  CHECK(absl::StrContains(text, "ok      result.json: equals"));
  CHECK(absl::StrContains(text, "ok      phases.csv: equals"));
  CHECK_FALSE(absl::StrContains(text, "FAILED"));
}

TEST_CASE("one byte of a raw file is found, with the name of the file") {
  const SavedResult saved;
  std::string bytes = FileText(saved.Path("raw/phase-001.pb"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(saved.Path("raw/phase-001.pb"), std::ios::binary) << bytes;
  const std::string text = saved.Verified(false);
  CHECK(absl::StrContains(text, "FAILED  raw/phase-001.pb: its SHA-256"));
  CHECK_FALSE(absl::StrContains(text, "FAILED  raw/phase-000.pb"));
}

TEST_CASE("one digit of a figure is found, with its place") {
  const SavedResult saved;
  saved.Change("result.json", "\"bytes_per_s\": 1", "\"bytes_per_s\": 9");
  const std::string text = saved.Verified(false);
  CHECK(absl::StrContains(text, "FAILED  result.json: differs"));
  CHECK(absl::StrContains(text, "phases/0/"));
  CHECK(absl::StrContains(text, "bytes_per_s"));
  CHECK(absl::StrContains(text, "ok      raw files"));
}

TEST_CASE("a result.json that is longer than the pieces it is read in is compared to its end") {
  const SavedResult saved(std::string(1'000'000, 'x'));  // the command comes before the phases
  CHECK(absl::StrContains(saved.Verified(true), "ok      result.json: equals"));
  saved.Change("result.json", "\"bytes_per_s\": 1", "\"bytes_per_s\": 9");
  const std::string text = saved.Verified(false);
  CHECK(absl::StrContains(text,
                          "FAILED  result.json: differs from what the raw files give, first at phases/0/"));
  CHECK(absl::StrContains(text, "ok      raw files: all 3"));
}

TEST_CASE("the layout of result.json does not matter, and what follows its object does") {
  const SavedResult saved;
  saved.Change("result.json", "\n", "\n \n");
  CHECK(absl::StrContains(saved.Verified(true), "ok      result.json: equals"));
  std::ofstream(saved.Path("result.json"), std::ios::binary | std::ios::app) << '\0' << "x";
  CHECK(absl::StrContains(saved.Verified(false), "FAILED  result.json: differs"));
}

TEST_CASE("a result.json of any length is read only as far as it is JSON") {
  const SavedResult saved;
  std::filesystem::resize_file(saved.Path("result.json"), 10);
  std::filesystem::resize_file(saved.Path("result.json"), uint64_t{3} << 30);  // sparse
  CHECK(absl::StrContains(saved.Verified(false), "FAILED  result.json: truncated, or not JSON"));
}

TEST_CASE("a cell of a CSV file is found, with its line") {
  const SavedResult saved;
  saved.Change("phases.csv", ",read,", ",write,");
  CHECK(absl::StrContains(saved.Verified(false),
                          "FAILED  phases.csv: differs from what the raw files give, first at line 3"));
}

TEST_CASE("what follows the computed lines of a CSV file is found however long it is") {
  const SavedResult saved;
  std::filesystem::resize_file(saved.Path("phases.csv"), uint64_t{3} << 30);  // sparse
  CHECK(absl::StrContains(saved.Verified(false),
                          "FAILED  phases.csv: differs from what the raw files give, first at line 4"));
  std::filesystem::resize_file(saved.Path("phases.csv"), 0);
  CHECK(absl::StrContains(saved.Verified(false),
                          "FAILED  phases.csv: differs from what the raw files give, first at line 1"));
}

TEST_CASE("a missing phase, a phase too many and a hash too few are found") {
  const SavedResult saved;
  std::filesystem::copy_file(saved.Path("raw/phase-001.pb"), saved.Path("raw/phase-002.pb"));
  CHECK(absl::StrContains(saved.Verified(false), "FAILED  raw/phase-002.pb: not in result.json"));
  std::filesystem::remove(saved.Path("raw/phase-002.pb"));
  std::filesystem::remove(saved.Path("raw/phase-001.pb"));
  CHECK(absl::StrContains(saved.Verified(false), "FAILED  raw/phase-001.pb: missing"));
}

TEST_CASE("a result.json of another shape fails and does not end the program") {
  const SavedResult saved;
  for (const std::string text :
       {"", "[]", "{", "{\"files\": 3, \"run\": []}", "{\"files\": [{\"name\": 3}]}", "\"x\""}) {
    INFO(text);
    std::ofstream(saved.Path("result.json"), std::ios::binary) << text;
    CHECK(absl::StrContains(saved.Verified(false), "FAILED"));
  }
  std::filesystem::remove(saved.Path("result.json"));
  CHECK(absl::StrContains(saved.Verified(false), "FAILED"));
}

}  // namespace
}  // namespace iobench
