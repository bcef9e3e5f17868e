// The result directory of one run (result_files.h lists what it holds). The cost of adding a phase does not grow with
// their number. A report that is not just a list of phases (result.json) has to be written as a whole, so this is done
// only from time to time.
#ifndef COORDINATOR_REPORT_RESULT_STORE_H_
#define COORDINATOR_REPORT_RESULT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "coordinator/report/append_file.h"
#include "coordinator/report/result_files.h"
#include "coordinator/report/result_lock.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// True if the directory holds a result, or files in the place of one: EarlierResult::kRefuse refuses it.
bool HoldsResult(const std::string& directory);

// Not thread-safe. Files are replaced atomically (temporary file and rename), so that readers never see a partial file,
// even if the process is killed. Those that grow (the CSV files) may then lack their last lines. The order of a run is
// SaveRun and SaveReport, then for each phase SavePhase, AddPhase and, if it IsDue, SaveReport, and both again at the
// end. Errors name the file and the reason (ErrnoStatus). The directory is this run's alone (ResultLock).
class ResultStore {
 public:
  // What to do about an earlier result in the directory. kReplace: other files are kept. kContinue: its raw files are
  // kept, and its phases are to be added again (AddPhase) before others.
  enum class EarlierResult { kRefuse, kReplace, kContinue };

  // Creates the directory and its parents if needed, and takes it, unless `lock` has it. AlreadyExists: it holds an earlier
  // result that is not to be replaced, or (except with kContinue) a file of another program in the place of one.
  // PermissionDenied: it is somebody else's (OwnDirectory). Otherwise the errors of ResultLock::Take. An earlier result is
  // unchanged. `now_ns`: the clock for IsDue().
  static absl::StatusOr<ResultStore> Create(const std::string& directory, EarlierResult earlier,
                                            std::function<int64_t()> now_ns = MonotonicNowNs,
                                            std::shared_ptr<ResultLock> lock = nullptr);
  // True if there was an earlier result. Then nothing may be saved before RemoveEarlier, which removes it (kReplace), or
  // what is written anew phase by phase (kContinue): its raw files stay, and result.json is always whole.
  bool has_earlier() const { return has_earlier_; }
  absl::Status RemoveEarlier();
  ResultLock& lock() { return *lock_; }

  // Save the raw data. A run is durable at once, a phase with the next SaveReport. `run_number`: RunRecord.run_number.
  // Both return the digest of the file.
  absl::StatusOr<v1::FileDigest> SaveRun(const v1::RunRecord& run) const;
  absl::StatusOr<v1::FileDigest> SavePhase(const v1::PhaseRecord& phase, uint64_t run_number);
  // Removes the raw data of this phase, if there are any, also if something else is in their place.
  absl::Status RemovePhase(uint32_t index) const;
  // Adds the next phase to the reports. `report`: the run that it belongs to; its own phases are not used.
  absl::Status AddPhase(const v1::RunReport& report, const v1::PhaseReport& phase);

  // True if SaveReport should be called: until a saved report contains a phase; afterwards, when at least one second
  // and twenty times the duration of the last save have passed, so that saving takes at most 1/20 of the run time.
  bool IsDue() const;
  // Completes all reports, with all added phases and the rest of `report`. Everything saved so far is then durable,
  // except for raw files of phases before the newest 64 since the last save: with very short phases, waiting for all of
  // them could take longer than the phases.
  absl::Status SaveReport(const v1::RunReport& report);
  const std::string& directory() const { return directory_; }

 private:
  // A report that phases are added to.
  struct OpenReport {
    const ResultFile* file = nullptr;
    // The file itself if it grows; otherwise a nameless file with only the phases, as they will appear in it.
    AppendFile phases;
    bool has_phases = false;
  };

  ResultStore(std::string directory, std::function<int64_t()> now_ns, std::shared_ptr<ResultLock> lock)
      : directory_(std::move(directory)), now_ns_(std::move(now_ns)), lock_(std::move(lock)) {}
  absl::Status OpenReports();
  absl::Status SyncPhases();

  std::string directory_;
  std::function<int64_t()> now_ns_;
  std::shared_ptr<ResultLock> lock_;
  EarlierResult earlier_ = EarlierResult::kRefuse;
  bool has_earlier_ = false;
  std::vector<std::string> not_synced_;  // raw files of phases that are not yet durable
  std::vector<OpenReport> open_;
  int64_t saved_at_ns_ = 0;  // when the report was last saved
  int64_t save_took_ns_ = 0;
  bool saved_any_phase_ = false;
};

// Reads a saved run. Its phases are read in any order and by any thread, but noted in their order by one thread
// (coordinator/saved_run/finished_phases.h does both).
class SavedRun {
 public:
  // NotFound: there is no such result. DataLoss: run.pb is truncated or not from this program; the message names the
  // file.
  static absl::StatusOr<SavedRun> Open(const std::string& directory);
  const std::string& directory() const { return directory_; }
  const v1::RunRecord& run() const { return run_; }

  // Reads only the phases from `begin` on that are before `end`. REQUIRES: nothing was noted.
  void Select(uint32_t begin, uint32_t end);
  // Takes the record that the run will have when it has ended, in place of the one on disk.
  void SetRun(const v1::RunRecord& run);

  // The raw files of the phases that are there, in the order of their numbers.
  const std::vector<std::string>& phase_files() const { return files_; }
  // Reads phase_files()[position] like LoadRawPhase. Thread-safe.
  absl::Status Load(size_t position, v1::PhaseRecord& phase, v1::FileDigest* digest) const;
  // Notes how reading phase_files()[position] went. REQUIRES: called for each position in ascending order.
  void Note(size_t position, const absl::StatusOr<v1::FileDigest>& read);
  // Notes the phases that the run has saved after the last one whose file is there. REQUIRES: Note was called for every
  // position.
  void RecordEnd();

  // The phases noted so far that are damaged or belong to another run or position, and those that are missing before
  // them, in their order.
  const std::vector<v1::MissingPhase>& missing_phases() const { return missing_phases_; }
  // One line for each of these, and one if a newer version wrote the run.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // Of run.pb and of the phases noted so far, in this order.
  const std::vector<v1::FileDigest>& digests() const { return digests_; }

 private:
  std::string directory_;
  v1::RunRecord run_;
  std::vector<std::string> files_;
  void RecordMissing(uint32_t index, const std::string& problem);

  uint32_t expected_index_ = 0;  // expected index of the next phase
  uint32_t end_index_ = UINT32_MAX;  // phases from this one on are left out
  std::vector<v1::MissingPhase> missing_phases_;
  std::vector<std::string> warnings_;
  std::vector<v1::FileDigest> digests_;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_RESULT_STORE_H_
