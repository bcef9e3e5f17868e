// Words and cells that the formats of comparisons and histories share.
#ifndef COORDINATOR_REPORT_COMPARE_COMPARE_WORDS_H_
#define COORDINATOR_REPORT_COMPARE_COMPARE_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/report/text/column_unit.h"
#include "iobench/v1/compare.pb.h"

namespace iobench {

// All texts are printable and without line breaks.

std::string RunLetter(uint32_t run);                          // "A" for the baseline, "B" …, "run 27"
std::string RatioText(double ratio);                          // "0.906"; "-": unknown
std::string IntervalText(const v1::RatioEstimate& estimate);  // "0.888 to 0.924"; "-": unknown
// "-31 % to -4 %"; "-": unknown. In percent.
std::string ChangeText(double low, double high);
// "better", "equal within 5 %", "not shown (-31 % to -4 %)": the verdict on one figure.
std::string VerdictText(const v1::RatioEstimate& estimate, double margin_percent);
// The same of rate and p99 together: "worse (p99)", "p99 not shown (-8 % to +20 %)".
std::string PhaseVerdictText(const v1::PhaseComparison& phase, double margin_percent);
std::string ProbabilityText(double p);                        // "0.012", "< 0.001"; "-": unknown
std::string DayText(const std::string& started_at);           // "2026-03-01 10:15" of an ISO 8601 time

// The names of phases. A name that several phases have is extended by what distinguishes them: "write 64k/4k, 8 lanes".
class PhaseLabels {
 public:
  void Add(const v1::PhaseKey& key);
  std::string Of(const v1::PhaseKey& key) const;

 private:
  std::vector<v1::PhaseKey> keys_;
};
PhaseLabels LabelsOf(const v1::CompareReport& report);
PhaseLabels LabelsOf(const v1::HistoryReport& report);

// "write, 4 lanes, B/A", with whatever else distinguishes it from the other maps.
std::string MapTitle(const v1::CompareReport& report, const v1::RatioMap& map);

// The unit of rates that stand in one column, and their text without it.
class RateUnit {
 public:
  RateUnit(bool metadata, const std::vector<double>& rates);
  std::string name() const;
  std::string Text(double rate) const;

 private:
  bool metadata_;
  ColumnUnit unit_;
};

// Codes of marks, by run: "both: cached; B: partial".
std::string MarksText(const v1::PhaseComparison& phase);
std::string Quoted(const std::string& value);  // for lists of differing values: "-" if empty

// "of 3 phases: 1 worse, 1 equal within 5 %, 1 not shown": what was found, in one clause.
std::string VerdictSentence(const v1::VerdictCount& count, double margin_percent);
// Which figures the level refers to, and what a comparison of single measurements cannot tell. One string each.
std::vector<std::string> NotesOn(const v1::CompareReport& report);
// Phases and their marks: "write, read: both: cached; B: partial". Empty: there are none.
std::vector<std::string> MarkLinesOf(const v1::CompareReport& report, const PhaseLabels& labels,
                                     uint32_t run);
// Phases and reasons: "write, read: …"
std::vector<std::string> ReasonsOf(const v1::CompareReport& report, const PhaseLabels& labels, uint32_t run);
std::string GateSentence(const v1::Gate& gate, const char* what);
std::string ChangeSentence(const v1::HistoryReport& report, const v1::PhaseHistory& phase,
                           const v1::ChangePoint& change);
// "falling: -6.1 % (-8 % to -4 %) over 12 days, p 0.020".
std::string TrendSentence(const v1::Trend& trend, double margin_percent);
std::string DifferenceSentence(const v1::Difference& difference);  // "plan stop.time_s: A 3, B 5"
std::string UnmatchedSentence(const v1::UnmatchedPhase& phase, const PhaseLabels& labels);
std::string UnlikeSentence();  // what unlike plans mean for a comparison

}  // namespace iobench

#endif  // COORDINATOR_REPORT_COMPARE_COMPARE_WORDS_H_
