#include "coordinator/live/live_views.h"

#include <initializer_list>

#include "common/status_util.h"

namespace iobench {

absl::StatusOr<LiveViews> LiveViews::Open(const LiveOptions& options) {
  LiveViews views;
  if (options.screen) {
    IOBENCH_RETURN_IF_ERROR(CheckTerminal());
    views.screen_ = std::make_unique<LiveScreen>();
  }
  if (!options.metrics_address.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(views.metrics_, MetricsServer::Open(options.metrics_address));
  }
  // Last, because it creates something.
  if (!options.csv_path.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(views.csv_, LiveCsv::Open(options.csv_path, options.replace_csv));
  }
  return views;
}

std::vector<RunObserver*> LiveViews::observers() const {
  std::vector<RunObserver*> observers;
  for (RunObserver* observer :
       std::initializer_list<RunObserver*>{screen_.get(), csv_.get(), metrics_.get()}) {
    if (observer != nullptr) observers.push_back(observer);
  }
  return observers;
}

absl::Status LiveViews::End() {
  if (screen_ != nullptr) screen_->Stop();
  metrics_.reset();
  return csv_ == nullptr ? absl::OkStatus() : csv_->status();
}

}  // namespace iobench
