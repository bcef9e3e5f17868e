// What a comparison takes from a run: for each phase its key, the figures of its repetitions, and its slices. Pure.
#ifndef COORDINATOR_ANALYSIS_COMPARE_PHASE_SAMPLES_H_
#define COORDINATOR_ANALYSIS_COMPARE_PHASE_SAMPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "iobench/v1/compare.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// One measurement of a phase.
struct Measurement {
  uint32_t repetition = 0;
  double rate = 0;  // headline: ops/s of metadata operations, bytes/s of all others
  double p99_us = 0;
  bool p99_unsure = false;
  bool counts = false;  // false: not whole, or without a figure
  std::vector<std::string> marks;
};

// All repetitions of one phase of a run.
struct PhaseSamples {
  v1::PhaseKey key;
  bool metadata = false;
  std::vector<Measurement> measurements;  // in the order of the run
  // If exactly one measurement counts: its rate in each slice of the headline's window, or why there are none.
  std::vector<double> slices;
  std::string slices_why;
  v1::LatencyMap latency;  // and its latency over time
  std::vector<v1::PercentilePoint> percentiles;

  std::vector<double> Rates() const;  // of the measurements that count
  std::vector<double> P99s() const;
  bool p99_unsure() const;  // in any measurement that counts
};

// Returns the phases in the order in which they first occur. REQUIRES: whole phases; without charts there are no
// slices.
std::vector<PhaseSamples> SamplesOf(const v1::RunReport& report);

// Text that is equal for equal keys.
std::string TextOf(const v1::PhaseKey& key);

// Summarises the samples for reports.
v1::PhaseSample SummaryOf(const PhaseSamples& samples);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_COMPARE_PHASE_SAMPLES_H_
