// Serves the metrics of a run over HTTP while it lasts: --live-metrics.
#ifndef COORDINATOR_LIVE_METRICS_SERVER_H_
#define COORDINATOR_LIVE_METRICS_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/live/live_rates.h"
#include "coordinator/live/run_observer.h"

namespace iobench {

// GET /metrics returns OpenMetrics text, from a thread of its own; until the first phase there are no samples. The
// destructor ends the service at once. Anyone who can reach the address can read it, and can take no more from this
// process than 8 connections, each with a request of 8 KiB that has to arrive within 5 s.
class MetricsServer final : public RunObserver {
 public:
  // Listens at "host:port", "[::1]:port", or ":port" for 127.0.0.1; with port 0, at a free one. InvalidArgument: this
  // is no address. Unavailable: it cannot listen there.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Open(const std::string& address);
  ~MetricsServer() override;

  std::string url() const;  // "http://127.0.0.1:9464/metrics"

  void RunStarts(const v1::RunReport& report) override {
    run_ = report.run();
    run_.clear_plan();
    Publish({});
  }
  void PhasePrepares(const PhaseProgress& progress) override { Publish(rates_.PhasePrepares(progress)); }
  void PhaseMoves(const PhaseProgress& progress) override { Publish(rates_.PhaseMoves(progress)); }
  void PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) override {
    (void)report;
    Publish(rates_.PhaseEnds(phase));
  }
  int64_t progress_interval_ns() const override { return 1'000'000'000; }
  bool shows_latency() const override { return true; }

 private:
  class Service;

  MetricsServer();
  void Publish(const LiveSample& sample);

  v1::RunInfo run_;
  LiveRates rates_;
  std::unique_ptr<Service> service_;
};

}  // namespace iobench

#endif  // COORDINATOR_LIVE_METRICS_SERVER_H_
