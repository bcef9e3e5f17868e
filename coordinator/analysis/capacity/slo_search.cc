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
    judged.counts_as_pass ? AfterPass(judged) : AfterFailure(judged);
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

void SloSearch::AfterPass(const JudgedProbe& judged) {
  lower_per_s_ = passed_per_s_ = next_.offered_per_s;
  switch (next_.purpose) {
    case Purpose::kDouble:
      if (lower_per_s_ >= settings_.closed_loop_max_per_s) return Probe(lower_per_s_, Purpose::kConfirm);
      return Probe(std::min(2 * lower_per_s_, settings_.closed_loop_max_per_s), Purpose::kDouble);
    case Purpose::kBisect:
      return Bisect();
    case Purpose::kRetest:
      return Probe(lower_per_s_, Purpose::kConfirm);
    case Purpose::kConfirm:
      return EndConfirmed(judged);
  }
}

void SloSearch::AfterFailure(const JudgedProbe& judged) {
  upper_per_s_ = next_.offered_per_s;
  why_upper_is_invalid_ = judged.judgement.verdict == SloVerdict::kInvalid ? judged.judgement.reason : "";
  if (next_.offered_per_s <= settings_.lowest_per_s) return EndAtLowest(judged);
  switch (next_.purpose) {
    case Purpose::kDouble:
    case Purpose::kBisect:
      return Bisect();
    case Purpose::kRetest:
    case Purpose::kConfirm:
      return StepDown();
  }
}

// Geometrically: the tolerance is a ratio.
void SloSearch::Bisect() {
  if (upper_per_s_ <= lower_per_s_ * (1 + settings_.tolerance)) return Probe(lower_per_s_, Purpose::kRetest);
  Probe(std::sqrt(lower_per_s_ * upper_per_s_), Purpose::kBisect);
}

void SloSearch::StepDown() {
  passed_per_s_ = 0;
  lower_per_s_ = std::max(settings_.lowest_per_s, upper_per_s_ / (1 + settings_.tolerance));
  Probe(lower_per_s_, Purpose::kRetest);
}

void SloSearch::EndAtLowest(const JudgedProbe& judged) {
  lower_per_s_ = passed_per_s_ = 0;
  const std::string load = PerSecond(next_.offered_per_s);
  const std::string why = absl::StrCat(": ", judged.judgement.reason, ".", AdviceOn(judged, settings_));
  // The search came back to this load, from which it had gone on because it passed.
  if (next_.purpose != Purpose::kDouble) {
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
  if (next_.purpose == Purpose::kDouble) {  // all probes repeat the first one
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

void SloSearch::EndConfirmed(const JudgedProbe& judged) {
  outcome_.max_per_s = next_.offered_per_s;
  outcome_.figure_us = judged.result.figure_us;
  outcome_.sure = judged.judgement.verdict == SloVerdict::kPass;
  const std::string load = PerSecond(next_.offered_per_s);
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
  End(Kind::kFound, absl::StrCat(settings_.slo.text, " is met up to ", load, ", but not at ",
                                 PerSecond(upper_per_s_), "."));
}

void SloSearch::End(Kind kind, std::string text) {
  outcome_.kind = kind;
  outcome_.text = std::move(text);
  if (outcome_.max_per_s > 0 && !outcome_.sure && kind != Kind::kInconclusive)
    absl::StrAppend(&outcome_.text, " This is not certain: ", probes_.back().judgement.reason, ".");
}

}  // namespace iobench
