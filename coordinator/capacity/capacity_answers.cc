// Answers to what-if questions: from what was measured, and up to twice that.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/text/number_words.h"
#include "common/text/units.h"
#include "coordinator/analysis/capacity/load_curve.h"
#include "coordinator/analysis/capacity/usl.h"
#include "coordinator/capacity/capacity_report.h"

namespace iobench {
namespace {

// A resource of which at least this share is used can be what limits the rate.
constexpr double kBusy = 0.8;
// If each of the last clients brought less than this share of what one brings alone, more do not help.
constexpr double kNoHelp = 0.1;
constexpr double kBytesPerGigabit = 1.25e8;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// Replaces the answer to the same question.
void Add(const std::string& question, std::string answer, v1::CapacityReport& report) {
  for (v1::CapacityAnswer& known : *report.mutable_answers()) {
    if (known.question() == question) return known.set_answer(std::move(answer));
  }
  v1::CapacityAnswer& added = *report.add_answers();
  added.set_question(question);
  added.set_answer(std::move(answer));
}

std::string OpsText(double ops_per_s) {
  return absl::StrCat(FormatCount(ops_per_s), " ops/s");
}

const v1::Scaling* ScalingOver(const v1::CapacityReport& report, const char* what) {
  for (const v1::Scaling& scaling : report.scalings()) {
    if (scaling.over() == what) return &scaling;
  }
  return nullptr;
}

// Rates over n, with their intervals: of the law, or as measured.
struct RateCurve {
  std::vector<double> n, rates, low, high;
};

RateCurve CurveOf(const v1::Scaling& scaling) {
  RateCurve curve;
  if (scaling.has_usl()) {
    const v1::UslReport& law = scaling.usl();
    curve.n.assign(law.curve_n().begin(), law.curve_n().end());
    curve.rates.assign(law.curve_ops_per_s().begin(), law.curve_ops_per_s().end());
    curve.low.assign(law.curve_low().begin(), law.curve_low().end());
    curve.high.assign(law.curve_high().begin(), law.curve_high().end());
    return curve;
  }
  for (const v1::ScalingLevel& level : scaling.levels()) {
    curve.n.push_back(level.n());
    curve.rates.push_back(level.mean_ops_per_s());
    curve.low.push_back(level.mean_low());
    curve.high.push_back(level.mean_high());
  }
  return curve;
}

// The first whole n at which `values` over n reach the rate, interpolated linearly between its points.
std::optional<double> FirstN(const std::vector<double>& n, const std::vector<double>& values, double rate) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= rate)) continue;
    double first = n[i];
    if (i > 0 && std::isfinite(values[i])) first -= (n[i] - n[i - 1]) * (values[i] - rate) / (values[i] - values[i - 1]);
    return std::ceil(first - 1e-9);
  }
  return std::nullopt;
}

// "clients", or "client" for one.
std::string NounOf(const std::string& over, double n) {
  return n == 1 ? over.substr(0, over.size() - 1) : over;
}

// "200 ops/s (195 to 206)"
std::string WithInterval(const v1::ScalingLevel& level) {
  const std::string rate = OpsText(level.mean_ops_per_s());
  if (!std::isfinite(level.mean_high())) return rate;
  return absl::StrCat(rate, " (", FormatCount(level.mean_low()), " to ", FormatCount(level.mean_high()), ")");
}

// How many it takes if each has a limit of its own, or at least takes: rate / what each of the last level has.
std::string InProportion(const v1::Scaling& scaling, double rate) {
  const std::string& over = scaling.over();
  const v1::ScalingLevel& last = *scaling.levels().rbegin();
  const double each_per_s = last.mean_ops_per_s() / last.n();
  const auto count = [&](double ops_per_s) { return std::ceil(rate / (ops_per_s / last.n()) - 1e-9); };
  const double n = count(last.mean_ops_per_s());
  if (!RisesInProportion(scaling)) {
    return absl::StrFormat("at least %.0f, if each kept its %s of the last level", n, OpsText(each_per_s));
  }
  const std::string interval =
      std::isfinite(last.mean_high()) && last.mean_low() > 0
          ? absl::StrFormat(" (95 %%: %.0f to %.0f)", count(last.mean_high()), count(last.mean_low()))
          : ", of which the error is unknown without repetitions";
  return absl::StrFormat(
      "%.0f %s%s: each has a limit of its own, %s, since the rate rose in proportion up to all %d. Whether the storage "
      "keeps up beyond %s, only a measurement with more %s can tell",
      n, NounOf(over, n), interval, OpsText(each_per_s), last.n(), WithInterval(last), over);
}

// The answer for a rate that is over all that were measured; empty: the law may be asked.
std::string AnswerBeyond(const v1::Scaling& scaling, double rate) {
  const v1::ScalingLevel& best = HighestLevelOf(scaling);
  const uint32_t largest_n = scaling.levels().rbegin()->n();
  if (rate <= best.mean_ops_per_s()) return "";
  const std::string measured =
      absl::StrCat("the highest rate measured is ", WithInterval(best), " with ", best.n(), " ",
                   NounOf(scaling.over(), best.n()));
  if (rate <= best.mean_high() && scaling.plateau_n() > 0)
    return absl::StrCat("not shown: it is within the error of the highest rate: ", measured);
  if (scaling.plateau_n() > 0) {
    return absl::StrCat("no number of ", scaling.over(), " is known to reach it: ", measured, "; from ",
                        scaling.plateau_n(), " ", NounOf(scaling.over(), scaling.plateau_n()), " on, more, up to ",
                        largest_n, ", bring no more: adding ", scaling.over(), " does not help");
  }
  if (scaling.has_usl()) return "";
  if (const double gain = LastGainOf(scaling); gain < kNoHelp) {
    return absl::StrCat("no number of ", scaling.over(), " is known to reach it: ", measured,
                        absl::StrFormat("; each of the last ones brought %.0f %% of what one brings alone: adding %s does "
                                        "not help",
                                        100 * std::max(0.0, gain), scaling.over()));
  }
  if (RisesInProportion(scaling)) return InProportion(scaling, rate);
  return absl::StrCat("more than ", largest_n, " ", scaling.over(), ", ", InProportion(scaling, rate), ": ", measured,
                      "; without a law that fits, nothing is predicted beyond");
}

std::string ClientsNeeded(const v1::Scaling& scaling, double rate) {
  const std::string& over = scaling.over();
  if (std::string answer = AnswerBeyond(scaling, rate); !answer.empty()) return answer;
  const RateCurve curve = CurveOf(scaling);
  const std::optional<double> n = FirstN(curve.n, curve.rates, rate);
  if (!n.has_value()) {
    const double most = *std::max_element(curve.rates.begin(), curve.rates.end());
    const v1::UslReport& law = scaling.usl();
    if (!law.has_n_star() && RisesInProportion(scaling)) return InProportion(scaling, rate);
    return law.has_n_star() ? absl::StrFormat("no number of %s reaches it: by the fit, the rate peaks at %s with %.0f",
                                              over, OpsText(law.x_max().value()), std::floor(law.n_star().value()))
                            : absl::StrFormat(
                                  "more than %.0f %s, which reach %s by the fit; no prediction goes beyond twice the %s "
                                  "measured",
                                  kMaxExtrapolation * law.largest_n(), over, OpsText(most), over);
  }
  const std::optional<double> best = FirstN(curve.n, curve.high, rate);
  const std::optional<double> worst = FirstN(curve.n, curve.low, rate);
  const bool has_interval = std::isfinite(curve.low.front());
  const double largest_n = scaling.levels().rbegin()->n();
  return absl::StrCat(
      absl::StrFormat("%.0f %s", *n, NounOf(over, *n)),
      !has_interval ? ", of which the error is unknown without repetitions"
                    : absl::StrFormat(" (95 %%: %s to %s)", best.has_value() ? absl::StrFormat("%.0f", *best) : "?",
                                      worst.has_value()   ? absl::StrFormat("%.0f", *worst)
                                      : scaling.has_usl() ? "more than twice the measured ones, or never"
                                                          : "more than were measured, or never"),
      !scaling.has_usl()
          ? ", interpolated between those measured"
          : *n > largest_n ? absl::StrFormat(", extrapolated from the %.0f measured", largest_n) : "");
}

void AnswerNeed(const CapacityQuestions& questions, v1::CapacityReport& report) {
  const bool in_bytes = questions.needed_bytes_per_s > 0;
  double rate = questions.needed_ops_per_s;
  std::string asked = OpsText(rate);
  if (in_bytes) {
    const double bytes_per_op =
        report.max().ops_per_s() > 0 ? report.max().bytes_per_s() / report.max().ops_per_s() : 0;
    asked = FormatBytesPerSecond(questions.needed_bytes_per_s);
    if (!(bytes_per_op > 0))
      return Add(absl::StrCat("clients for ", asked), "unknown: these operations move no data", report);
    rate = questions.needed_bytes_per_s / bytes_per_op;
  }
  if (!(rate > 0)) return;
  const v1::Scaling* scaling = ScalingOver(report, "clients");
  if (scaling == nullptr) scaling = ScalingOver(report, "lanes");
  if (scaling == nullptr) {
    return Add(absl::StrCat("clients for ", asked), "unknown: no closed loops were measured", report);
  }
  Add(absl::StrCat(scaling->over(), " for ", asked), ClientsNeeded(*scaling, rate), report);
}

// The load is no headroom of a report that has no limit to compare it with.
void AnswerLoad(const CapacityQuestions& questions, v1::CapacityReport& report) {
  if (!(questions.load_per_s > 0) || report.has_load()) return;
  Add(absl::StrCat("headroom at ", OpsText(questions.load_per_s)), "unknown, nothing was measured", report);
}

// Why the curve, up to its peak, has no response time for a load.
const char* WhyNoResponseTime(double load, std::span<const LoadPoint> curve) {
  double last_per_s = 0;
  for (const LoadPoint& point : curve) {
    if (point.achieved_per_s > last_per_s) last_per_s = point.achieved_per_s;  // false for NaN
  }
  if (last_per_s == 0) return "no load curve was measured";
  return load > last_per_s ? "the load curve ends below it" : "the load curve begins higher";
}

void AnswerUsers(const CapacityQuestions& questions, v1::CapacityReport& report) {
  if (!(questions.users > 0) || !(questions.user_per_s > 0)) return;
  const double load = questions.users * questions.user_per_s;
  const std::string question =
      absl::StrFormat("%s users with %s ops/s each", FormatCount(questions.users), FormatSignificant(questions.user_per_s, 4));
  const double limit = LoadLimitOf(report);
  std::vector<LoadPoint> points;
  for (const v1::CurvePoint& point : report.curve()) {
    points.push_back({.offered_per_s = point.offered_per_s(),
                      .achieved_per_s = point.achieved_per_s(),
                      .mean_us = point.mean_us()});
  }
  std::string answer = absl::StrCat(OpsText(load), ": ");
  if (!(limit > 0)) {
    absl::StrAppend(&answer, report.has_slo() ? absl::StrCat("no load is known to meet ", report.slo().slo())
                                              : "unknown, nothing was measured");
    return Add(question, answer, report);
  }
  const Headroom headroom = HeadroomAt(load, limit, UpToPeak(points));
  const v1::Scaling* const over_clients = ScalingOver(report, "clients");
  const bool clients_limit = !report.has_slo() && over_clients != nullptr && RisesInProportion(*over_clients);
  absl::StrAppend(&answer,
                  headroom.factor >= 1 ? "sustained"
                  : clients_limit      ? "not reached by these clients, each of which has a limit of its own"
                                       : "not sustained",
                  report.has_slo() ? " within the SLO, which allows " : "; the highest rate allows ",
                  absl::StrFormat("%.0f users", std::floor(limit / questions.user_per_s)));
  if (headroom.mean_us.has_value()) {
    absl::StrAppend(&answer, "; mean response time ", FormatSeconds(*headroom.mean_us / 1e6));
  } else if (headroom.factor >= 1) {
    absl::StrAppend(&answer, "; its response time is unknown, since ",
                    WhyNoResponseTime(load, UpToPeak(points)));
  }
  Add(question, answer, report);
}

// How far the rate could grow with `own_factor` times the busiest resource: until `next` is as busy, and not past twice
// what was measured.
std::string GrowthText(const ResourceUse& busiest, double own_factor, const ResourceUse* next,
                       double highest_per_s) {
  const double until_next = next == nullptr ? kUnlimited : busiest.share / next->share;
  const double factor = std::min({own_factor, until_next, kMaxExtrapolation});
  std::string why = "no prediction goes beyond twice the highest rate";
  if (own_factor <= std::min(until_next, kMaxExtrapolation)) {
    why = "in proportion";
  } else if (until_next <= kMaxExtrapolation) {
    why = absl::StrCat("next limit: ", next->name);
  }
  return absl::StrFormat(
      "at most %s times the highest rate (%s; %s). Busiest now: %s, %.0f %%; resources that were not observed may limit "
      "the rate earlier",
      FormatSignificant(factor, 2), OpsText(factor * highest_per_s), why, busiest.name, 100 * busiest.share);
}

// What the measurement itself says against more clients; empty: nothing.
std::string WhyNoGrowth(const v1::CapacityReport& report) {
  for (const v1::Scaling& scaling : report.scalings()) {
    const std::string& over = scaling.over();
    const bool has_peak = scaling.usl().has_x_max();
    if (scaling.plateau_n() == 0 && !has_peak) continue;
    const std::string found =
        has_peak ? absl::StrFormat("by the fit over %s, the rate peaks at %s (95 %%: %s to %s)", over,
                                   OpsText(scaling.usl().x_max().value()), FormatCount(scaling.usl().x_max().low()),
                                   FormatCount(scaling.usl().x_max().high()))
                 : absl::StrFormat("from %d %s on, more, up to %d, bring no more than %s", scaling.plateau_n(),
                                   NounOf(over, scaling.plateau_n()), scaling.levels().rbegin()->n(),
                                   WithInterval(HighestLevelOf(scaling)));
    return over == "clients" ? absl::StrCat("no gain is to be expected: ", found)
                             : absl::StrCat("unknown: ", found,
                                            "; whether more clients exceed that, only a measurement with more can tell");
  }
  return "";
}

// The speed, in Gbit/s, of the next faster common link.
std::optional<double> FasterLink(double bytes_per_s) {
  for (const double gigabits : {1.0, 10.0, 25.0, 40.0, 100.0, 200.0, 400.0, 800.0}) {
    if (gigabits > 1.01 * bytes_per_s / kBytesPerGigabit) return gigabits;
  }
  return std::nullopt;
}

}  // namespace

void AnswerQuestions(const CapacityQuestions& questions, v1::CapacityReport& report) {
  AnswerLoad(questions, report);
  AnswerNeed(questions, report);
  AnswerUsers(questions, report);
}

void AnswerMore(const CapacitySearch& search, v1::CapacityReport& report) {
  if (!search.highest().has_value() || search.highest()->uses.empty()) return;
  const std::vector<ResourceUse>& uses = search.highest()->uses;  // the busiest first
  const ResourceUse& busiest = uses.front();
  if (busiest.share < kBusy) return;
  const auto next = [&](auto&& stays) {
    const auto found = std::find_if(uses.begin() + 1, uses.end(), stays);
    return found == uses.end() ? nullptr : &*found;
  };
  const double highest_per_s = search.highest()->ops_per_s;
  const ResourceUse* const elsewhere =
      next([&](const ResourceUse& use) { return use.server != busiest.server; });
  if (busiest.server.empty()) {
    const std::string limit = WhyNoGrowth(report);
    return Add("more clients, or faster ones",
               limit.empty() ? GrowthText(busiest, kUnlimited, elsewhere, highest_per_s) : limit, report);
  }
  const std::optional<double> gigabits =
      busiest.link_bytes_per_s > 0 ? FasterLink(busiest.link_bytes_per_s) : std::nullopt;
  if (gigabits.has_value()) {
    Add(absl::StrFormat("a %s GbE link for %s, in place of %s GbE", FormatSignificant(*gigabits, 3),
                        busiest.server, FormatSignificant(busiest.link_bytes_per_s / kBytesPerGigabit, 3)),
        GrowthText(busiest, *gigabits * kBytesPerGigabit / busiest.link_bytes_per_s,
                   next([](const ResourceUse&) { return true; }), highest_per_s),
        report);
  }
  Add(absl::StrCat("a second server like ", busiest.server), GrowthText(busiest, 2, elsewhere, highest_per_s),
      report);
}

}  // namespace iobench
