// The phases of a large saved run as they were computed, beside the raw data: DIRECTORY/raw/report.cache. Reading it
// takes a small part of the time that computing takes. It holds nothing that the raw data cannot yield again.
#ifndef COORDINATOR_SAVED_RUN_REPORT_CACHE_H_
#define COORDINATOR_SAVED_RUN_REPORT_CACHE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "coordinator/analysis/summarize.h"
#include "coordinator/files/files.h"
#include "coordinator/report/append_file.h"
#include "iobench/v1/finished.pb.h"

namespace iobench {

// Identifies what the phases of a cache were computed from, besides their raw files: the run's record and the program.
// A cache with another key is not used, because any other build may compute a figure in another way.
uint64_t ReportCacheKey(uint64_t program_xxh3, const std::string& run_sha256);

// Reads a cache. Nothing in it is trusted without its checksum.
class ReportCache {
 public:
  // Nullopt: there is none, or it has another key, is damaged, or lacks the charts that are wanted. Gives no reason,
  // because computing the phases gives the same.
  static std::optional<ReportCache> Open(const std::string& path, uint64_t key, Charts charts);

  // Returns phase `index` as computed from a raw file with this XXH3, without its charts if they are not wanted.
  // Nullopt: it is not there, or damaged. Thread-safe.
  std::optional<v1::FinishedPhase> Find(uint32_t index, uint64_t raw_xxh3) const;

 private:
  struct Place {
    uint64_t offset = 0, raw_xxh3 = 0, phase_bytes = 0, phase_xxh3 = 0, charts_bytes = 0, charts_xxh3 = 0;
  };
  ReportCache(files::HeldFile file, Charts charts) : file_(std::move(file)), charts_(charts) {}
  bool FindPlaces(uint64_t begin, uint64_t end);

  files::HeldFile file_;
  Charts charts_;
  std::unordered_map<uint32_t, Place> places_;  // by index of the phase
};

// Writes a cache. Not thread-safe. The file gets its name only when it is complete. A failure (the directory is
// read-only, the disk full) is not reported: there is then no cache, and nothing else is missing.
class ReportCacheWriter {
 public:
  ReportCacheWriter(const std::string& path, uint64_t key, Charts charts);
  ~ReportCacheWriter();
  ReportCacheWriter(const ReportCacheWriter&) = delete;
  ReportCacheWriter& operator=(const ReportCacheWriter&) = delete;

  // Returns a phase as Add writes it; empty: it cannot be written. Thread-safe, because this is most of the work.
  static std::string Entry(uint32_t index, uint64_t raw_xxh3, const v1::FinishedPhase& phase);
  void Add(const std::string& entry);
  // Replaces the earlier file. The new one need not survive a power failure: a torn file has a wrong checksum.
  void Finish();

 private:
  const std::string path_;
  std::optional<AppendFile> file_;  // empty: failed, or finished
};

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_REPORT_CACHE_H_
