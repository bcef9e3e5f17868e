// Finished reports of runs for tests of comparisons, with only the fields that comparisons read.
#ifndef TESTS_UNIT_COMPARE_SCRIPT_H_
#define TESTS_UNIT_COMPARE_SCRIPT_H_

#include <string>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// A run with one client, whose phases are added in the order of the calls.
class RunScript {
 public:
  explicit RunScript(const std::string& started_at = "2026-03-01T10:15:00Z") {
    v1::RunInfo& run = *report_.mutable_run();
    run.set_id("run");
    run.set_started_at(started_at);
    run.set_finished(true);
    run.set_worker_count(1);
    v1::ClientReport& client = *report_.add_clients();
    client.set_host("node01");
    client.set_kernel("6.1.0");
  }

  v1::PhaseReport& Adds(const std::string& operation, double bytes_per_s, uint32_t repetition = 0) {
    v1::PhaseReport& phase = *report_.add_phases();
    phase.set_index(static_cast<uint32_t>(report_.phases_size() - 1));
    phase.set_repetition(repetition);
    phase.set_name(operation);
    phase.set_operation(operation);
    phase.set_engine("posix");
    phase.set_record_bytes(65536);
    phase.set_bytes_per_lane(1 << 20);
    phase.set_lane_count(2);
    v1::Headline& headline = *phase.mutable_headline();
    headline.set_name("stonewalled");
    headline.set_region("ops");
    headline.set_bytes_per_s(bytes_per_s);
    headline.set_ops_per_s(bytes_per_s / 65536);
    phase.mutable_latency_us()->set_count(100'000);
    phase.mutable_latency_us()->set_p99(1e9 / bytes_per_s);
    return phase;
  }
  // One phase per rate, each in its own repetition.
  RunScript& Repeats(const std::string& operation, const std::vector<double>& rates) {
    for (size_t i = 0; i < rates.size(); ++i) Adds(operation, rates[i], static_cast<uint32_t>(i));
    return *this;
  }
  // A phase with slices of one second each; the headline is their mean.
  v1::PhaseReport& AddsSlices(const std::string& operation, const std::vector<double>& slices) {
    double sum = 0;
    for (const double slice : slices) sum += slice;
    const double seconds = static_cast<double>(slices.size());
    v1::PhaseReport& phase = Adds(operation, sum / seconds);
    phase.set_measured_ops(1'000'000);
    phase.mutable_headline()->set_ops_per_s(1'000'000 / seconds);
    phase.mutable_stonewall()->set_at_s(seconds);
    phase.set_duration_s(seconds);
    phase.mutable_charts()->set_slice_s(1);
    phase.mutable_charts()->mutable_bytes_per_s()->Add(slices.begin(), slices.end());
    return phase;
  }

  v1::RunReport& report() { return report_; }

 private:
  v1::RunReport report_;
};

// `count` values around `mean`: mean - 1, mean + 1 …
inline std::vector<double> Alternating(size_t count, double mean) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(mean + (i % 2 == 0 ? 1 : -1));
  return values;
}

}  // namespace iobench

#endif  // TESTS_UNIT_COMPARE_SCRIPT_H_
