// fio's figures of a phase, which it calls a job: what was read and written, latencies by its percentiles and bands, and
// how much rates varied. Pure.
#ifndef COORDINATOR_ANALYSIS_FOREIGN_FIO_FIGURES_H_
#define COORDINATOR_ANALYSIS_FOREIGN_FIO_FIGURES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// How a rate varied from one slice of the phase's headline to the next. A phase shorter than a slice has one sample.
struct FioSamples {
  size_t count = 0;
  double min = 0, max = 0, mean = 0, stddev = 0;
};

struct FioPercentile {
  double percent = 0;
  double ns = 0;
};

struct FioLatencies {
  v1::Latency spread_us;                   // count 0: there are none
  std::vector<FioPercentile> percentiles;  // empty: unknown
};

// What a job read or wrote; all 0: nothing.
struct FioDirection {
  uint64_t bytes = 0, ops = 0;
  double bytes_per_s = 0, ops_per_s = 0;  // over the window of the headline
  FioLatencies latencies;
  bool has_samples = false;  // nothing is known over time of one of several kinds of ops
  FioSamples bytes_samples = {}, ops_samples = {};
};

// Per cent of all latencies, by fio's upper edges: of those below 1 us in ns, of those below 1 ms in us, of the others in
// ms.
struct FioBand {
  std::string label;  // "250", ">=2000"
  double percent = 0;
};

struct FioJob {
  FioDirection read, write;
  FioLatencies syncs;  // the flush calls, without close; several kinds of them are one
  double window_s = 0;
  double cpu_user_percent = 0, cpu_system_percent = 0;  // of the lanes' own time; 0: unknown
  std::vector<FioBand> bands_ns, bands_us, bands_ms;    // empty: nothing was measured
};

// True if the phase reads or writes records.
bool IsFioJob(const v1::PhaseReport& phase);
// REQUIRES: IsFioJob. Without the phase's charts, percentiles are those of Latency (none of several kinds together), and
// there are no bands and samples.
FioJob FioJobOf(const v1::PhaseReport& phase);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_FOREIGN_FIO_FIGURES_H_
