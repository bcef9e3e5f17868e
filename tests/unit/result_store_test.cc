#include "coordinator/report/result_store.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "catch2/catch.hpp"
#include "coordinator/report/append_file.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/console/results_line.h"
#include "nlohmann/json.hpp"
#include "tests/support/temp_dir.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;
using EarlierResult = ResultStore::EarlierResult;

constexpr uint64_t kRunNumber = 0x1122334455667788;

v1::RunRecord Run() {
  v1::RunRecord run;
  run.set_id("r1");
  run.set_run_number(kRunNumber);
  run.add_workers()->set_host("node01");
  run.set_finished(true);
  return run;
}

v1::PhaseRecord PhaseNumber(uint32_t index) {
  v1::PhaseRecord phase;
  phase.set_index(index);
  phase.mutable_phase()->set_name("write");
  phase.add_workers()->add_lanes()->set_bytes(1000 + index);
  return phase;
}

ResultStore NewStore(const std::string& directory) {
  auto store = ResultStore::Create(directory, EarlierResult::kRefuse);
  REQUIRE(store.ok());
  return *std::move(store);
}

// A saved run of `count` phases.
ResultStore SavedStore(const std::string& directory, uint32_t count) {
  ResultStore store = NewStore(directory);
  REQUIRE(store.SaveRun(Run()).ok());
  for (uint32_t i = 0; i < count; ++i) REQUIRE(store.SavePhase(PhaseNumber(i), kRunNumber).ok());
  const v1::RunReport report = GoldenReport();
  for (const v1::PhaseReport& phase : report.phases()) REQUIRE(store.AddPhase(report, phase).ok());
  REQUIRE(store.SaveReport(report).ok());
  return store;
}

struct Loaded {
  v1::RunRecord run;
  std::vector<v1::PhaseRecord> phases;
  std::vector<std::string> warnings;
  std::vector<v1::MissingPhase> missing;
};
absl::StatusOr<Loaded> LoadRun(const std::string& directory) {
  absl::StatusOr<SavedRun> saved = SavedRun::Open(directory);
  if (!saved.ok()) return saved.status();
  Loaded loaded;
  for (size_t i = 0; i < saved->phase_files().size(); ++i) {
    v1::FileDigest digest;
    v1::PhaseRecord phase;
    const absl::Status read = saved->Load(i, phase, &digest);
    saved->Note(i, read.ok() ? absl::StatusOr<v1::FileDigest>(digest) : read);
    if (read.ok()) loaded.phases.push_back(std::move(phase));
  }
  saved->RecordEnd();
  loaded.missing = saved->missing_phases();
  loaded.run = saved->run();
  loaded.warnings = saved->warnings();
  return loaded;
}

bool Contains(absl::string_view text, absl::string_view part) {
  return absl::StrContains(text, part);
}

void Put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A limit on file sizes stands in for the full disk: the write fails with an errno in both cases.
absl::Status WithFilesUpTo(rlim_t bytes, const std::function<absl::Status()>& work) {
  struct rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = bytes;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const absl::Status status = work();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  return status;
}

TEST_CASE("a saved run is loaded as it was") {
  TempDir temporary;
  SavedStore(temporary / "a/b/out", 12);
  const auto saved = LoadRun(temporary / "a/b/out");
  REQUIRE(saved.ok());
  CHECK(saved->run.SerializeAsString() == Run().SerializeAsString());
  REQUIRE(saved->phases.size() == 12);
  for (uint32_t i = 0; i < 12; ++i) {
    CHECK(saved->phases[i].SerializeAsString() == PhaseNumber(i).SerializeAsString());
  }
  CHECK(saved->warnings.empty());
  CHECK(FileText(temporary / "a/b/out/result.json") == FileText(GoldenPath("result.json")));
  CHECK(FileText(temporary / "a/b/out/result.csv") == FileText(GoldenPath("result.csv")));
}

TEST_CASE("result.json is whole from the first saving on, and has the phases that were there at each") {
  TempDir temporary;
  v1::RunReport report = GoldenReport();
  const v1::PhaseReport phase = report.phases(0);
  report.clear_phases();
  ResultStore store = NewStore(temporary / "out");
  const auto saved = [&] { return nlohmann::json::parse(FileText(temporary / "out/result.json")); };
  REQUIRE(store.SaveReport(report).ok());
  CHECK(saved()["phases"].empty());
  REQUIRE(store.AddPhase(report, phase).ok());
  REQUIRE(store.AddPhase(report, phase).ok());
  CHECK(saved()["phases"].empty());  // the old one until the new one is whole
  REQUIRE(store.SaveReport(report).ok());
  CHECK(saved()["phases"].size() == 2);
  CHECK(saved()["phases"][1]["name"] == phase.name());
  CHECK(saved()["run"]["id"] == report.run().id());
  CHECK(!fs::exists(temporary / "out/result.json.phases"));
}

TEST_CASE("a report is due with its first phase, then each second, and for a twentieth of the time at most") {
  TempDir temporary;
  int64_t now_ns = 0, step_ns = 0;
  auto store =
      ResultStore::Create(temporary / "out", EarlierResult::kRefuse, [&] { return now_ns += step_ns; });
  REQUIRE(store.ok());
  REQUIRE(store->SaveReport(GoldenReport()).ok());
  CHECK(store->IsDue());
  REQUIRE(store->AddPhase(GoldenReport(), GoldenReport().phases(0)).ok());
  REQUIRE(store->SaveReport(GoldenReport()).ok());
  now_ns = 999'999'999;
  CHECK(!store->IsDue());
  now_ns = 1'000'000'000;
  CHECK(store->IsDue());
  step_ns = 200'000'000;  // the clock is read twice: it took 0.2 s, until 1.4 s
  REQUIRE(store->SaveReport(GoldenReport()).ok());
  step_ns = 0;
  now_ns = 5'399'999'999;
  CHECK(!store->IsDue());
  now_ns = 5'400'000'000;
  CHECK(store->IsDue());
}

TEST_CASE("rows that do not fit on the disk leave result.csv as it was before them") {
  TempDir temporary;
  auto file = AppendFile::Create(temporary / "file");
  REQUIRE(file.ok());
  REQUIRE(file->Append([](std::ostream& out) { return out << "whole\n", absl::OkStatus(); }).ok());
  const absl::Status failed = WithFilesUpTo(100000, [&] {
    return file->Append([](std::ostream& out) { return out << std::string(300000, 'x'), absl::OkStatus(); });
  });
  CHECK(Contains(failed.message(), "EFBIG"));
  CHECK(FileText(temporary / "file") == "whole\n");
  REQUIRE(file->Append([](std::ostream& out) { return out << "next\n", absl::OkStatus(); }).ok());
  CHECK(FileText(temporary / "file") == "whole\nnext\n");
}

TEST_CASE("a raw file is a protobuf message that other readers take") {
  TempDir temporary;
  SavedStore(temporary / "out", 1);
  v1::PhaseRecord phase;
  REQUIRE(phase.ParseFromString(FileText(temporary / "out/raw/phase-000.pb")));
  CHECK(phase.workers(0).lanes(0).bytes() == 1000);
}

TEST_CASE("phase 1000 comes after phase 999") {
  TempDir temporary;
  ResultStore store = NewStore(temporary / "out");
  REQUIRE(store.SaveRun(Run()).ok());
  for (const uint32_t index : {1000u, 999u}) REQUIRE(store.SavePhase(PhaseNumber(index), kRunNumber).ok());
  const auto saved = LoadRun(temporary / "out");
  REQUIRE(saved.ok());
  REQUIRE(saved->phases.size() == 2);
  CHECK(saved->phases[0].index() == 999);
  CHECK(saved->phases[1].index() == 1000);
}

TEST_CASE("a result is not overwritten, and nothing is changed") {
  TempDir temporary;
  SavedStore(temporary / "out", 2);
  const auto again = ResultStore::Create(temporary / "out", EarlierResult::kRefuse);
  CHECK(again.status().code() == absl::StatusCode::kAlreadyExists);
  CHECK(Contains(again.status().message(), "--force"));
  REQUIRE(LoadRun(temporary / "out").ok());
  CHECK(LoadRun(temporary / "out")->phases.size() == 2);
}

TEST_CASE("raw files without a report are a result too") {
  TempDir temporary;
  REQUIRE(NewStore(temporary / "out").SavePhase(PhaseNumber(0), kRunNumber).ok());
  CHECK(ResultStore::Create(temporary / "out", EarlierResult::kRefuse).status().code() ==
        absl::StatusCode::kAlreadyExists);
}

TEST_CASE("force replaces a result of ours and leaves other files") {
  TempDir temporary;
  SavedStore(temporary / "out", 3);
  Put(temporary / "out/notes.txt", "mine");
  Put(temporary / "out/raw/phase-notes.pb", "mine");
  Put(temporary / "out/raw/report.cache", "computed from the earlier phases");
  auto store = ResultStore::Create(temporary / "out", EarlierResult::kReplace);
  REQUIRE(store.ok());
  CHECK(store->has_earlier());
  CHECK(LoadRun(temporary / "out")->phases.size() == 3);  // unchanged until the run has its data
  REQUIRE(store->RemoveEarlier().ok());
  CHECK(!fs::exists(temporary / "out/result.json"));
  CHECK(!fs::exists(temporary / "out/result.csv"));
  CHECK(!fs::exists(temporary / "out/raw/phase-002.pb"));
  CHECK(!fs::exists(temporary / "out/raw/report.cache"));
  CHECK(FileText(temporary / "out/notes.txt") == "mine");
  CHECK(FileText(temporary / "out/raw/phase-notes.pb") == "mine");
  REQUIRE(store->SaveRun(Run()).ok());
  CHECK(LoadRun(temporary / "out")->phases.empty());
}

TEST_CASE("a result of ours is replaced and continued however long its files are") {
  for (const EarlierResult earlier : {EarlierResult::kReplace, EarlierResult::kContinue}) {
    TempDir temporary;
    SavedStore(temporary / "out", 1);
    fs::resize_file(temporary / "out/result.csv", uint64_t{3} << 30);  // sparse
    CHECK(ResultStore::Create(temporary / "out", earlier)->RemoveEarlier().ok());
    CHECK(!fs::exists(temporary / "out/result.csv"));
  }
}

TEST_CASE("a FIFO in the place of a result is not ours and not waited for") {
  TempDir temporary;
  SavedStore(temporary / "out", 1);
  fs::remove(temporary / "out/result.csv");
  REQUIRE(::mkfifo((temporary / "out/result.csv").c_str(), 0600) == 0);
  CHECK(absl::IsAlreadyExists(ResultStore::Create(temporary / "out", EarlierResult::kReplace).status()));
}

TEST_CASE("force does not touch a result of another program") {
  TempDir temporary;
  SavedStore(temporary / "out", 1);
  Put(temporary / "out/result.json", "{\"fio version\": \"fio-3.33\"}");
  const auto store = ResultStore::Create(temporary / "out", EarlierResult::kReplace);
  CHECK(store.status().code() == absl::StatusCode::kAlreadyExists);
  CHECK(Contains(store.status().message(), "result.json is not a cluster-iobench result"));
  CHECK(FileText(temporary / "out/result.json") == "{\"fio version\": \"fio-3.33\"}");
  CHECK(LoadRun(temporary / "out")->phases.size() == 1);
}

TEST_CASE("a run that goes on writes a damaged report anew, and keeps what was there") {
  TempDir temporary;
  SavedStore(temporary / "out", 2);
  Put(temporary / "out/result.json", "half of a rep");
  auto store = ResultStore::Create(temporary / "out", EarlierResult::kContinue);
  REQUIRE(store.ok());
  REQUIRE(store->RemoveEarlier().ok());
  CHECK(!fs::exists(temporary / "out/result.json"));
  CHECK(FileText(temporary / "out/result.json.not-ours") == "half of a rep");
  CHECK(LoadRun(temporary / "out")->phases.size() == 2);
}

TEST_CASE("two stores never have the same directory") {
  TempDir temporary;
  const auto store = ResultStore::Create(temporary / "out", EarlierResult::kRefuse);
  REQUIRE(store.ok());
  for (const EarlierResult earlier : {EarlierResult::kRefuse, EarlierResult::kReplace, EarlierResult::kContinue})
    CHECK(Contains(ResultStore::Create(temporary / "out", earlier).status().message(), "still going on"));
}

TEST_CASE("a directory that cannot be made is an error that names it") {
  TempDir temporary;
  Put(temporary / "file", "");
  const auto store = ResultStore::Create(temporary / "file/out", EarlierResult::kRefuse);
  CHECK(!store.ok());
  CHECK(Contains(store.status().message(), "file/out"));
  CHECK(Contains(store.status().message(), "ENOTDIR"));
}

TEST_CASE("what is not there is not found") {
  TempDir temporary;
  CHECK(LoadRun(temporary / "none").status().code() == absl::StatusCode::kNotFound);
  fs::create_directory(temporary / "empty");
  const auto saved = LoadRun(temporary / "empty");
  CHECK(saved.status().code() == absl::StatusCode::kNotFound);
  CHECK(Contains(saved.status().message(), "raw/run.pb"));
}

TEST_CASE("a phase cut off anywhere is a warning that names the file, and the others are given") {
  TempDir temporary;
  SavedStore(temporary / "out", 3);
  const std::string path = temporary / "out/raw/phase-001.pb";
  const std::string whole = FileText(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    Put(path, whole.substr(0, size));
    const auto saved = LoadRun(temporary / "out");
    REQUIRE(saved.ok());
    REQUIRE(saved->phases.size() == 2);
    CHECK(saved->phases[1].index() == 2);
    REQUIRE(saved->warnings.size() == 1);
    CHECK(Contains(saved->warnings[0], "raw/phase-001.pb: truncated"));
  }
}

TEST_CASE("a phase with one byte changed is a warning") {
  TempDir temporary;
  SavedStore(temporary / "out", 1);
  const std::string path = temporary / "out/raw/phase-000.pb";
  std::string damaged = FileText(path);
  damaged[3] = static_cast<char>(damaged[3] ^ 1);
  Put(path, damaged);
  const auto saved = LoadRun(temporary / "out");
  REQUIRE(saved.ok());
  CHECK(saved->phases.empty());
  REQUIRE(saved->warnings.size() == 1);
  CHECK(Contains(saved->warnings[0], "checksum"));
}

TEST_CASE("a missing phase is a warning") {
  TempDir temporary;
  SavedStore(temporary / "out", 3);
  fs::remove(temporary / "out/raw/phase-001.pb");
  const auto saved = LoadRun(temporary / "out");
  REQUIRE(saved.ok());
  CHECK(saved->phases.size() == 2);
  REQUIRE(saved->warnings.size() == 1);
  CHECK(Contains(saved->warnings[0], "phase-001.pb: missing"));
}

TEST_CASE("the record of the run has the number of phases, so the last ones are missed too") {
  TempDir temporary;
  const ResultStore store = SavedStore(temporary / "out", 3);
  v1::RunRecord run = Run();
  run.set_phase_count(4);
  run.mutable_plan()->clear_phases();
  run.mutable_plan()->add_phases()->set_name("write");
  run.mutable_plan()->add_phases()->set_name("read");
  REQUIRE(store.SaveRun(run).ok());
  fs::remove(temporary / "out/raw/phase-002.pb");
  const auto saved = LoadRun(temporary / "out");
  REQUIRE(saved.ok());
  REQUIRE(saved->missing.size() == 2);
  CHECK(saved->missing[0].index() == 2);
  CHECK(saved->missing[0].repetition() == 1);
  CHECK(saved->missing[0].name() == "write");
  CHECK(saved->missing[1].file() == "raw/phase-003.pb");
  CHECK(saved->missing[1].problem() == "missing");
  REQUIRE(saved->warnings.size() == 2);
  CHECK(Contains(saved->warnings[1], "phase-003.pb: missing (phase 4, read)"));
}

// Returns LoadRun's warning about phase 1 of three after `change` of its file; the others are loaded all the same.
std::string WarningOfPhase1(const std::function<void(const TempDir&, const std::string& file)>& change) {
  TempDir temporary;
  SavedStore(temporary / "out", 3);
  change(temporary, temporary / "out/raw/phase-001.pb");
  const auto saved = LoadRun(temporary / "out");
  REQUIRE(saved.ok());
  if (saved->warnings.empty()) {
    CHECK(saved->phases.size() == 3);
    return "";
  }
  CHECK(saved->warnings.size() == 1);
  REQUIRE(saved->phases.size() == 2);
  CHECK(saved->phases[0].index() == 0);
  CHECK(saved->phases[1].index() == 2);
  return saved->warnings[0];
}

TEST_CASE("the raw file of another phase is a warning") {
  const std::string warning = WarningOfPhase1([](const TempDir& temporary, const std::string& file) {
    Put(file, FileText(temporary / "out/raw/phase-002.pb"));
  });
  CHECK(Contains(warning, "raw/phase-001.pb: belongs to another phase, number 2"));
}

TEST_CASE("the raw file of another run is a warning, also with this run's number written into its seal") {
  const auto other_run = [](const TempDir& temporary) {
    ResultStore other = NewStore(temporary / "other");
    REQUIRE(other.SavePhase(PhaseNumber(1), kRunNumber + 1).ok());
    return FileText(temporary / "other/raw/phase-001.pb");
  };
  const std::string copied = WarningOfPhase1(
      [&](const TempDir& temporary, const std::string& file) { Put(file, other_run(temporary)); });
  CHECK(Contains(copied, "raw/phase-001.pb: belongs to another run"));
  const std::string forged = WarningOfPhase1([&](const TempDir& temporary, const std::string& file) {
    std::string text = other_run(temporary);
    text[text.size() - 8] = static_cast<char>(kRunNumber & 0xff);  // little endian, the last field
    Put(file, text);
  });
  CHECK(Contains(forged, "checksum"));
}

TEST_CASE("the raw file of a phase that an earlier version saved is read, with its run or without") {
  for (const bool with_run : {false, true}) {
    const std::string warning = WarningOfPhase1([with_run](const TempDir&, const std::string& file) {
      const auto little_endian = [](uint64_t number) {
        std::string bytes;
        for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
        return bytes;
      };
      const std::string message = PhaseNumber(1).SerializeAsString();
      const std::string run = with_run ? little_endian(kRunNumber) : "";
      uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
      for (const unsigned char c : message + run) hash = (hash ^ c) * 0x100000001b3;
      Put(file, message + std::string("\xfa\xff\xff\xff\x0f", 5) + (with_run ? " IOBPHS02" : "\x18IOBPHS01") +
                    little_endian(message.size()) + little_endian(hash) + run);
    });
    INFO(with_run);
    CHECK(warning.empty());
  }
}

TEST_CASE("a damaged, foreign or mistaken run.pb is data loss that names the file") {
  TempDir temporary;
  SavedStore(temporary / "out", 1);
  const std::string path = temporary / "out/raw/run.pb";
  const auto fails_with = [&](const std::string& reason) {
    const auto saved = LoadRun(temporary / "out");
    CHECK(saved.status().code() == absl::StatusCode::kDataLoss);
    CHECK(Contains(saved.status().message(), "raw/run.pb"));
    CHECK(Contains(saved.status().message(), reason));
  };
  Put(path, "");
  fails_with("0 bytes");
  Put(path, std::string(100000, 'x'));
  fails_with("not a cluster-iobench file");
  Put(path, FileText(temporary / "out/raw/phase-000.pb"));
  fails_with("another kind of record");
}

TEST_CASE("a write that fails leaves the old file and no partial one") {
  TempDir temporary;
  const std::string path = temporary / "file";
  Put(path, "old");
  const absl::Status status = WriteFileAtomically(path, [&](std::ostream& out) {
    out << "new";
    return absl::InternalError("no more");
  });
  CHECK(status.message() == "no more");
  CHECK(FileText(path) == "old");
  CHECK(!fs::exists(path + kPartialSuffix));
}

TEST_CASE("a full disk is an error that says so and leaves the old file") {
  TempDir temporary;
  const std::string path = temporary / "file";
  Put(path, "old");
  const absl::Status status = WithFilesUpTo(100000, [&] {
    return WriteFileAtomically(path, [](std::ostream& out) {
      out << std::string(300000, 'x');
      return absl::OkStatus();
    });
  });
  CHECK(Contains(status.message(), "EFBIG"));
  CHECK(FileText(path) == "old");
  CHECK(!fs::exists(path + kPartialSuffix));
}

TEST_CASE("a partial file that a crash left is replaced, a link in its place is not followed") {
  TempDir temporary;
  const std::string path = temporary / "file";
  Put(temporary / "victim", "precious");
  fs::create_symlink(temporary / "victim", path + kPartialSuffix);
  const absl::Status status = WriteFileAtomically(path, [](std::ostream& out) {
    out << "new";
    return absl::OkStatus();
  });
  REQUIRE(status.ok());
  CHECK(FileText(path) == "new");
  CHECK(FileText(temporary / "victim") == "precious");
}

TEST_CASE("the last line names the results that are there, and says which are not") {
  const TempDir temporary;
  const std::string out = temporary / "out";
  SavedStore(out, 1);
  std::vector<std::string> others;  // all but result.json, which comes first
  for (const ResultFile& file : ResultFiles().subspan(1)) others.push_back(file.name);
  CHECK(ResultsLine(out, absl::OkStatus()) ==
        "results: " + out + "/result.json, " + absl::StrJoin(others, ", ") +
            "; all details: `cluster-iobench report " + out + " --verbose`");
  std::ofstream(out + "/report.html") << "<html>";
  std::filesystem::create_directory(out + "/tables");
  CHECK(absl::StrContains(ResultsLine(out, absl::OkStatus()), "/tables/, result.json, "));
  std::filesystem::remove(out + "/tables");
  CHECK(ResultsLine(out, absl::OkStatus(), {"report.html", "report.md"})
            .starts_with("results: " + out + "/report.html, result.json, "));
  fs::remove(out + "/result.json");
  const absl::Status failed = absl::InternalError("write result.json: \033ENOSPC");
  CHECK(ResultsLine(out, failed) == "results are incomplete: write result.json: ?ENOSPC; " + out +
                                        " holds what could be saved (" + absl::StrJoin(others, ", ") +
                                        "), and no result.json; all details: `cluster-iobench report " + out +
                                        " --verbose`");
  fs::remove_all(out);
  CHECK(ResultsLine(out, failed).ends_with(out + " holds nothing of this run"));
}

}  // namespace
}  // namespace iobench
