// Phases of a saved run, computed on several threads or read from raw/report.cache.
#include "absl/strings/str_cat.h"
#include "coordinator/saved_run/finished_phases.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"
#include "common/digest/xxh3.h"
#include "coordinator/report/raw_files.h"
#include "tests/support/phase_script.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

constexpr uint64_t kRunNumber = 77;
constexpr uint64_t kProgram = 4711;
constexpr uint32_t kPhases = 7;

// The raw data of a run of some phases, each with different figures.
class SavedPhases {
 public:
  SavedPhases() {
    std::string name = "/tmp/finished_phases_test.XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    directory_ = name;
    std::filesystem::create_directory(RawDirectory(directory_));
    v1::RunRecord run = Script(0).Run();
    run.set_run_number(kRunNumber);
    REQUIRE(SaveRawRun(directory_, run).ok());
    for (uint32_t index = 0; index < kPhases; ++index) Save(index, Script(index).Record());
  }
  ~SavedPhases() { std::filesystem::remove_all(directory_); }
  SavedPhases(const SavedPhases&) = delete;
  SavedPhases& operator=(const SavedPhases&) = delete;

  static PhaseScript Script(uint32_t index) {
    PhaseScript script("read");
    script.Lane(0).Moves((index + 1) * 1_GiB).EndsAt(2_s).InOps(500);
    script.Lane(1).Moves((index + 2) * 1_GiB).EndsAt(3_s).InOps(700);
    script.Worker(0).HasClock(index, 1e-3);
    script.phase.set_index(index);
    return script;
  }
  void Save(uint32_t index, const v1::PhaseRecord& phase) const {
    REQUIRE(SaveRawPhase(RawPath(index), kRunNumber, phase).ok());
  }
  std::string RawPath(uint32_t index) const { return RawPhasePath(directory_, index); }
  std::string CachePath() const { return ReportCachePath(directory_); }
  uint64_t Key(uint64_t program) const {
    return ReportCacheKey(program, SavedRun::Open(directory_)->digests().front().sha256());
  }

  struct Read {
    std::vector<v1::FinishedPhase> phases;
    std::vector<std::string> warnings;
    bool operator==(const Read& other) const {
      return warnings == other.warnings && Texts() == other.Texts();
    }
    std::vector<std::string> Texts() const {
      std::vector<std::string> texts;
      for (const v1::FinishedPhase& phase : phases) texts.push_back(phase.DebugString());
      return texts;
    }
  };
  Read ReadWith(FinishSettings settings) const {
    absl::StatusOr<SavedRun> saved = SavedRun::Open(directory_);
    REQUIRE(saved.ok());
    if (settings.program_xxh3 == 0) settings.program_xxh3 = kProgram;
    FinishedPhases finished(*saved, settings);
    Read read;
    while (std::optional<v1::FinishedPhase> phase = finished.Next()) read.phases.push_back(*std::move(phase));
    read.warnings = saved->warnings();
    return read;
  }
  Read ReadFromRaw(Charts charts = Charts::kLeftOut) const {
    return ReadWith({.charts = charts, .min_cached_bytes = UINT64_MAX});
  }
  Read ReadCached(Charts charts = Charts::kLeftOut) const {
    return ReadWith({.charts = charts, .min_cached_bytes = 0});
  }

  // Writes a cache whose phases show by their name that they come from it.
  void WriteTellTaleCache(uint64_t program, Charts charts, int more_clients = 0) const {
    ReportCacheWriter writer(CachePath(), Key(program), charts);
    uint32_t index = 0;
    for (v1::FinishedPhase phase : ReadFromRaw(charts).phases) {
      phase.mutable_report()->set_name("cached");
      for (int i = 0; i < more_clients; ++i) phase.add_clocks()->set_offset_ns(1);
      writer.Add(ReportCacheWriter::Entry(index, Xxh3OfFile(RawPath(index)).value(), phase));
      ++index;
    }
    writer.Finish();
  }
  int TellTales(const Read& read) const {
    int count = 0;
    for (const v1::FinishedPhase& phase : read.phases) count += phase.report().name() == "cached" ? 1 : 0;
    return count;
  }
  const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
};

void ChangeByte(const std::string& path, size_t at) {
  std::string text = FileText(path);
  text[at] = static_cast<char>(text[at] ^ 1);
  std::ofstream(path, std::ios::binary) << text;
}

TEST_CASE("phases come in order and are the same on any number of threads") {
  const SavedPhases saved;
  const auto one =
      saved.ReadWith({.charts = Charts::kFilledIn, .min_cached_bytes = UINT64_MAX, .threads = 1});
  REQUIRE(one.phases.size() == kPhases);
  for (uint32_t i = 0; i < kPhases; ++i) {
    CHECK(one.phases[i].report().index() == i);
    CHECK(one.phases[i].report().bytes() == (2 * i + 3) * 1_GiB);
    CHECK(one.phases[i].clocks(0).offset_ns() == Approx(1e9 * i).margin(1));
    CHECK(one.phases[i].file().name() == absl::StrCat("raw/phase-00", i, ".pb"));
  }
  for (const size_t threads : {2u, 3u, 16u}) {
    const FinishSettings settings{
        .charts = Charts::kFilledIn, .min_cached_bytes = UINT64_MAX, .threads = threads};
    CHECK(saved.ReadWith(settings) == one);
  }
}

TEST_CASE("a run under the limit has no cache") {
  const SavedPhases saved;
  CHECK(saved.ReadWith({}).phases.size() == kPhases);
  CHECK_FALSE(std::filesystem::exists(saved.CachePath()));
}

TEST_CASE("the first report writes the cache, and the next one reads the same from it") {
  const SavedPhases saved;
  for (const Charts charts : {Charts::kLeftOut, Charts::kFilledIn}) {
    const auto computed = saved.ReadFromRaw(charts);
    CHECK(saved.ReadCached(charts) == computed);
    REQUIRE(std::filesystem::exists(saved.CachePath()));
    CHECK(saved.ReadCached(charts) == computed);
  }
}

TEST_CASE(
    "a cache is read if it is of this program, this run and these raw files, and only if it is wanted") {
  const SavedPhases saved;
  saved.WriteTellTaleCache(kProgram, Charts::kLeftOut);
  CHECK(saved.TellTales(saved.ReadCached()) == kPhases);
  CHECK(saved.TellTales(saved.ReadFromRaw()) == 0);
  CHECK(saved.TellTales(saved.ReadCached()) == kPhases);

  SECTION("another version of the program computes again, and its cache replaces the old one") {
    const auto other = saved.ReadWith({.min_cached_bytes = 0, .program_xxh3 = kProgram + 1});
    CHECK(saved.TellTales(other) == 0);
    CHECK(saved.TellTales(saved.ReadCached()) == 0);
  }
  SECTION("so does any version after the record of the run has changed") {
    v1::RunRecord run = SavedPhases::Script(0).Run();
    run.set_run_number(kRunNumber);
    run.set_label("another");
    REQUIRE(SaveRawRun(saved.directory(), run).ok());
    CHECK(saved.TellTales(saved.ReadCached()) == 0);
  }
  SECTION("a raw file that has changed is computed alone, and the cache is made anew") {
    v1::PhaseRecord changed = SavedPhases::Script(3).Record();
    changed.mutable_phase()->set_name("changed");
    saved.Save(3, changed);
    const auto read = saved.ReadCached();
    CHECK(saved.TellTales(read) == kPhases - 1);
    CHECK(read.phases[3].report().name() == "changed");
    CHECK_FALSE(std::filesystem::exists(saved.CachePath()));
    CHECK(saved.TellTales(saved.ReadCached()) == 0);
    CHECK(std::filesystem::exists(saved.CachePath()));
  }
  SECTION("a damaged raw file is a warning, although the cache has its phase") {
    ChangeByte(saved.RawPath(3), 5);
    const auto read = saved.ReadCached();
    CHECK(read.phases.size() == kPhases - 1);
    REQUIRE(read.warnings.size() == 1);
    CHECK(absl::StrContains(read.warnings[0], "raw/phase-003.pb: damaged, its checksum does not match"));
  }
  SECTION("so is a missing one") {
    std::filesystem::remove(saved.RawPath(3));
    const auto read = saved.ReadCached();
    CHECK(read.phases.size() == kPhases - 1);
    REQUIRE(read.warnings.size() == 1);
    CHECK(absl::StrContains(read.warnings[0], "raw/phase-003.pb: missing"));
  }
  SECTION("the raw file of another phase in its place is a warning") {
    std::filesystem::copy_file(saved.RawPath(2), saved.RawPath(3),
                               std::filesystem::copy_options::overwrite_existing);
    const auto read = saved.ReadCached();
    REQUIRE(read.warnings.size() == 1);
    CHECK(absl::StrContains(read.warnings[0], "belongs to another phase, number 2"));
  }
}

TEST_CASE("a cache that is damaged or cut off anywhere changes nothing in the report") {
  const SavedPhases saved;
  const auto computed = saved.ReadFromRaw(Charts::kFilledIn);
  REQUIRE(saved.ReadCached(Charts::kFilledIn) == computed);
  const std::string whole = FileText(saved.CachePath());
  const auto put = [&](const std::string& text) {
    std::ofstream(saved.CachePath(), std::ios::binary) << text;
  };
  const auto changes_nothing = [&](size_t at) {
    INFO(at << " of " << whole.size());
    CHECK(saved.ReadCached(Charts::kFilledIn) == computed);
  };
  for (size_t at = 0; at < whole.size(); at += at < 100 ? 1 : 2'999) {
    put(whole);
    ChangeByte(saved.CachePath(), at);
    changes_nothing(at);
  }
  for (size_t at = 0; at < whole.size(); at += at < 200 ? 11 : 1'999) {
    put(whole.substr(0, at));
    changes_nothing(at);
  }
}

TEST_CASE("a phase in the cache with the clocks of more clients than the run has is computed again") {
  const SavedPhases saved;
  saved.WriteTellTaleCache(kProgram, Charts::kLeftOut, 1);
  const SavedPhases::Read read = saved.ReadCached();
  CHECK(saved.TellTales(read) == 0);
  CHECK(read == saved.ReadFromRaw());
}

TEST_CASE("a report with charts does not take a cache without them, and one without charts takes any") {
  const SavedPhases saved;
  saved.WriteTellTaleCache(kProgram, Charts::kLeftOut);
  const auto with_charts = saved.ReadCached(Charts::kFilledIn);
  CHECK(saved.TellTales(with_charts) == 0);
  CHECK(with_charts.phases[0].report().has_charts());
  saved.WriteTellTaleCache(kProgram, Charts::kFilledIn);
  const auto without = saved.ReadCached(Charts::kLeftOut);
  CHECK(saved.TellTales(without) == kPhases);
  CHECK_FALSE(without.phases[0].report().has_charts());
  CHECK(saved.ReadCached(Charts::kFilledIn).phases[0].report().charts().bytes_per_s_size() > 0);
}

TEST_CASE("the errors of charts are not in a report without charts, from the cache or not") {
  const SavedPhases saved;
  v1::PhaseRecord damaged = SavedPhases::Script(2).Record();
  v1::LatencySlices& slices = *damaged.mutable_workers(0)->mutable_lanes(0)->mutable_latency_slices();
  slices.set_slice_ns(1'000'000);
  slices.add_cell_gaps(5);  // without its count
  saved.Save(2, damaged);
  const auto with_charts = saved.ReadCached(Charts::kFilledIn);
  REQUIRE(with_charts.phases[2].report().errors_size() == 1);
  const auto cached = saved.ReadCached();
  CHECK(cached.phases[2].report().errors().empty());
  CHECK(cached == saved.ReadFromRaw());
}

TEST_CASE("without a place for the cache, the report is the same") {
  const SavedPhases saved;
  std::filesystem::create_directories(saved.CachePath() + ".partial/in-the-way");
  CHECK(saved.ReadCached() == saved.ReadFromRaw());
  CHECK_FALSE(std::filesystem::exists(saved.CachePath()));
}

TEST_CASE("the newest phase is known before the first, and comes last again") {
  const SavedPhases saved;
  const bool damaged = GENERATE(false, true);
  if (damaged) ChangeByte(saved.RawPath(kPhases - 1), 5);
  absl::StatusOr<SavedRun> run = SavedRun::Open(saved.directory());
  REQUIRE(run.ok());
  FinishedPhases finished(*run, {.threads = GENERATE(1u, 3u, 16u)});
  const v1::FinishedPhase* const newest = finished.Newest();
  REQUIRE(newest != nullptr);
  CHECK(newest->report().index() == kPhases - (damaged ? 2 : 1));
  uint32_t count = 0;
  while (const std::optional<v1::FinishedPhase> phase = finished.Next()) {
    CHECK(phase->report().index() == count);
    CHECK(phase->clocks(0).offset_ns() == Approx(1e9 * count).margin(1));
    ++count;
  }
  CHECK(count == kPhases - (damaged ? 1 : 0));
  CHECK(run->warnings().size() == (damaged ? 1 : 0));
}

}  // namespace
}  // namespace iobench
