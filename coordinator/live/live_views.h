// The observers that a run's options ask for: --live, --live-csv, --live-metrics.
#ifndef COORDINATOR_LIVE_LIVE_VIEWS_H_
#define COORDINATOR_LIVE_LIVE_VIEWS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/live/live_csv.h"
#include "coordinator/live/live_screen.h"
#include "coordinator/live/metrics_server.h"
#include "coordinator/live/run_observer.h"

namespace iobench {

struct LiveOptions {
  bool screen = false;
  std::string csv_path;  // empty: none
  bool replace_csv = false;
  std::string metrics_address;  // empty: none
};

// Open it before anything is measured or written.
class LiveViews {
 public:
  // The error of CheckTerminal, LiveCsv::Open or MetricsServer::Open.
  static absl::StatusOr<LiveViews> Open(const LiveOptions& options);

  bool has_screen() const { return screen_ != nullptr; }
  std::string metrics_url() const { return metrics_ == nullptr ? std::string() : metrics_->url(); }
  // They live as long as this object.
  std::vector<RunObserver*> observers() const;

  // After the run: leaves the screen and ends the service. Returns the first error of writing the CSV file.
  absl::Status End();

 private:
  std::unique_ptr<LiveScreen> screen_;
  std::unique_ptr<LiveCsv> csv_;
  std::unique_ptr<MetricsServer> metrics_;
};

}  // namespace iobench

#endif  // COORDINATOR_LIVE_LIVE_VIEWS_H_
