// Comparisons and histories for people, as text.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "coordinator/report/compare/compare_formats.h"
#include "coordinator/report/compare/compare_words.h"
#include "coordinator/report/console/console_page.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/text_table.h"

namespace iobench {
namespace {

constexpr int kMaxDifferences = 20;
constexpr size_t kMaxPhaseRows = 20;  // with more phases, those in a map have no row
constexpr int kMaxPoints = 30;        // of a history, the newest
constexpr int kMaxRepetitions = 20;   // with more, only those that are excluded or outliers have a row

using Align = TextTable::Align;

void PrintRuns(const google::protobuf::RepeatedPtrField<v1::ComparedRun>& runs, ConsolePage& page) {
  TextTable table({{"", Align::kLeft},
                   {"run", Align::kLeft, false, true},
                   {"started at", Align::kLeft},
                   {"label", Align::kLeft}});
  for (int i = 0; i < runs.size(); ++i) {
    table.AddRow({RunLetter(static_cast<uint32_t>(i)), Printable(runs[i].name()),
                  DayText(runs[i].started_at()), Printable(runs[i].label())});
  }
  page.Table(table);
  for (int i = 0; i < runs.size(); ++i) {
    for (const std::string& problem : runs[i].problems()) {
      page.Labelled(absl::StrCat("! ", RunLetter(static_cast<uint32_t>(i))), Printable(problem),
                    Tone::kError);
    }
  }
}

void PrintDifferences(const google::protobuf::RepeatedPtrField<v1::Difference>& differences,
                    ConsolePage& page) {
  std::string label = "differs";
  for (int i = 0; i < differences.size() && i < kMaxDifferences; ++i) {
    page.Labelled(label, DifferenceSentence(differences[i]));
    label.clear();
  }
  if (differences.size() > kMaxDifferences) {
    page.Labelled("", absl::StrCat("and ", differences.size() - kMaxDifferences, " more (--format json)"),
                  Tone::kQuiet);
  }
}

// A map has all phases that differ only in size and record.
bool IsInMap(const v1::CompareReport& report, const v1::PhaseComparison& phase) {
  const v1::PhaseKey& key = phase.phase();
  return !phase.metadata() &&
         std::any_of(report.maps().begin(), report.maps().end(), [&](const v1::RatioMap& map) {
           return map.run() == phase.run() && map.operation() == key.operation() &&
                  map.lane_count() == key.lane_count() && map.engine() == key.engine() &&
                  map.stride_records() == key.stride_records() && map.target() == key.target();
         });
}

// The phases of a run that get a row.
std::vector<const v1::PhaseComparison*> ListedPhases(const v1::CompareReport& report, uint32_t run) {
  std::vector<const v1::PhaseComparison*> all, in_no_map;
  for (const v1::PhaseComparison& phase : report.phases()) {
    if (phase.run() != run) continue;
    all.push_back(&phase);
    if (!IsInMap(report, phase)) in_no_map.push_back(&phase);
  }
  return all.size() > kMaxPhaseRows ? in_no_map : all;
}

void WriteOutPhases(const std::vector<const v1::PhaseComparison*>& phases, uint32_t run, const PhaseLabels& labels,
               double margin_percent, ConsolePage& page) {
  // Metadata operations have another unit than all others, so they have a table of their own.
  bool first = true;
  for (const bool metadata : {false, true}) {
    std::vector<double> rates;
    for (const v1::PhaseComparison* const phase : phases) {
      if (phase->metadata() == metadata)
        rates.insert(rates.end(), {phase->baseline().rate(), phase->compared().rate()});
    }
    if (rates.empty()) continue;
    if (!std::exchange(first, false)) page.Blank();
    const RateUnit unit(metadata, rates);
    const std::string letter = RunLetter(run);
    TextTable table({{"phase", Align::kLeft, false, true},
                     {absl::StrCat("A ", unit.name())},
                     {absl::StrCat(letter, " ", unit.name())},
                     {absl::StrCat(letter, "/A")},
                     {"interval", Align::kLeft, true},
                     {"p99"},
                     {"interval", Align::kLeft, true},
                     {"verdict", Align::kLeft}});
    for (const v1::PhaseComparison* const phase : phases) {
      if (phase->metadata() != metadata) continue;
      table.AddRow({labels.Of(phase->phase()), unit.Text(phase->baseline().rate()),
                    unit.Text(phase->compared().rate()), RatioText(phase->rate().ratio()),
                    IntervalText(phase->rate()), RatioText(phase->latency_p99().ratio()),
                    IntervalText(phase->latency_p99()), PhaseVerdictText(*phase, margin_percent)});
    }
    page.Table(table);
  }
}

std::string CellText(const v1::RatioCell& cell) {
  std::string text = RatioText(cell.ratio());
  if (cell.verdict() == "better") text += "+";
  if (cell.verdict() == "worse") text += "-";
  if (cell.verdict() == "equal") text += "=";
  if (cell.verdict() == "not shown") text += "?";
  return text;
}

void WriteMap(const v1::CompareReport& report, const v1::RatioMap& map, ConsolePage& page) {
  const v1::RatioEstimate& mean = map.geometric_mean();
  std::string summary = absl::StrCat("geometric mean ", RatioText(mean.ratio()));
  if (std::isfinite(mean.low())) absl::StrAppend(&summary, ", ", IntervalText(mean));
  absl::StrAppend(&summary, ": ", VerdictText(mean, report.margin_percent()));
  page.Line({{MapTitle(report, map), Tone::kStrong}, {summary}});
  std::vector<TextTable::Column> columns = {{"size \\ record"}};
  for (const uint64_t record : map.records_bytes()) columns.push_back({ShortSize(record)});
  TextTable table(std::move(columns));
  for (const uint64_t size : map.sizes_bytes()) {
    std::vector<std::string> row = {ShortSize(size)};
    for (const uint64_t record : map.records_bytes()) {
      std::string text;
      for (const v1::RatioCell& cell : map.cells()) {
        if (cell.size_bytes() == size && cell.record_bytes() == record) text = CellText(cell);
      }
      row.push_back(std::move(text));
    }
    table.AddRow(std::move(row));
  }
  page.Table(table);
  page.Blank();
}

void PrintRun(const v1::CompareReport& report, uint32_t run, const PhaseLabels& labels, ConsolePage& page) {
  page.Blank();
  if (report.runs_size() > 2) {
    page.Line({{absl::StrCat(RunLetter(run), " against A"), Tone::kStrong},
               {VerdictSentence(report.counts(static_cast<int>(run) - 1), report.margin_percent())}});
  }
  WriteOutPhases(ListedPhases(report, run), run, labels, report.margin_percent(), page);
  bool first = true;
  for (const v1::RatioMap& map : report.maps()) {
    if (map.run() != run) continue;
    if (std::exchange(first, false)) page.Blank();
    WriteMap(report, map, page);
  }
  if (!first) page.Labelled("cells", absl::StrCat("+ better, - worse, = equal within ", Percent(report.margin_percent()), ", ? not shown"), Tone::kQuiet);
  std::string label = "! marks";
  for (const std::string& line : MarkLinesOf(report, labels, run)) {
    page.Labelled(label, line, Tone::kWarning);
    label.clear();
  }
  label = "unmatched";
  for (const auto& unmatched : report.unmatched()) {
    if (unmatched.run() != run) continue;
    page.Labelled(label, UnmatchedSentence(unmatched, labels), Tone::kWarning);
    label.clear();
  }
  label = "not shown";
  for (const std::string& reason : ReasonsOf(report, labels, run)) {
    page.Labelled(label, reason, Tone::kWarning);
    label.clear();
  }
}

void PrintRepetitionList(const v1::RepetitionSeries& list, const PhaseLabels& labels, ConsolePage& page) {
  const v1::RepetitionReport& figures = list.figures();
  std::vector<double> rates;
  for (const auto& repetition : list.repetitions()) rates.push_back(repetition.rate());
  const RateUnit unit(list.metadata(), rates);
  page.Blank();
  page.Line({{labels.Of(list.phase()), Tone::kStrong},
             {absl::StrCat("median ", unit.Text(figures.median()), " ", unit.name())},
             {absl::StrCat("interval ", unit.Text(figures.low()), " to ", unit.Text(figures.high()), " at ",
                           Percent(figures.level_percent()))},
             {absl::StrCat("mean ", unit.Text(figures.mean()))},
             {absl::StrCat("stddev ", unit.Text(figures.stddev()))}});
  TextTable table(
      {{"repetition"}, {unit.name()}, {"of median"}, {"", Align::kLeft}, {"marks", Align::kLeft}});
  // Of many, those that a reader looks for.
  const auto stands_out = [](const auto& repetition) { return repetition.left_out() || repetition.outlier(); };
  const bool shows_all = list.repetitions_size() <= kMaxRepetitions;
  int shown = 0;
  for (const auto& repetition : list.repetitions()) {
    if (!shows_all && (!stands_out(repetition) || shown == kMaxRepetitions)) continue;
    ++shown;
    std::vector<std::string> marks;
    for (const std::string& code : repetition.marks()) marks.push_back(Printable(code));
    table.AddRow({FormatCount(repetition.repetition() + 1), unit.Text(repetition.rate()),
                  RatioText(repetition.of_median()),
                  repetition.left_out() ? "excluded" : (repetition.outlier() ? "outlier" : ""),
                  absl::StrJoin(marks, " ")});
  }
  if (shown > 0) page.Table(table);
  if (shown < list.repetitions_size()) {
    page.Labelled("", absl::StrCat("and ", FormatCount(list.repetitions_size() - shown), " more (--format json)"),
                  Tone::kQuiet);
  }
}

void PrintPoints(const v1::HistoryReport& report, const v1::PhaseHistory& phase, ConsolePage& page) {
  std::vector<double> rates;
  for (const auto& point : phase.points()) rates.push_back(point.figure().rate());
  const RateUnit unit(phase.metadata(), rates);
  TextTable table({{"", Align::kLeft},
                   {"started at", Align::kLeft},
                   {unit.name()},
                   {"of median"},
                   {"", Align::kLeft},
                   {"run", Align::kLeft, true},
                   {"marks", Align::kLeft}});
  for (int i = std::max(0, phase.points_size() - kMaxPoints); i < phase.points_size(); ++i) {
    const v1::HistoryPoint& point = phase.points(i);
    const v1::ComparedRun& run = report.runs(static_cast<int>(point.run()));
    bool changed = false;
    for (const auto& change : phase.changes()) changed |= change.run() == point.run();
    std::vector<std::string> marks;
    for (const std::string& code : point.figure().marks()) marks.push_back(Printable(code));
    table.AddRow({RunLetter(point.run()), DayText(run.started_at()), unit.Text(point.figure().rate()),
                  RatioText(point.of_median()),
                  changed ? "changed" : (point.figure().count() == 0 ? "excluded" : ""),
                  Printable(run.name()), absl::StrJoin(marks, " ")});
  }
  page.Table(table);
  if (phase.points_size() > kMaxPoints) {
    page.Labelled("", absl::StrCat("and ", phase.points_size() - kMaxPoints, " older ones (--format json)"),
                  Tone::kQuiet);
  }
}

Tone ToneOf(const v1::CompareReport& report) {
  for (const auto& count : report.counts()) {
    if (count.worse() > 0) return Tone::kWarning;
  }
  return Tone::kStrong;
}

Tone ToneOf(const v1::Gate& gate) {
  return gate.below() > 0 ? Tone::kError : gate.inconclusive() > 0 ? Tone::kWarning : Tone::kStrong;
}

}  // namespace

absl::Status WriteComparisonText(const v1::CompareReport& report, const ConsoleStyle& style,
                                 std::ostream& out) {
  ConsolePage page(style);
  const PhaseLabels labels = LabelsOf(report);
  if (!report.like_plans())
    page.Line({{"UNLIKE PLANS:", Tone::kWarning}, {UnlikeSentence(), Tone::kWarning}});
  if (report.runs_size() == 1) {
    page.Line({{"repetitions of one run", Tone::kStrong}});
  } else if (report.runs_size() == 2) {
    page.Line({{"B against A", Tone::kStrong}, {VerdictSentence(report.counts(0), report.margin_percent()), ToneOf(report)}});
  } else {
    page.Line({{absl::StrCat(report.runs_size() - 1, " runs against A"), Tone::kStrong}});
  }
  PrintRuns(report.runs(), page);
  PrintDifferences(report.differences(), page);
  for (uint32_t run = 1; run < static_cast<uint32_t>(report.runs_size()); ++run)
    PrintRun(report, run, labels, page);
  for (const v1::RepetitionSeries& list : report.repetitions()) PrintRepetitionList(list, labels, page);
  page.Blank();
  std::string label = "notes";
  for (const std::string& note : NotesOn(report)) {
    page.Labelled(label, note, Tone::kQuiet);
    label.clear();
  }
  if (report.has_gate()) {
    page.Labelled("gate", GateSentence(report.gate(), "the baseline"),
                  ToneOf(report.gate()));
  }
  out << page.Take();
  return Flush(out, "text");
}

absl::Status WriteHistoryText(const v1::HistoryReport& report, const ConsoleStyle& style, std::ostream& out) {
  ConsolePage page(style);
  const PhaseLabels labels = LabelsOf(report);
  if (!report.like_plans())
    page.Line({{"UNLIKE PLANS:", Tone::kWarning}, {UnlikeSentence(), Tone::kWarning}});
  page.Line({{absl::StrCat("history of ", Counted(report.runs_size(), "run")), Tone::kStrong},
             {absl::StrCat(DayText(report.runs(0).started_at()), " to ",
                           DayText(report.runs().rbegin()->started_at()))}});
  for (const v1::ComparedRun& run : report.runs()) {
    for (const std::string& problem : run.problems())
      page.Labelled("! problem", absl::StrCat(Printable(run.name()), ": ", Printable(problem)), Tone::kError);
  }
  PrintDifferences(report.differences(), page);
  for (const v1::PhaseHistory& phase : report.phases()) {
    page.Blank();
    page.Line({{labels.Of(phase.phase()), Tone::kStrong},
               {absl::StrCat("median ", RateText(phase.metadata(), phase.median(), phase.median()))}});
    page.Labelled("trend", TrendSentence(phase.trend(), report.margin_percent()));
    std::string label = "changes";
    if (phase.changes().empty()) {
      page.Labelled(label, phase.changes_why().empty()
                               ? "none shown"
                               : absl::StrCat("not shown: ", Printable(phase.changes_why())));
    }
    for (const v1::ChangePoint& change : phase.changes()) {
      page.Labelled(label, ChangeSentence(report, phase, change), Tone::kWarning);
      label.clear();
    }
    PrintPoints(report, phase, page);
  }
  if (report.has_gate()) {
    page.Blank();
    page.Labelled("gate", GateSentence(report.gate(), "the level before the newest change"),
                  ToneOf(report.gate()));
  }
  out << page.Take();
  return Flush(out, "text");
}

}  // namespace iobench
