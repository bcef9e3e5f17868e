// Saved runs, as `report DIR` and `report --verify DIR` read them. The first byte of an input says how the parts that
// follow the second are used:
//   s  a run's record and those of its phases: saved and sealed as a run saves them, so that what the checksums protect is
//      read too
//   c  a run's record, and its phases as report.cache has them, saved with their checksums
//   f  the bytes of raw/run.pb, raw/phase-000.pb, raw/phase-001.pb, raw/report.cache and result.json
// The second byte says what is made of the run:
//   a  the report in each format, with charts, from the cache that this writes, and redacted
//   b… the report in one format, redacted or not: a fifth of the work, so that a fuzzer tries five times as many inputs
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/digest/xxh3.h"
#include "coordinator/report/raw_files.h"
#include "coordinator/report/result_store.h"
#include "coordinator/saved_run/finished_phases.h"
#include "coordinator/saved_run/redact.h"
#include "coordinator/saved_run/report_cache.h"
#include "coordinator/saved_run/verify.h"
#include "coordinator/saved_run/whole_report.h"
#include "tests/fuzz/bounded.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/messages.h"
#include "tests/fuzz/rendered.h"

using namespace iobench;

namespace {

namespace fs = std::filesystem;

constexpr size_t kHeadBytes = 2;
constexpr size_t kMaxParts = 6;
constexpr uint64_t kProgram = 1;  // the XXH3 of a program, for caches

// In memory, if possible: there may be thousands of inputs per second. Each overwrites its files.
class Directory {
 public:
  Directory() {
    std::string name = fs::exists("/dev/shm") ? "/dev/shm/iobench-fuzz-XXXXXX" : "/tmp/iobench-fuzz-XXXXXX";
    Require(::mkdtemp(name.data()) != nullptr, "a directory can be created");
    path_ = name;
  }
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::string& path() const { return path_; }
  void Empty() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(path_)) fs::remove_all(entry.path());
    fs::create_directory(RawDirectory(path_));
  }

 private:
  std::string path_;
};

constexpr uint8_t kEverything = 'a';

std::optional<SavedRun> Opened(const std::string& directory) {
  absl::StatusOr<SavedRun> saved = SavedRun::Open(directory);
  if (saved.ok()) return *std::move(saved);
  Require(!saved.status().message().empty(), "a refusal says why");
  return std::nullopt;
}

FinishSettings SettingsWith(Charts charts) {
  return {.charts = charts, .min_cached_bytes = 0, .threads = 1, .program_xxh3 = kProgram};
}

void ReportOnEverything(const std::string& directory) {
  // The second report reads the cache that the first has written.
  for (const Charts charts : {Charts::kFilledIn, Charts::kLeftOut}) {
    std::optional<SavedRun> saved = Opened(directory);
    if (!saved) return;
    v1::RunReport report = WholeReport(*saved, SettingsWith(charts));
    Render(report);
    if (charts == Charts::kFilledIn) continue;
    Redact(saved->run(), report);
    Render(report);
  }
}

void ReportOnce(const std::string& directory, size_t how) {
  std::optional<SavedRun> saved = Opened(directory);
  if (!saved) return;
  v1::RunReport report = WholeReport(*saved, SettingsWith(Charts::kLeftOut));
  if (how / FormatCount() % 2 == 1) Redact(saved->run(), report);
  RenderAs(how % FormatCount(), report);
}

void Verify(const std::string& directory) {
  std::ostringstream said;
  VerifySavedRun(directory, said).IgnoreError();
}

void SaveSealed(const std::string& directory, const std::vector<std::string>& parts) {
  v1::RunRecord run;
  if (parts.empty() || !run.ParseFromString(parts[0])) return;
  Bound(run);
  Require(SaveRawRun(directory, run).ok(), "a run can be saved");
  uint32_t index = 0;
  for (v1::PhaseRecord& phase : MessagesOf<v1::PhaseRecord>({parts.begin() + 1, parts.end()})) {
    Bound(phase);
    if (phase.index() > 10) phase.set_index(index);  // otherwise only its place would be wrong
    Require(SaveRawPhase(RawPhasePath(directory, index++), run.run_number(), phase).ok(),
            "a phase can be saved");
  }
}

// The raw files are those of phases without workers, which would give different reports than the cache.
void SaveCached(const std::string& directory, const std::vector<std::string>& parts, Charts charts) {
  SaveSealed(directory, {parts.begin(), parts.begin() + std::min<ptrdiff_t>(1, std::ssize(parts))});
  v1::FileDigest digest;
  const absl::StatusOr<v1::RunRecord> run = LoadRawRun(directory, &digest);
  if (!run.ok()) return;
  ReportCacheWriter writer(ReportCachePath(directory), ReportCacheKey(kProgram, digest.sha256()), charts);
  uint32_t index = 0;
  for (v1::FinishedPhase& phase : MessagesOf<v1::FinishedPhase>({parts.begin() + 1, parts.end()})) {
    Bound(phase);
    v1::PhaseRecord record;
    record.set_index(index);
    const std::string path = RawPhasePath(directory, index);
    Require(SaveRawPhase(path, run->run_number(), record).ok(), "a phase can be saved");
    writer.Add(ReportCacheWriter::Entry(index++, *Xxh3OfFile(path), phase));
  }
  writer.Finish();
}

void SaveAsIs(const std::string& directory, const std::vector<std::string>& parts) {
  const std::array<std::string, 5> names = {RawRunPath(directory), RawPhasePath(directory, 0),
                                            RawPhasePath(directory, 1), ReportCachePath(directory),
                                            directory + "/result.json"};
  for (size_t i = 0; i < std::min(parts.size(), names.size()); ++i) {
    std::ofstream(names[i], std::ios::binary) << parts[i];
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Directory directory;
  if (size < kHeadBytes) return 0;
  directory.Empty();
  const std::vector<std::string> parts = PartsOf(data + kHeadBytes, size - kHeadBytes, kMaxParts);
  if (data[0] == 'c') {
    SaveCached(directory.path(), parts, size % 2 == 0 ? Charts::kFilledIn : Charts::kLeftOut);
  } else if (data[0] == 's') {
    SaveSealed(directory.path(), parts);
  } else {
    SaveAsIs(directory.path(), parts);
  }
  if (data[1] == kEverything) {
    ReportOnEverything(directory.path());
  } else {
    ReportOnce(directory.path(), data[1]);
  }
  if (data[0] == 'f') Verify(directory.path());
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  if (size <= kHeadBytes) return LLVMFuzzerMutate(data, size, max_size);
  const bool is_cache = data[0] == 'c';
  data[1] = static_cast<uint8_t>(kEverything + 1 + seed % (2 * FormatCount()));
  return kHeadBytes + MutateParts(data + kHeadBytes, size - kHeadBytes, max_size - kHeadBytes, seed,
                                  [is_cache](size_t index) -> std::unique_ptr<google::protobuf::Message> {
                                    if (index == 0) return std::make_unique<v1::RunRecord>();
                                    if (is_cache) return std::make_unique<v1::FinishedPhase>();
                                    return std::make_unique<v1::PhaseRecord>();
                                  });
}
