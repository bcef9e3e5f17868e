// The directory of one run: raw/run.pb, raw/phase-NNN.pb, result.json, result.csv. What a phase adds costs the same
// however many came before it; result.json, which must be one whole, is assembled every now and then.
#ifndef COORDINATOR_REPORT_RESULT_STORE_H_
#define COORDINATOR_REPORT_RESULT_STORE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "coordinator/report/append_file.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// One thread uses it. Files are written in one step (temporary file, rename), so that a reader or a process that is killed
// leaves the old or the new, never half of one; of result.csv and phases.csv, which grow, the last lines may be missing then.
class ResultStore {
 public:
  // Makes the directory (and parents) if need be. AlreadyExists when it holds a result already and `force` is not set:
  // nothing is changed then. With `force` an earlier result of ours in it is replaced, other files stay. `now_ns`: the
  // clock that IsDue() goes by.
  static absl::StatusOr<ResultStore> Create(const std::string& directory, bool force,
                                            std::function<int64_t()> now_ns = MonotonicNowNs);

  absl::Status SaveRun(const v1::RunRecord& run) const;
  absl::Status SavePhase(const v1::PhaseRecord& phase, uint64_t run_number);  // RunRecord.run_number
  // The next phase of result.json and of the CSV files. `report`: the run that it belongs to; its phases are not looked at.
  absl::Status AddPhase(const v1::RunReport& report, const v1::PhaseReport& phase);

  // Whether it is time to SaveReport: until result.json has a phase; then when a second has passed, and twenty times as
  // long as the last time took, so that it costs at most a twentieth of a run of any length.
  bool IsDue() const;
  // result.json with all phases that were added, and the rest of `report`. What was saved is durable then, but for the
  // raw files of all but the newest 64 phases since the last time.
  absl::Status SaveReport(const v1::RunReport& report);
  const std::string& directory() const { return directory_; }

 private:
  ResultStore(std::string directory, std::function<int64_t()> now_ns)
      : directory_(std::move(directory)), now_ns_(std::move(now_ns)) {}
  absl::Status OpenLists();
  absl::Status SyncPhases();

  std::string directory_;
  std::function<int64_t()> now_ns_;
  std::vector<std::string> not_synced_;        // raw files of phases
  std::optional<AppendFile> csv_;              // result.csv
  std::optional<AppendFile> phases_csv_;       // phases.csv
  std::optional<AppendFile> json_phases_;      // the elements of result.json's list of phases, as they stand there
  int64_t saved_at_ns_ = 0;                    // the report, the last time
  int64_t save_took_ns_ = 0;
  bool saved_any_phase_ = false;
};

// A saved run, phase by phase.
class SavedRun {
 public:
  // NotFound: no such result; DataLoss: run.pb is cut off or not ours, with the file's name.
  static absl::StatusOr<SavedRun> Open(const std::string& directory);
  const v1::RunRecord& run() const { return run_; }

  // The phases that are complete, in their order; then nothing. One that is damaged, missing, or of another run or
  // phase is passed over; warnings() names it.
  std::optional<v1::PhaseRecord> Next();
  const std::vector<std::string>& warnings() const { return warnings_; }

  // The last one that Next will give.
  std::optional<v1::PhaseRecord> Newest() const;

 private:
  std::string directory_;
  v1::RunRecord run_;
  std::vector<std::string> files_;
  size_t next_ = 0;              // of files_
  uint32_t expected_index_ = 0;  // of its phase
  std::vector<std::string> warnings_;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_RESULT_STORE_H_
