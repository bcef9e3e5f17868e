// A limit on response time that storage must keep (--slo), such as "p99<=10ms", and how a measurement is judged by it.
// Pure.
#ifndef COORDINATOR_ANALYSIS_CAPACITY_SLO_H_
#define COORDINATOR_ANALYSIS_CAPACITY_SLO_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "common/model/criterion.h"

namespace iobench {

struct Slo {
  std::string text;                                     // as written: "p99<=10ms"
  Criterion::Figure figure = Criterion::Figure::kMean;  // of response time: kMean to kMax
  double limit_us = 0;
  bool limit_included = true;  // "<=", not "<"
};

// Reads FIGURE<=TIME or FIGURE<TIME: mean, p50, p90, p95, p99, p99.9, p99.99 or max, and a time above 0 in us, ms or s.
// InvalidArgument: other text; the message shows the syntax.
absl::StatusOr<Slo> ParseSlo(const std::string& text);

bool Meets(const Slo& slo, double figure_us);

// Ops that a measurement needs before the figure can be trusted: 100 / (1 - p) for a percentile, 100 for the mean. No
// number is enough for the max; 100 is used.
uint64_t NeededOps(const Slo& slo);

// The time in which a Poisson process of this rate has NeededOps, with a margin of 3 standard deviations.
double SecondsForNeededOps(const Slo& slo, double ops_per_s);

// p50, p90, p99 and p99.9 of response time; NaN: unknown.
using Percentiles = std::array<double, 4>;
inline constexpr double kUnknownTime = std::numeric_limits<double>::quiet_NaN();

// The result of a measurement at one load.
struct SloResult {
  double achieved_per_s = 0;
  double done_share =
      1;  // of the ops that were due; a Poisson process does not yield exactly the requested rate
  double figure_us = 0;  // response time that the SLO limits
  double low_us = 0;     // 95 % interval of figure_us; both equal to it if unknown
  double high_us = 0;
  // Ops too few for a high percentile often suffice for a lower one; if that is over the limit, the SLO fails.
  Percentiles percentiles_us = {kUnknownTime, kUnknownTime, kUnknownTime, kUnknownTime};
  uint64_t ops = 0;
  uint64_t errors = 0;           // failed ops
  bool generator_bound = false;  // the phase has this mark
  bool worker_lost = false;
};

inline constexpr double kMinDoneShare = 0.99;

enum class SloVerdict {
  kPass,
  kFail,
  kInconclusive,  // the interval contains the limit, or there were too few ops
  kInvalid,       // the measurement was not of the offered load
};
const char* NameOf(SloVerdict verdict);  // "pass" …

struct SloJudgement {
  SloVerdict verdict = SloVerdict::kInvalid;
  std::string reason;  // for display: "p99 12.1 ms is over 10 ms"
};
SloJudgement JudgeSlo(const Slo& slo, const SloResult& result);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CAPACITY_SLO_H_
