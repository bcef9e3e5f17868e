// Comparisons and histories as Markdown (GitHub's tables), for tickets and pull requests.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "coordinator/report/compare/compare_formats.h"
#include "coordinator/report/compare/compare_words.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

// Names must not become markup.
std::string Md(const std::string& text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      if (std::string_view("\\`*_{}[]|#~>").find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

void WriteRow(const std::vector<std::string>& cells, std::ostream& out) {
  out << "| ";
  for (size_t i = 0; i < cells.size(); ++i) out << (i > 0 ? " | " : "") << Md(cells[i]);
  out << " |\n";
}

// `rights`: which columns are figures: "lrr".
void PrintTitles(const std::vector<std::string>& titles, std::string_view rights, std::ostream& out) {
  WriteRow(titles, out);
  out << '|';
  for (size_t i = 0; i < titles.size(); ++i) out << (i < rights.size() && rights[i] == 'r' ? "--:|" : "---|");
  out << '\n';
}

template <typename Report>
void PrintRunsAndDifferences(const Report& report, std::ostream& out) {
  if (!report.like_plans()) out << "**Unlike plans**: " << Md(UnlikeSentence()) << ".\n\n";
  PrintTitles({"run", "directory", "started at", "label"}, "llll", out);
  for (int i = 0; i < report.runs_size(); ++i) {
    const v1::ComparedRun& run = report.runs(i);
    WriteRow({RunLetter(static_cast<uint32_t>(i)), run.name(), DayText(run.started_at()), run.label()}, out);
  }
  out << '\n';
  for (int i = 0; i < report.runs_size(); ++i) {
    for (const std::string& problem : report.runs(i).problems())
      out << "- problem of " << RunLetter(static_cast<uint32_t>(i)) << ": " << Md(problem) << '\n';
  }
  for (const v1::Difference& difference : report.differences())
    out << "- differs: " << Md(DifferenceSentence(difference)) << '\n';
  if (!report.differences().empty()) out << '\n';
}

void PrintPhaseTable(const v1::CompareReport& report, uint32_t run, const PhaseLabels& labels,
                   std::ostream& out) {
  const std::string letter = RunLetter(run);
  PrintTitles({"phase", "A", letter, absl::StrCat(letter, "/A"), "interval", "p99 ratio",
             "p99 interval", "verdict", "marks"},
            "lrrrlrlll", out);
  for (const auto& phase : report.phases()) {
    if (phase.run() != run) continue;
    const auto rate = [&](double value) { return RateText(phase.metadata(), value, value); };
    WriteRow({labels.Of(phase.phase()), rate(phase.baseline().rate()), rate(phase.compared().rate()),
            RatioText(phase.rate().ratio()), IntervalText(phase.rate()), RatioText(phase.latency_p99().ratio()),
            IntervalText(phase.latency_p99()), PhaseVerdictText(phase, report.margin_percent()), MarksText(phase)},
           out);
  }
  out << '\n';
}

void PrintMarkdownMap(const v1::CompareReport& report, const v1::RatioMap& map, std::ostream& out) {
  out << "### " << Md(MapTitle(report, map)) << "\n\nGeometric mean "
      << RatioText(map.geometric_mean().ratio()) << ", interval " << IntervalText(map.geometric_mean())
      << ": " << VerdictText(map.geometric_mean(), report.margin_percent()) << "\n\n";
  std::vector<std::string> titles = {"size \\ record"};
  for (const uint64_t record : map.records_bytes()) titles.push_back(ShortSize(record));
  PrintTitles(titles, std::string(titles.size(), 'r'), out);
  for (const uint64_t size : map.sizes_bytes()) {
    std::vector<std::string> row = {ShortSize(size)};
    for (const uint64_t record : map.records_bytes()) {
      std::string text;
      for (const v1::RatioCell& cell : map.cells()) {
        if (cell.size_bytes() == size && cell.record_bytes() == record)
          text = absl::StrCat(RatioText(cell.ratio()), " ", cell.verdict());
      }
      row.push_back(std::move(text));
    }
    WriteRow(row, out);
  }
  out << '\n';
}

}  // namespace

absl::Status WriteComparisonMarkdown(const v1::CompareReport& report, const ConsoleStyle&,
                                     std::ostream& out) {
  const PhaseLabels labels = LabelsOf(report);
  out << (report.runs_size() == 1 ? "# Repetitions of one run\n\n" : "# Comparison of runs\n\n");
  PrintRunsAndDifferences(report, out);
  for (uint32_t run = 1; run < static_cast<uint32_t>(report.runs_size()); ++run) {
    out << "## " << RunLetter(run) << " against A\n\n"
        << Md(VerdictSentence(report.counts(static_cast<int>(run) - 1), report.margin_percent())) << ".\n\n";
    PrintPhaseTable(report, run, labels, out);
    for (const v1::RatioMap& map : report.maps()) {
      if (map.run() == run) PrintMarkdownMap(report, map, out);
    }
    for (const auto& unmatched : report.unmatched()) {
      if (unmatched.run() == run) out << "- unmatched: " << Md(UnmatchedSentence(unmatched, labels)) << '\n';
    }
    for (const std::string& reason : ReasonsOf(report, labels, run))
      out << "- not shown: " << Md(reason) << '\n';
    out << '\n';
  }
  for (const v1::RepetitionSeries& list : report.repetitions()) {
    const v1::RepetitionReport& figures = list.figures();
    const auto rate = [&](double value) { return RateText(list.metadata(), value, value); };
    out << "## " << Md(labels.Of(list.phase())) << "\n\nMedian " << rate(figures.median()) << ", interval "
        << rate(figures.low()) << " to " << rate(figures.high()) << " at " << Percent(figures.level_percent())
        << ", mean " << rate(figures.mean()) << "\n\n";
    PrintTitles({"repetition", "rate", "of median", ""}, "rrrl", out);
    for (const auto& repetition : list.repetitions()) {
      WriteRow({absl::StrCat(repetition.repetition() + 1), rate(repetition.rate()),
              RatioText(repetition.of_median()),
              repetition.left_out() ? "excluded" : (repetition.outlier() ? "outlier" : "")},
             out);
    }
    out << '\n';
  }
  for (const std::string& note : NotesOn(report)) out << "- " << Md(note) << '\n';
  if (report.has_gate()) out << "\n**Gate** " << Md(GateSentence(report.gate(), "the baseline")) << '\n';
  return Flush(out, "Markdown");
}

absl::Status WriteHistoryMarkdown(const v1::HistoryReport& report, const ConsoleStyle&, std::ostream& out) {
  const PhaseLabels labels = LabelsOf(report);
  out << "# History of " << Counted(report.runs_size(), "run") << "\n\n";
  PrintRunsAndDifferences(report, out);
  for (const v1::PhaseHistory& phase : report.phases()) {
    const auto rate = [&](double value) { return RateText(phase.metadata(), value, value); };
    out << "## " << Md(labels.Of(phase.phase())) << "\n\nMedian " << rate(phase.median())
        << "; trend: " << Md(TrendSentence(phase.trend(), report.margin_percent())) << "\n\n";
    if (!phase.changes_why().empty()) out << "- changes: not shown: " << Md(phase.changes_why()) << "\n\n";
    for (const v1::ChangePoint& change : phase.changes())
      out << "- changed " << Md(ChangeSentence(report, phase, change)) << '\n';
    if (!phase.changes().empty()) out << '\n';
    PrintTitles({"run", "started at", "rate", "of median"}, "llrr", out);
    for (const v1::HistoryPoint& point : phase.points()) {
      WriteRow({RunLetter(point.run()), DayText(report.runs(static_cast<int>(point.run())).started_at()),
              rate(point.figure().rate()), RatioText(point.of_median())},
             out);
    }
    out << '\n';
  }
  if (report.has_gate())
    out << "**Gate** " << Md(GateSentence(report.gate(), "the level before the newest change")) << '\n';
  return Flush(out, "Markdown");
}

}  // namespace iobench
