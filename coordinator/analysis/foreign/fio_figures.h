// fio's figures of a phase, which it calls a job: what was read and written, latencies by its percentiles and bands, and
// how much rates varied. Pure.
#ifndef COORDINATOR_ANALYSIS_FOREIGN_FIO_FIGURES_H_
#define COORDINATOR_ANALYSIS_FOREIGN_FIO_FIGURES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// How a rate varied from one slice of the headline's window to the next (MeasuredSlices). A window shorter than a slice has
// one sample.
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

// Per cent of all latencies, by fio's bands: of those below 1 us in ns, of those below 1 ms in us, of the others in ms.
// "250": at least the band before, below 250.
struct FioBand {
  std::string label;  // "250", ">=2000"
  double percent = 0;
};

struct FioJob {
  // What its operations do with records; unknown operations: what was measured.
  bool reads = false, writes = false, random = false;
  int error = 0;             // errno of its first error or failed op, EIO if none has one; 0: all succeeded
  bool time_based = false;   // --time, of which
  double runtime_s = 0;      // … this is measured
  double ramp_s = 0;         // --warmup
  FioDirection read, write;  // as measured
  FioLatencies syncs;  // the flush calls, without close; several kinds of them are one
  double window_s = 0;
  double cpu_user_percent = 0, cpu_system_percent = 0;  // of the lanes' own time; 0: unknown
  std::vector<FioBand> bands_ns, bands_us, bands_ms;    // empty: nothing was measured
};

// True if an operation of the phase reads or writes records, even if none was.
bool IsFioJob(const v1::Plan& plan, const v1::PhaseReport& phase);
// The first operation of the phase that is not on names, with the job's options; a default one if the plan has none.
const v1::Operation& RecordOperationOf(const v1::Plan& plan, const v1::PhaseReport& phase);
// REQUIRES: IsFioJob. Without the phase's charts, percentiles are those of Latency (none of several kinds together), and
// there are no bands and samples.
FioJob FioJobOf(const v1::Plan& plan, const v1::PhaseReport& phase);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_FOREIGN_FIO_FIGURES_H_
