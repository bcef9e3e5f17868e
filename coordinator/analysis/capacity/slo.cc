#include "coordinator/analysis/capacity/slo.h"

#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/number_words.h"
#include "common/text/units.h"

namespace iobench {
namespace {

using Figure = Criterion::Figure;

// 0.01 for p99; 1 for the mean and the max, which are no percentiles.
double ShareBeyond(Figure figure) {
  switch (figure) {
    case Figure::kP50:
      return 0.5;
    case Figure::kP90:
      return 0.1;
    case Figure::kP95:
      return 0.05;
    case Figure::kP99:
      return 0.01;
    case Figure::kP99_9:
      return 0.001;
    case Figure::kP99_99:
      return 0.0001;
    default:
      return 1;
  }
}

absl::Status BadSlo(const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "SLO \"", text,
      "\": write FIGURE<=TIME, such as p99<=10ms, mean<5ms or p99.9<=50ms (figures: mean, p50, p90, p95, "
      "p99, p99.9, p99.99, max; a time above 0 in us, ms or s)"));
}

std::string Milliseconds(double us) {
  return absl::StrCat(FormatSignificant(us / 1e3, 4), " ms");
}

// If the SLO allows one op in a hundred beyond its limit, ten in a hundred are more than chance.
constexpr double kOpsBeyond = 10;

struct LowerPercentile {
  Figure figure;
  const char* name;
};
constexpr LowerPercentile kLowerPercentiles[] = {
    {Figure::kP50, "p50"}, {Figure::kP90, "p90"}, {Figure::kP99, "p99"}, {Figure::kP99_9, "p99.9"}};
static_assert(std::size(kLowerPercentiles) == std::tuple_size_v<Percentiles>);

// Why the SLO fails although there are too few ops for its own figure; empty: it does not.
std::string FailureByFewOps(const Slo& slo, const SloResult& result) {
  if (slo.figure == Figure::kMax && !Meets(slo, result.figure_us))
    return absl::StrCat("max ", Milliseconds(result.figure_us), " is over ", Milliseconds(slo.limit_us));
  if (slo.figure == Figure::kMean) return "";
  for (size_t i = 0; i < result.percentiles_us.size(); ++i) {
    const auto& [figure, name] = kLowerPercentiles[i];
    if (slo.figure != Figure::kMax && ShareBeyond(figure) <= ShareBeyond(slo.figure)) break;
    const double time_us = result.percentiles_us[i];
    if (!(time_us > 0) || Meets(slo, time_us)) continue;
    if (static_cast<double>(result.ops) * ShareBeyond(figure) < kOpsBeyond) break;
    return absl::StrCat("even ", name, ", ", Milliseconds(time_us), ", is over ", Milliseconds(slo.limit_us));
  }
  return "";
}

}  // namespace

absl::StatusOr<Slo> ParseSlo(const std::string& text) {
  Slo slo;
  for (const char c : text) {
    if (c != ' ') slo.text += c;
  }
  // A criterion (--require) for all phases has the same figures, times and bounds, but no "<".
  const size_t sign = slo.text.find('<');
  if (sign == std::string::npos || slo.text.find(':') != std::string::npos) return BadSlo(text);
  slo.limit_included = slo.text.compare(sign, 2, "<=") == 0;
  const std::string figure = slo.text.substr(0, sign);
  const std::string limit = slo.text.substr(sign + (slo.limit_included ? 2 : 1));
  const absl::StatusOr<Criterion> criterion = ParseCriterion(absl::StrCat("*:", figure, "<=", limit));
  if (!criterion.ok() || criterion->phases != "*" || criterion->bound != Criterion::Bound::kMax)
    return BadSlo(text);
  if (std::string(UnitOf(criterion->figure)) != "us" || !(criterion->limit > 0)) return BadSlo(text);
  slo.figure = criterion->figure;
  slo.limit_us = criterion->limit;
  return slo;
}

bool Meets(const Slo& slo, double figure_us) {
  return slo.limit_included ? figure_us <= slo.limit_us : figure_us < slo.limit_us;
}

uint64_t NeededOps(const Slo& slo) {
  return static_cast<uint64_t>(std::llround(100 / ShareBeyond(slo.figure)));
}

double SecondsForNeededOps(const Slo& slo, double ops_per_s) {
  const double needed = static_cast<double>(NeededOps(slo));
  return (needed + 3 * std::sqrt(needed)) / ops_per_s;
}

const char* NameOf(SloVerdict verdict) {
  switch (verdict) {
    case SloVerdict::kPass:
      return "pass";
    case SloVerdict::kFail:
      return "fail";
    case SloVerdict::kInconclusive:
      return "inconclusive";
    case SloVerdict::kInvalid:
      break;
  }
  return "invalid";
}

SloJudgement JudgeSlo(const Slo& slo, const SloResult& result) {
  if (result.worker_lost) return {SloVerdict::kInvalid, "a worker was lost"};
  if (result.errors > 0) return {SloVerdict::kInvalid, absl::StrCat(result.errors, " ops failed")};
  if (result.generator_bound)
    return {SloVerdict::kInvalid, "the clients could not generate this load (generator_bound)"};
  if (std::isnan(result.done_share))
    return {SloVerdict::kInvalid,
            "no op was due in this time: measure longer (--time) or offer a higher load"};
  if (!(result.done_share >= kMinDoneShare)) {
    return {SloVerdict::kInvalid,
            absl::StrFormat("only %.1f %% of the ops due were done", 100 * result.done_share)};
  }
  if (!std::isfinite(result.figure_us) || result.figure_us <= 0)
    return {SloVerdict::kInvalid, "there is no response time"};
  if (result.ops < NeededOps(slo)) {
    if (std::string failure = FailureByFewOps(slo, result); !failure.empty())
      return {SloVerdict::kFail, std::move(failure)};
    return {SloVerdict::kInconclusive,
            absl::StrCat(result.ops, " ops are too few: ", slo.text.substr(0, slo.text.find('<')), " needs ",
                         NeededOps(slo))};
  }
  const std::string figure = slo.text.substr(0, slo.text.find('<'));
  const bool low_meets = Meets(slo, result.low_us), high_meets = Meets(slo, result.high_us);
  const std::string measured = absl::StrCat(figure, " ", Milliseconds(result.figure_us));
  if (low_meets && high_meets)
    return {SloVerdict::kPass, absl::StrCat(measured, " is within ", Milliseconds(slo.limit_us))};
  if (!low_meets && !high_meets)
    return {SloVerdict::kFail, absl::StrCat(measured, " is over ", Milliseconds(slo.limit_us))};
  return {SloVerdict::kInconclusive,
          absl::StrCat(measured, " (", Milliseconds(result.low_us), " to ", Milliseconds(result.high_us),
                       ") is too close to ", Milliseconds(slo.limit_us), " to tell")};
}

}  // namespace iobench
