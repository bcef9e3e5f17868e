// Computes the phases of a saved run, several at a time, or reads them from the cache beside the raw data.
#ifndef COORDINATOR_SAVED_RUN_FINISHED_PHASES_H_
#define COORDINATOR_SAVED_RUN_FINISHED_PHASES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/analysis/summarize.h"
#include "coordinator/report/result_store.h"
#include "coordinator/saved_run/report_cache.h"
#include "iobench/v1/finished.pb.h"

namespace iobench {

// How the phases of a saved run are computed. The defaults are those of every report.
struct FinishSettings {
  Charts charts = Charts::kLeftOut;
  // Whether FinishedPhase.file is filled in: its SHA-256 takes as long as reading the file.
  bool digests = true;
  // A run whose raw files have at least this many bytes together has a cache: it is used, and written if there is none
  // of this program and run. A smaller run is computed in less time than a person notices. UINT64_MAX: never, for
  // callers that check what the raw files give.
  uint64_t min_cached_bytes = uint64_t{16} << 20;
  size_t threads = 0;         // 0: all processors
  uint64_t program_xxh3 = 0;  // 0: this program; tests give another
};

// Not thread-safe. Uses threads of its own, which have at most 128 MiB of raw files in memory at a time (decoded, they
// are four times as large), or a single file if that is larger. The result does not depend on their number.
class FinishedPhases {
 public:
  // `saved` must outlive it and gets the warnings and digests of the phases, as Next returns them.
  FinishedPhases(SavedRun& saved, const FinishSettings& settings);
  ~FinishedPhases() = default;  // waits for the threads, as their futures do
  FinishedPhases(const FinishedPhases&) = delete;
  FinishedPhases& operator=(const FinishedPhases&) = delete;

  // Returns the complete phases in order, then nullopt. Skips a phase that is damaged, missing, or belongs to another
  // run or position; SavedRun::warnings() names it.
  std::optional<v1::FinishedPhase> Next();
  // Returns the last phase that Next will return, which is computed only once; null if there is none. Valid until Next
  // is called. REQUIRES: Next has not been called.
  const v1::FinishedPhase* Newest();

 private:
  // A phase as a thread has finished it.
  struct Finished {
    absl::StatusOr<v1::FinishedPhase> phase;
    bool from_cache = false;
    std::string entry = {};  // for the cache that is written
  };
  Finished Finish(size_t position) const;
  void StartThreads(size_t count);
  void EndCache();

  SavedRun& saved_;
  const FinishSettings settings_;
  size_t threads_ = 1;
  std::optional<ReportCache> cache_;
  std::unique_ptr<ReportCacheWriter> writer_;
  bool cache_lacks_phases_ = false;
  int client_count_ = 0;                       // of the run: a phase in the cache must have as many clocks
  std::optional<Finished> last_;               // the last phase, once Newest has computed it
  std::optional<Finished> newest_;             // what Newest returns if the last phase is damaged
  size_t next_ = 0;                            // the phase that Next takes next
  size_t started_ = 0;                         // the phase that the next thread gets
  std::deque<std::future<Finished>> running_;  // phases next_ to started_ - 1; destroyed first, which waits
};

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_FINISHED_PHASES_H_
