// The directory of one run: raw/run.pb, raw/phase-NNN.pb, result.json, result.csv. Written atomically (temporary
// file, fsync, rename), so that a reader or a crash finds the old or the new, never half of one.
#ifndef COORDINATOR_REPORT_RESULT_STORE_H_
#define COORDINATOR_REPORT_RESULT_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

class ResultStore {
 public:
  // Makes the directory (and parents) if need be. AlreadyExists when it holds a result already and `force` is not set:
  // nothing is changed then. With `force` an earlier result of ours in it is replaced, other files stay.
  static absl::StatusOr<ResultStore> Create(const std::string& directory, bool force);

  absl::Status SaveRun(const v1::RunRecord& run) const;
  absl::Status SavePhase(const v1::PhaseRecord& phase, uint64_t run_number) const;  // RunRecord.run_number
  absl::Status SaveReport(const v1::RunReport& report) const;  // result.json and result.csv
  const std::string& directory() const { return directory_; }

 private:
  explicit ResultStore(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
};

// Reads a saved run. NotFound: no such result; DataLoss: cut off or not ours, with the file's name. Phases that are
// complete are given even where another one is damaged, or of another run or phase (then `warnings` names it).
struct SavedRun {
  v1::RunRecord run;
  std::vector<v1::PhaseRecord> phases;
  std::vector<std::string> warnings;
};
absl::StatusOr<SavedRun> LoadRun(const std::string& directory);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_RESULT_STORE_H_
