// The rates and latencies of a running phase: of each client and of the cluster, from one answer to a poll to the next.
#ifndef COORDINATOR_LIVE_LIVE_RATES_H_
#define COORDINATOR_LIVE_LIVE_RATES_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/histogram.h"
#include "coordinator/live/run_observer.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// NaN: no op ended, or none is known.
struct LiveLatency {
  double mean_us = NAN, p50_us = NAN, p99_us = NAN, max_us = NAN;
};

// Latencies of the ops that a phase has done so far, or since its warm-up. Of a finished phase: those of the lanes' last
// answer, which may lack its last ops.
struct LiveHistogram {
  std::array<uint64_t, Histogram::kMaxBits> ops_by_octave = {};  // at n: of 2^n ns or more, and less than 2^(n+1) ns
  double sum_us = 0;                                            // within 3.2 %
};

// A client, or the cluster, at one moment of a phase.
struct LiveRow {
  std::string client;  // or server, as in the report; empty: the cluster
  double at_s = 0;     // since T: when it was measured
  // Since the previous sample; NaN: there has been no answer since. The cluster's are sums of the known ones.
  double bytes_per_s = NAN;
  double ops_per_s = NAN;
  // Of the ops that ended in that time; in the sample of a phase's end, of the whole phase as the report has them. The
  // cluster's are those of all ops of its known clients together.
  LiveLatency latency = {};
  LiveHistogram histogram = {};
  uint64_t bytes = 0;  // in this phase
  uint64_t ops = 0;
  uint32_t lanes_running = 0;
  uint32_t lane_count = 0;
  uint32_t workers_lost = 0;  // client: in this phase; cluster: in the run
};

struct LiveSample {
  std::string phase;
  uint32_t index = 0;  // of the phase in the run, from 0
  uint32_t phase_count = 0;
  bool metadata = false;     // counted in ops, not bytes
  uint64_t total_bytes = 0;  // 0: limited by time
  uint64_t total_ops = 0;
  double time_limit_s = 0;  // 0: none
  double elapsed_s = 0;     // since T; 0: being prepared
  LiveRow cluster;
  std::vector<LiveRow> clients;  // that take part in the phase
};

// One per observer. The rates of all samples of a phase, each times the time since the one before, add up to its bytes
// and ops.
class LiveRates {
 public:
  // Returns a sample without rates and clients.
  LiveSample PhasePrepares(const PhaseProgress& progress);
  LiveSample PhaseMoves(const PhaseProgress& progress);
  // Returns the last sample of the phase, with its final totals and its latencies as a whole. No lanes are running.
  LiveSample PhaseEnds(const v1::PhaseReport& phase);

 private:
  struct Before {
    LiveRow row;
    LatencyBins latency;
  };
  LiveSample Begin(const PhaseProgress& progress) const;
  void AddRates(LiveSample& sample);
  void AddLatency(const ClientProgress& client, LiveRow& row, LatencyBins& all);

  // The clients when their rates were last known, by name, because a report may list fewer.
  std::unordered_map<std::string, Before> before_;
  LiveSample latest_;
};

}  // namespace iobench

#endif  // COORDINATOR_LIVE_LIVE_RATES_H_
