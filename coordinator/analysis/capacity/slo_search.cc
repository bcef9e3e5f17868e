#include "coordinator/analysis/capacity/slo_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/units.h"

namespace iobench {
namespace {

using Purpose = SloProbe::Purpose;
using Kind = SloOutcome::Kind;

bool IsPositive(double value) {
  return std::isfinite(value) && value > 0;
}

std::string PerSecond(double ops_per_s) {
  return absl::StrCat(FormatCount(ops_per_s), " ops/s");
}

// The probability of at least `hits` of `count` if a hit and a miss were equally likely. Beyond the load where they are,
// such a result is even less likely.
double ChanceOf(int hits, int count) {
  double ways = 1, sum = 0;  // of `k` hits
  for (int k = 0; k <= count; ++k) {
    if (k >= hits) sum += ways;
    ways = ways * (count - k) / (k + 1);
  }
  return sum / std::exp2(count);
}

// What to do about a load that did not pass; empty: the judgement's reason says it.
const char* AdviceOn(const JudgedProbe& judged, const SloSearchSettings& settings) {
  switch (judged.judgement.verdict) {
    case SloVerdict::kFail:
      if (judged.probe.purpose == Purpose::kRetest || judged.probe.purpose == Purpose::kConfirm) {
        return " The storage may have slowed down: repeat the search when it is steady, or use a longer --time.";
      }
      return settings.longer_begins_lower
                 ? " Allow longer response times, or use a longer --time, with which the search can begin lower."
                 : " Allow longer response times.";
    case SloVerdict::kInvalid:
      if (judged.result.errors > 0) return " The run's report lists the failed ops.";
      if (judged.result.generator_bound || judged.result.done_share < kMinDoneShare)
        return " Use more lanes (-t) or more clients.";
      return "";
    default:
      return " Use a longer --time.";
  }
}

}  // namespace

const char* NameOf(SloProbe::Purpose purpose) {
  switch (purpose) {
    case Purpose::kDouble:
      return "double";
    case Purpose::kBisect:
      return "bisect";
    case Purpose::kAgain:
      return "again";
    case Purpose::kRetest:
      return "retest";
    case Purpose::kConfirm:
      break;
  }
  return "confirm";
}

absl::StatusOr<SloSearch> SloSearch::Create(const SloSearchSettings& settings) {
  if (!IsPositive(settings.lowest_per_s) || !IsPositive(settings.closed_loop_max_per_s))
    return absl::InvalidArgumentError("a search for the load under an SLO needs loads above 0");
  if (settings.lowest_per_s > settings.closed_loop_max_per_s) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the lowest load, ", PerSecond(settings.lowest_per_s), ", is over the closed-loop maximum of ",
        PerSecond(settings.closed_loop_max_per_s), "; start lower"));
  }
  if (!IsPositive(settings.probe_s) || !IsPositive(settings.max_probe_s) ||
      settings.probe_s > settings.max_probe_s)
    return absl::InvalidArgumentError("probes need a length above 0 and of at most their longest one");
  if (!IsPositive(settings.tolerance) || settings.max_probes == 0)
    return absl::InvalidArgumentError("a search needs a tolerance above 0 and at least one probe");
  return SloSearch(settings);
}

SloSearch::SloSearch(const SloSearchSettings& settings) : settings_(settings) {
  Probe(settings.lowest_per_s, Purpose::kDouble);
}

std::optional<SloProbe> SloSearch::Next() const {
  if (outcome_.kind != Kind::kRunning) return std::nullopt;
  return next_;
}

void SloSearch::Note(const SloResult& result) {
  JudgedProbe judged = {next_, result, JudgeSlo(settings_.slo, result), false};
  const SloVerdict verdict = judged.judgement.verdict;
  judged.counts_as_pass = verdict == SloVerdict::kPass ||
                          (verdict == SloVerdict::kInconclusive && Meets(settings_.slo, result.figure_us));
  probes_.push_back(judged);
  if (result.worker_lost)
    return End(Kind::kInvalid, "A worker was lost: the load that was offered is unknown.");
  if (!Repeats(judged)) {
    repeated_ = false;
    if (testing_lower_) {
      TestLower(judged);
    } else if (testing_upper_) {
      TestUpper(judged);
    } else {
      WhileSearching(judged);
    }
  }
  if (outcome_.kind == Kind::kRunning && probes_.size() >= settings_.max_probes) EndOutOfProbes();
}

void SloSearch::Probe(double offered_per_s, Purpose purpose) {
  // Long enough for the ops that the figure needs, as far as the longest probe allows.
  const double needed_s = SecondsForNeededOps(settings_.slo, offered_per_s);
  const double factor = purpose == Purpose::kConfirm ? kConfirmFactor : 1;
  next_ = {offered_per_s, factor * std::min(std::max(settings_.probe_s, needed_s), settings_.max_probe_s),
           purpose};
}

// Whether the same load is offered once more, for longer if that can help.
bool SloSearch::Repeats(const JudgedProbe& judged) {
  if (judged.judgement.verdict == SloVerdict::kInvalid && !repeated_) {
    repeated_ = true;
    return true;
  }
  const double max_s = (next_.purpose == Purpose::kConfirm ? kConfirmFactor : 1) * settings_.max_probe_s;
  if (judged.judgement.verdict != SloVerdict::kInconclusive || next_.seconds >= max_s) return false;
  next_.seconds = std::min(2 * next_.seconds, max_s);
  return true;
}

void SloSearch::WhileSearching(const JudgedProbe& judged) {
  ++(judged.counts_as_pass ? here_.passes : here_.misses);
  // A load that could not be measured, or not for long enough, has been repeated already.
  const bool was_repeated = !judged.counts_as_pass && judged.judgement.verdict != SloVerdict::kFail;
  if (here_.misses >= 2 || was_repeated) return AfterFailure(judged);
  if (here_.misses == 0 || here_.passes >= 2) return AfterPass();
  Probe(next_.offered_per_s, Purpose::kAgain);
}

void SloSearch::AfterPass() {
  here_ = {};
  lower_per_s_ = passed_per_s_ = next_.offered_per_s;
  climbing_ ? Climb() : Bisect();
}

void SloSearch::AfterFailure(const JudgedProbe& judged) {
  here_ = {};
  upper_per_s_ = next_.offered_per_s;
  why_upper_is_invalid_ = judged.judgement.verdict == SloVerdict::kInvalid ? judged.judgement.reason : "";
  if (next_.offered_per_s <= settings_.lowest_per_s) return EndAtLowest(judged);
  climbing_ = false;
  Bisect();
}

void SloSearch::Climb() {
  if (lower_per_s_ < settings_.closed_loop_max_per_s)
    return Probe(std::min(2 * lower_per_s_, settings_.closed_loop_max_per_s), Purpose::kDouble);
  climbing_ = false;
  testing_lower_ = true;
  Probe(lower_per_s_, Purpose::kRetest);
}

// Geometrically: the tolerance is a ratio.
void SloSearch::Bisect() {
  if (upper_per_s_ > lower_per_s_ * (1 + settings_.tolerance))
    return Probe(std::sqrt(lower_per_s_ * upper_per_s_), Purpose::kBisect);
  testing_lower_ = true;
  Probe(lower_per_s_, Purpose::kRetest);
}

void SloSearch::TestLower(const JudgedProbe& judged) {
  const bool confirms = next_.purpose == Purpose::kConfirm;
  // Of a confirming probe that fails, the second one decides.
  if (confirms && !judged.counts_as_pass && ++confirm_misses_ == 1)
    return Probe(lower_per_s_, Purpose::kConfirm);
  ++(judged.counts_as_pass ? lower_tests_.passes : lower_tests_.misses);
  const bool is_invalid = judged.judgement.verdict == SloVerdict::kInvalid;  // it has been repeated
  if (lower_tests_.misses >= 2 || confirm_misses_ >= 2 || is_invalid) return StepDown(judged);
  if (judged.counts_as_pass) passed_per_s_ = lower_per_s_;
  if (!confirms) {
    const bool is_last = lower_tests_.count() + 1 >= kBracketTests;
    return Probe(lower_per_s_, is_last ? Purpose::kConfirm : Purpose::kRetest);
  }
  confirmed_ = judged;
  testing_lower_ = false;
  if (upper_per_s_ == 0 || !why_upper_is_invalid_.empty()) return EndBracketed();
  testing_upper_ = true;
  ProbeUpper();
}

void SloSearch::TestUpper(const JudgedProbe& judged) {
  if (judged.judgement.verdict == SloVerdict::kInvalid) {
    why_upper_is_invalid_ = judged.judgement.reason;
    return EndBracketed();
  }
  ++(judged.counts_as_pass ? upper_tests_.passes : upper_tests_.misses);
  if (upper_tests_.passes >= kBracketTests - 1) {  // it failed by chance before, so the search goes on above it
    testing_upper_ = false;
    climbing_ = true;
    lower_per_s_ = passed_per_s_ = upper_per_s_;
    upper_per_s_ = 0;
    upper_failed_long_ = false;
    ForgetTests();
    return Climb();
  }
  if (upper_tests_.passes >= 2 && upper_tests_.misses >= 2) return StepUp();
  if (upper_tests_.count() >= kBracketTests) return EndBracketed();
  ProbeUpper();
}

// What failed in a long probe may pass in a short one.
void SloSearch::ProbeUpper() {
  Probe(upper_per_s_, upper_failed_long_ ? Purpose::kConfirm : Purpose::kRetest);
}

void SloSearch::ForgetTests() {
  lower_tests_ = upper_tests_ = {};
  confirm_misses_ = 0;
}

void SloSearch::StepDown(const JudgedProbe& judged) {
  upper_per_s_ = lower_per_s_;
  why_upper_is_invalid_ = judged.judgement.verdict == SloVerdict::kInvalid ? judged.judgement.reason : "";
  passed_per_s_ = 0;
  if (upper_per_s_ <= settings_.lowest_per_s) return EndAtLowest(judged);
  upper_failed_long_ = confirm_misses_ >= 2;
  ForgetTests();
  lower_per_s_ = std::max(settings_.lowest_per_s, upper_per_s_ / (1 + settings_.tolerance));
  Probe(lower_per_s_, Purpose::kRetest);
}

void SloSearch::StepUp() {
  if (upper_per_s_ >= settings_.closed_loop_max_per_s) return EndBracketed();
  upper_tests_ = {};
  upper_failed_long_ = false;
  upper_per_s_ = std::min(upper_per_s_ * (1 + settings_.tolerance), settings_.closed_loop_max_per_s);
  ProbeUpper();
}

void SloSearch::EndAtLowest(const JudgedProbe& judged) {
  lower_per_s_ = passed_per_s_ = 0;
  const std::string load = PerSecond(next_.offered_per_s);
  const std::string why = absl::StrCat(": ", judged.judgement.reason, ".", AdviceOn(judged, settings_));
  // The search came back to this load, from which it had gone on because it passed.
  if (testing_lower_) {
    return End(Kind::kInconclusive, absl::StrCat("The lowest load, ", load,
                                                 ", passed at first, but not when it was tested again", why));
  }
  const std::string where = absl::StrCat(" at the lowest load, ", load, why);
  switch (judged.judgement.verdict) {
    case SloVerdict::kInvalid:
      return End(Kind::kInvalid, absl::StrCat("Nothing could be measured", where));
    case SloVerdict::kFail:
      return End(Kind::kCannotBeMet, absl::StrCat(settings_.slo.text, " cannot be met", where));
    default:
      return End(Kind::kInconclusive,
                 absl::StrCat("It is unknown whether ", settings_.slo.text, " is met", where));
  }
}

void SloSearch::EndOutOfProbes() {
  const auto [least, most] =
      std::minmax_element(probes_.begin(), probes_.end(), [](const JudgedProbe& a, const JudgedProbe& b) {
        return a.probe.offered_per_s < b.probe.offered_per_s;
      });
  const std::string low = PerSecond(least->probe.offered_per_s), high = PerSecond(most->probe.offered_per_s);
  const std::string tried = absl::StrCat(
      "The search did not end within ", probes_.size(), probes_.size() == 1 ? " probe" : " probes",
      low == high ? absl::StrCat(" at ", low) : absl::StrCat(", from ", low, " to ", high));
  outcome_.max_per_s = passed_per_s_;
  if (passed_per_s_ > 0) {
    // Higher loads may have passed, too, before they failed.
    return End(Kind::kInconclusive, absl::StrCat(tried, ". ", PerSecond(passed_per_s_),
                                                 " passed, but this is not confirmed: use a longer --time."));
  }
  if (climbing_) {  // all probes repeat the first one
    const JudgedProbe& last = probes_.back();
    return End(Kind::kInconclusive,
               absl::StrCat(tried, ": ", last.judgement.reason, ".", AdviceOn(last, settings_)));
  }
  // The search was stepping down, so the newest probe that did not pass is of the lowest such load.
  const auto missed = std::find_if(probes_.rbegin(), probes_.rend(),
                                   [](const JudgedProbe& judged) { return !judged.counts_as_pass; });
  End(Kind::kInconclusive, absl::StrCat(tried, ". Loads that passed at first did not pass later, down to ",
                                        PerSecond(missed->probe.offered_per_s), ": ",
                                        missed->judgement.reason, ".", AdviceOn(*missed, settings_)));
}

void SloSearch::EndBracketed() {
  outcome_.max_per_s = lower_per_s_;
  outcome_.figure_us = confirmed_->result.figure_us;
  outcome_.sure = confirmed_->judgement.verdict == SloVerdict::kPass;
  const std::string load = PerSecond(lower_per_s_);
  outcome_.tests = absl::StrCat("passed ", lower_tests_.passes, " of ", lower_tests_.count(), " tests at ", load);
  outcome_.confidence = 1 - ChanceOf(lower_tests_.passes, lower_tests_.count());
  if (upper_per_s_ == 0) {
    return End(Kind::kMetUpToMax,
               absl::StrCat(settings_.slo.text, " is met at ", load,
                            ", the highest rate measured, so it does not limit this storage."));
  }
  if (!why_upper_is_invalid_.empty()) {
    return End(Kind::kGeneratorBound, absl::StrCat(settings_.slo.text, " is met at ", load, ". The load ",
                                                   PerSecond(upper_per_s_), " could not be measured: ",
                                                   why_upper_is_invalid_, ". The true limit may be higher."));
  }
  outcome_.fails_at_per_s = upper_per_s_;
  outcome_.confidence =
      std::max(0.0, outcome_.confidence - ChanceOf(upper_tests_.misses, upper_tests_.count()));
  absl::StrAppend(&outcome_.tests, ", failed ", upper_tests_.misses, " of ", upper_tests_.count(), " at ",
                  PerSecond(upper_per_s_));
  End(Kind::kFound,
      absl::StrFormat("%s is met up to %s, but not at %s (confidence %.0f %%: %s).", settings_.slo.text, load,
                      PerSecond(upper_per_s_), std::floor(100 * outcome_.confidence), outcome_.tests));
}

void SloSearch::End(Kind kind, std::string text) {
  outcome_.kind = kind;
  outcome_.text = std::move(text);
  if (outcome_.max_per_s > 0 && !outcome_.sure && kind != Kind::kInconclusive)
    absl::StrAppend(&outcome_.text, " This is not certain: ", confirmed_->judgement.reason, ".");
}

}  // namespace iobench
