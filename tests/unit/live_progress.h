// Progress of a running phase as the coordinator passes it on, for tests of the live views.
#ifndef TESTS_UNIT_LIVE_PROGRESS_H_
#define TESTS_UNIT_LIVE_PROGRESS_H_

#include <string>
#include <vector>

#include "coordinator/live/run_observer.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// A phase of several clients, whose state a test sets.
struct LivePhase {
  explicit LivePhase(const std::vector<std::string>& names) {
    phase.set_name("write");
    phase.add_assignments()->mutable_operation()->set_name("write");
    for (const std::string& name : names) {
      ClientProgress& client = clients.emplace_back();
      client.name = name;
      client.lane_count = client.lanes_running = 2;
    }
  }
  PhaseProgress At(double elapsed_s) {
    PhaseProgress progress;
    progress.phase = &phase;
    progress.name = phase.name();
    progress.phase_count = 2;
    progress.elapsed_s = elapsed_s;
    for (const ClientProgress& client : clients) {
      progress.bytes += client.bytes;
      progress.ops += client.ops;
      progress.lanes_running += client.lanes_running;
      progress.lane_count += client.lane_count;
    }
    progress.clients = clients;
    return progress;
  }
  void Answer(size_t client, double at_s, uint64_t bytes, uint64_t ops) {
    clients[client].at_s = at_s;
    clients[client].bytes = bytes;
    clients[client].ops = ops;
  }
  // Adds the latencies of `op_count` ops of the client.
  void Took(size_t client, uint64_t latency_ns, int op_count) {
    Histogram histogram;
    for (int i = 0; i < op_count; ++i) histogram.Add(latency_ns);
    clients[client].latency.AddFrom(histogram);
  }

  v1::Phase phase;
  std::vector<ClientProgress> clients;
};

inline v1::RunReport LiveReport(const std::vector<std::string>& hosts) {
  v1::RunReport report;
  report.mutable_run()->set_id("20260301T101500Z-1");
  report.mutable_run()->set_worker_count(static_cast<uint32_t>(hosts.size()));
  report.mutable_run()->set_lane_count(static_cast<uint32_t>(2 * hosts.size()));
  report.mutable_run()->mutable_plan()->set_repetitions(1);
  for (const char* name : {"write", "read"})
    report.mutable_run()->mutable_plan()->add_phases()->set_name(name);
  for (const std::string& host : hosts) report.add_clients()->set_host(host);
  return report;
}

}  // namespace iobench

#endif  // TESTS_UNIT_LIVE_PROGRESS_H_
