// A CSV file that grows while a run lasts: --live-csv.
#ifndef COORDINATOR_LIVE_LIVE_CSV_H_
#define COORDINATOR_LIVE_LIVE_CSV_H_

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/files/files.h"
#include "coordinator/live/live_rates.h"
#include "coordinator/live/run_observer.h"
#include "coordinator/report/text/csv_text.h"

namespace iobench {

// A row per client and second, one for the cluster (client "all"), and the same once more at the end of each phase with
// everything that it did. `--help csv` lists the columns. Each row is complete as soon as it is in the file.
class LiveCsv final : public RunObserver {
 public:
  // Creates the file (common/own_files/own_file.h). With `replace`, one that exists is replaced when the run starts, and a pipe or a
  // device, also behind a link of this user or root, is written to. If the run does not start, what was there is left as it was. AlreadyExists, PermissionDenied, or the
  // code of the errno: the message names the file and what to do.
  static absl::StatusOr<std::unique_ptr<LiveCsv>> Open(const std::string& path, bool replace);
  ~LiveCsv() override;

  // The first error of writing. After it, nothing more is written.
  const absl::Status& status() const { return status_; }

  void RunStarts(const v1::RunReport& report) override;
  void PhasePrepares(const PhaseProgress& progress) override { rates_.PhasePrepares(progress); }
  void PhaseMoves(const PhaseProgress& progress) override { Write(rates_.PhaseMoves(progress)); }
  void PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) override {
    (void)report;
    Write(rates_.PhaseEnds(phase));
  }
  int64_t progress_interval_ns() const override { return 1'000'000'000; }
  bool shows_latency() const override { return true; }

 private:
  // What has the file's name when the run starts.
  enum class There { kThis, kOld, kStream };
  LiveCsv(std::string path, files::HeldFile file, There there)
      : path_(std::move(path)), file_(std::move(file)), there_(there) {}
  void Write(const LiveSample& sample);
  void Append(const std::string& text);

  const std::string path_;
  const files::HeldFile file_;
  const There there_;
  bool started_ = false;
  absl::Status status_;
  LiveRates rates_;
};

// In the order of the file.
std::span<const CsvColumn> LiveCsvColumns();

// Returns the rows of a sample: the cluster's, then each client's. `time`: ISO 8601, for the first column.
std::string LiveCsvRows(const LiveSample& sample, const std::string& time);

}  // namespace iobench

#endif  // COORDINATOR_LIVE_LIVE_CSV_H_
