#include "coordinator/report/compare/compare_words.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "common/text/number_words.h"
#include "common/text/units.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

std::string RateWords(bool metadata, double rate) {
  return RateText(metadata, rate, rate);
}

std::string Phases(uint32_t count) {
  return Counted(count, "phase");
}

// "64k", or "4k:60,64k:40".
std::string RecordsOf(const v1::PhaseKey& key) {
  return key.record_shares().empty() ? ShortSize(key.record_bytes()) : Printable(key.record_shares());
}

// "write, read: TEXT": the phases of a run grouped by text, in the order of their first phases.
std::vector<std::string> LinesByText(const v1::CompareReport& report, const PhaseLabels& labels, uint32_t run,
                                     const std::function<std::string(const v1::PhaseComparison&)>& text_of) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> phases_of;
  for (const auto& phase : report.phases()) {
    const std::string text = text_of(phase);
    if (phase.run() != run || text.empty()) continue;
    const auto [place, is_new] = phases_of.try_emplace(text);
    if (is_new) order.push_back(text);
    place->second.push_back(labels.Of(phase.phase()));
  }
  std::vector<std::string> lines;
  for (const std::string& text : order)
    lines.push_back(absl::StrCat(absl::StrJoin(phases_of[text], ", "), ": ", text));
  return lines;
}

}  // namespace

std::string RunLetter(uint32_t run) {
  if (run < 26) return std::string(1, static_cast<char>('A' + run));
  return absl::StrCat("run ", run + 1);
}

std::string RatioText(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  return ratio < 10 ? absl::StrFormat("%.3f", ratio) : absl::StrFormat("%.1f", ratio);
}

std::string IntervalText(const v1::RatioEstimate& estimate) {
  if (!std::isfinite(estimate.low())) return "-";
  return absl::StrCat(RatioText(estimate.low()), " to ", RatioText(estimate.high()));
}

std::string ChangeText(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "-";
  const double most = std::max(std::abs(low), std::abs(high));
  const auto percent = [most](double value) {
    return most < 1 ? absl::StrFormat("%+.2f %%", value) : absl::StrFormat("%+.*f %%", most < 10 ? 1 : 0, value);
  };
  return absl::StrCat(percent(low), " to ", percent(high));
}

std::string VerdictText(const v1::RatioEstimate& estimate, double margin_percent) {
  if (estimate.verdict() == "equal") return absl::StrCat("equal within ", Percent(margin_percent));
  if (estimate.verdict() != "not shown" || !std::isfinite(estimate.low())) return estimate.verdict();
  return absl::StrCat("not shown (", ChangeText(100 * (estimate.low() - 1), 100 * (estimate.high() - 1)), ")");
}

std::string PhaseVerdictText(const v1::PhaseComparison& phase, double margin_percent) {
  const std::string& verdict = phase.verdict();
  if (verdict == "equal" || phase.rate().verdict() == verdict) return VerdictText(phase.rate(), margin_percent);
  if (verdict == "not shown") return absl::StrCat("p99 ", VerdictText(phase.latency_p99(), margin_percent));
  return absl::StrCat(verdict, " (p99)");
}

std::string ProbabilityText(double p) {
  if (!std::isfinite(p)) return "-";
  return p < 0.001 ? "< 0.001" : absl::StrFormat("%.3f", p);
}

std::string DayText(const std::string& started_at) {
  std::string text = Printable(started_at.substr(0, 16));
  if (text.size() > 10 && text[10] == 'T') text[10] = ' ';
  return text;
}

void PhaseLabels::Add(const v1::PhaseKey& key) {
  keys_.push_back(key);
}

std::string PhaseLabels::Of(const v1::PhaseKey& key) const {
  std::set<std::pair<uint64_t, std::string>> shapes;
  std::set<uint32_t> lanes, occurrences;
  std::set<std::string> operations, engines, targets;
  for (const v1::PhaseKey& other : keys_) {
    if (other.name() != key.name()) continue;
    shapes.insert({other.bytes_per_lane(), RecordsOf(other)});
    lanes.insert(other.lane_count());
    occurrences.insert(other.occurrence());
    operations.insert(other.operation());
    engines.insert(other.engine());
    targets.insert(other.target());
  }
  std::string text = Printable(key.name());
  std::vector<std::string> details;
  if (operations.size() > 1) details.push_back(Printable(key.operation()));
  if (engines.size() > 1) details.push_back(Printable(key.engine()));
  if (shapes.size() > 1)
    details.push_back(absl::StrCat(ShortSize(key.bytes_per_lane()), "/", RecordsOf(key)));
  if (lanes.size() > 1) details.push_back(Counted(key.lane_count(), "lane"));
  if (targets.size() > 1) details.push_back(Printable(key.target()));
  if (occurrences.size() > 1) details.push_back(absl::StrCat("no. ", key.occurrence()));
  if (!details.empty()) absl::StrAppend(&text, " (", absl::StrJoin(details, ", "), ")");
  return text;
}

PhaseLabels LabelsOf(const v1::CompareReport& report) {
  PhaseLabels labels;
  for (const auto& phase : report.phases()) labels.Add(phase.phase());
  for (const auto& phase : report.unmatched()) labels.Add(phase.phase());
  for (const auto& phase : report.repetitions()) labels.Add(phase.phase());
  return labels;
}

PhaseLabels LabelsOf(const v1::HistoryReport& report) {
  PhaseLabels labels;
  for (const auto& phase : report.phases()) labels.Add(phase.phase());
  return labels;
}

std::string MapTitle(const v1::CompareReport& report, const v1::RatioMap& map) {
  std::set<std::string> engines, targets;
  std::set<uint32_t> strides;
  for (const v1::RatioMap& other : report.maps()) {
    if (other.operation() != map.operation()) continue;
    engines.insert(other.engine());
    strides.insert(other.stride_records());
    targets.insert(other.target());
  }
  std::string title = absl::StrCat(Printable(map.operation()), ", ", Counted(map.lane_count(), "lane"));
  if (engines.size() > 1) absl::StrAppend(&title, ", ", Printable(map.engine()));
  if (strides.size() > 1) absl::StrAppend(&title, ", stride ", map.stride_records());
  if (targets.size() > 1) absl::StrAppend(&title, ", ", Printable(map.target()));
  return absl::StrCat(title, ", ", RunLetter(map.run()), "/A");
}

RateUnit::RateUnit(bool metadata, const std::vector<double>& rates)
    : metadata_(metadata), unit_(ColumnUnit::OfBytesPerSecond(rates)) {}

std::string RateUnit::name() const {
  return metadata_ ? "ops/s" : std::string(unit_.name());
}

std::string RateUnit::Text(double rate) const {
  return metadata_ ? FormatCount(rate) : unit_.Text(rate);
}

std::string MarksText(const v1::PhaseComparison& phase) {
  const v1::PhaseSample& a = phase.baseline();
  const v1::PhaseSample& b = phase.compared();
  std::vector<std::string> only_a, only_b, both;
  const auto has = [](const v1::PhaseSample& sample, const std::string& code) {
    return std::find(sample.marks().begin(), sample.marks().end(), code) != sample.marks().end();
  };
  for (const std::string& code : a.marks()) (has(b, code) ? both : only_a).push_back(Printable(code));
  for (const std::string& code : b.marks()) {
    if (!has(a, code)) only_b.push_back(Printable(code));
  }
  std::vector<std::string> parts;
  const auto add = [&parts](const std::string& whose, const std::vector<std::string>& codes) {
    if (!codes.empty()) parts.push_back(absl::StrCat(whose, ": ", absl::StrJoin(codes, " ")));
  };
  add("both", both);
  add("A", only_a);
  add(RunLetter(phase.run()), only_b);
  return absl::StrJoin(parts, "; ");
}

std::string Quoted(const std::string& value) {
  return value.empty() ? "-" : Printable(value);
}

std::string VerdictSentence(const v1::VerdictCount& count, double margin_percent) {
  const uint32_t all = count.better() + count.worse() + count.equal() + count.not_shown();
  if (all == 0) return "no phase of these runs can be compared";
  std::vector<std::string> parts;
  const auto add = [&parts](uint32_t number, const std::string& what) {
    if (number > 0) parts.push_back(absl::StrCat(number, " ", what));
  };
  add(count.worse(), "worse");
  add(count.better(), "better");
  add(count.equal(), absl::StrCat("equal within ", Percent(margin_percent)));
  add(count.not_shown(), "not shown");
  return absl::StrCat("of ", Phases(all), ": ", absl::StrJoin(parts, ", "));
}

std::vector<std::string> NotesOn(const v1::CompareReport& report) {
  std::vector<std::string> notes;
  uint32_t tests = 0;
  bool slices = false, repetitions = false;
  for (const auto& phase : report.phases()) {
    tests += std::isfinite(phase.rate().p()) ? 1 : 0;
    slices |= phase.method() == "slices";
    repetitions |= phase.method() == "repetitions";
  }
  if (report.paired_by_name())
    notes.push_back("phases are paired by name (--pair by-name): whatever else differs between them may explain a ratio");
  if (tests == 0) return notes;
  const std::string level = Percent(report.level_percent());
  notes.push_back(absl::StrCat("intervals hold the true ratio of a phase with ", level,
                               "; verdicts are at the same level, corrected for ", tests,
                               tests == 1 ? " test" : " tests",
                               " (Holm), and count rate and p99; not shown: neither a difference nor that there is none"));
  if (repetitions)
    notes.push_back("figures of repeated phases are means; their intervals come from the repetitions");
  if (slices) {
    notes.push_back(
        "intervals of single measurements come from time slices within them: they show whether these two differ, not "
        "whether other runs would; that takes repetitions (--repeat 5 or more)");
  }
  return notes;
}

std::vector<std::string> MarkLinesOf(const v1::CompareReport& report, const PhaseLabels& labels,
                                     uint32_t run) {
  return LinesByText(report, labels, run, MarksText);
}

std::vector<std::string> ReasonsOf(const v1::CompareReport& report, const PhaseLabels& labels, uint32_t run) {
  return LinesByText(report, labels, run,
                     [](const v1::PhaseComparison& phase) { return Printable(phase.rate().why()); });
}

std::string GateSentence(const v1::Gate& gate, const char* what) {
  const std::string limit = absl::StrCat(FormatCount(gate.limit_percent()), " % of ", what);
  if (gate.below() > 0) {
    const std::string text = absl::StrCat("failed: ", Phases(gate.below()), " below ", limit);
    return gate.inconclusive() > 0 ? absl::StrCat(text, "; ", Phases(gate.inconclusive()), " inconclusive") : text;
  }
  if (gate.inconclusive() > 0) {
    return absl::StrCat("inconclusive: ", Phases(gate.inconclusive()), " of ",
                        gate.inconclusive() + gate.not_below(), " not shown to be below or above ", limit);
  }
  return absl::StrCat("passed: ", Phases(gate.not_below()), " shown to reach ", limit);
}

std::string ChangeSentence(const v1::HistoryReport& report, const v1::PhaseHistory& phase,
                           const v1::ChangePoint& change) {
  const v1::ComparedRun& run = report.runs(static_cast<int>(change.run()));
  return absl::StrCat("from ", DayText(run.started_at()), " (", Printable(run.name()),
                      "): ", RateWords(phase.metadata(), change.median_after()), " instead of ",
                      RateWords(phase.metadata(), change.median_before()), ", ratio ",
                      RatioText(change.ratio()), ", p ", ProbabilityText(change.p()));
}

namespace {

// "3.2 h", "12 days"
std::string SpanText(double days) {
  return days < 2 ? FormatSeconds(86400 * days) : absl::StrCat(FormatSignificant(days, 3), " days");
}

}  // namespace

std::string TrendSentence(const v1::Trend& trend, double margin_percent) {
  if (!trend.why().empty()) return absl::StrCat("not shown: ", Printable(trend.why()));
  const std::string verdict =
      trend.verdict() == "steady" ? absl::StrCat("steady within ", Percent(margin_percent)) : trend.verdict();
  const std::string interval =
      std::isfinite(trend.low()) ? absl::StrCat(" (", ChangeText(trend.low(), trend.high()), ")") : "";
  return absl::StrCat(verdict, ": ", trend.percent() < 0 ? "" : "+", FormatSignificant(trend.percent(), 3), " %", interval, " over ",
                      SpanText(trend.observed_days()), ", p ", ProbabilityText(trend.adjusted_p()));
}

std::string DifferenceSentence(const v1::Difference& difference) {
  // Runs with equal values are named together, because a history has many.
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> runs_of;
  for (int i = 0; i < difference.values_size(); ++i) {
    const std::string value = Quoted(difference.values(i));
    const auto [place, is_new] = runs_of.try_emplace(value);
    if (is_new) order.push_back(value);
    place->second.push_back(RunLetter(static_cast<uint32_t>(i)));
  }
  constexpr size_t kMaxNamed = 4;
  std::vector<std::string> parts;
  for (const std::string& value : order) {
    const std::vector<std::string>& runs = runs_of[value];
    const std::string who =
        runs.size() <= kMaxNamed ? absl::StrJoin(runs, " ") : absl::StrCat(runs.size(), " runs");
    parts.push_back(absl::StrCat(who, " ", value));
  }
  return absl::StrCat(difference.of(), " ", Printable(difference.field()), ": ", absl::StrJoin(parts, "; "));
}

std::string UnmatchedSentence(const v1::UnmatchedPhase& phase, const PhaseLabels& labels) {
  return absl::StrCat(labels.Of(phase.phase()), ": only in ",
                      phase.only_in_baseline() ? "A" : RunLetter(phase.run()));
}

std::string UnlikeSentence() {
  return "the plans differ, which may explain a ratio; the differences are listed below";
}

}  // namespace iobench
