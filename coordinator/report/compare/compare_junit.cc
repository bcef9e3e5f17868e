// Comparisons and histories as JUnit XML: a test suite per compared run, a test case per phase.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/display_text.h"
#include "coordinator/report/compare/compare_formats.h"
#include "coordinator/report/compare/compare_words.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/junit_text.h"

namespace iobench {
namespace {

std::string RateSentence(const v1::PhaseComparison& phase, double margin_percent) {
  const auto rate = [&](double value) { return RateText(phase.metadata(), value, value); };
  const std::string marks = MarksText(phase);
  return absl::StrCat(rate(phase.compared().rate()), ", baseline ", rate(phase.baseline().rate()), ", ratio ",
                      RatioText(phase.rate().ratio()), " (", IntervalText(phase.rate()), "), p99 ratio ",
                      RatioText(phase.latency_p99().ratio()), " (", IntervalText(phase.latency_p99()),
                      "): ", PhaseVerdictText(phase, margin_percent), marks.empty() ? "" : absl::StrCat("; marks ", marks));
}

JunitCase CaseOf(const v1::PhaseComparison& phase, const PhaseLabels& labels, double margin_percent) {
  JunitCase test{.name = labels.Of(phase.phase()), .class_name = phase.phase().operation(), .message = {}};
  test.message = RateSentence(phase, margin_percent);
  if (phase.limit_verdict() == "inconclusive") {
    test.outcome = JunitCase::Outcome::kSkipped;
    test.message = absl::StrCat("inconclusive: ", test.message);
  }
  if (!phase.rate().why().empty()) {
    test.outcome = JunitCase::Outcome::kSkipped;
    test.message = absl::StrCat("not shown: ", phase.rate().why());
  }
  if (phase.limit_verdict() == "below") test.outcome = JunitCase::Outcome::kFailed;
  return test;
}

void AddRunProperties(const v1::ComparedRun& run, const std::string& prefix,
                      std::vector<std::string>& properties) {
  properties.insert(properties.end(),
                    {absl::StrCat(prefix, ".directory"), run.name(), absl::StrCat(prefix, ".id"), run.id()});
  if (!run.label().empty())
    properties.insert(properties.end(), {absl::StrCat(prefix, ".label"), run.label()});
}

// What is missing in a run, or went wrong in it.
template <typename Report>
void AddProblems(const Report& report, std::vector<std::string>& properties) {
  for (int i = 0; i < report.runs_size(); ++i) {
    const std::string name = absl::StrCat("problem.", RunLetter(static_cast<uint32_t>(i)));
    for (const std::string& problem : report.runs(i).problems())
      properties.insert(properties.end(), {name, problem});
  }
}

template <typename Report>
void AddPlanProperties(const Report& report, std::vector<std::string>& properties) {
  AddProblems(report, properties);
  properties.insert(properties.end(), {"like_plans", report.like_plans() ? "true" : "false"});
  if (report.has_gate())
    properties.insert(properties.end(), {"fail_under_percent", absl::StrCat(report.gate().limit_percent())});
}

}  // namespace

absl::Status WriteComparisonJunit(const v1::CompareReport& report, const ConsoleStyle&, std::ostream& out) {
  const PhaseLabels labels = LabelsOf(report);
  PrintJunitHead(out);
  for (uint32_t run = 1; run < static_cast<uint32_t>(report.runs_size()); ++run) {
    const v1::ComparedRun& compared = report.runs(static_cast<int>(run));
    std::vector<std::string> properties;
    AddRunProperties(report.runs(0), "baseline", properties);
    AddRunProperties(compared, "compared", properties);
    AddPlanProperties(report, properties);
    std::vector<JunitCase> cases;
    for (const auto& phase : report.phases()) {
      if (phase.run() == run) cases.push_back(CaseOf(phase, labels, report.margin_percent()));
    }
    for (const auto& unmatched : report.unmatched()) {
      if (unmatched.run() != run) continue;
      cases.push_back({.name = labels.Of(unmatched.phase()),
                       .class_name = unmatched.phase().operation(),
                       .outcome = JunitCase::Outcome::kSkipped,
                       .message = UnmatchedSentence(unmatched, labels)});
    }
    PrintJunitSuite(absl::StrCat(compared.name(), " against ", report.runs(0).name()), compared.started_at(),
                  properties, cases, out);
  }
  if (report.runs_size() == 1) {
    std::vector<std::string> properties;
    AddRunProperties(report.runs(0), "run", properties);
    AddProblems(report, properties);
    std::vector<JunitCase> cases;
    for (const auto& list : report.repetitions()) {
      const double median = list.figures().median();
      cases.push_back({.name = labels.Of(list.phase()),
                       .class_name = list.phase().operation(),
                       .message = absl::StrCat("median of ", Counted(list.figures().count(), "repetition"),
                                               " ", RateText(list.metadata(), median, median))});
    }
    PrintJunitSuite(report.runs(0).name(), report.runs(0).started_at(), properties, cases, out);
  }
  PrintJunitEnd(out);
  return Flush(out, "JUnit");
}

absl::Status WriteHistoryJunit(const v1::HistoryReport& report, const ConsoleStyle&, std::ostream& out) {
  const PhaseLabels labels = LabelsOf(report);
  PrintJunitHead(out);
  std::vector<std::string> properties;
  AddRunProperties(*report.runs().begin(), "oldest", properties);
  AddRunProperties(*report.runs().rbegin(), "newest", properties);
  AddPlanProperties(report, properties);
  std::vector<JunitCase> cases;
  for (const v1::PhaseHistory& phase : report.phases()) {
    JunitCase test{.name = labels.Of(phase.phase()), .class_name = phase.phase().operation(), .message = {}};
    std::vector<std::string> parts = {absl::StrCat("trend: ", TrendSentence(phase.trend(), report.margin_percent()))};
    for (const auto& change : phase.changes()) parts.push_back(ChangeSentence(report, phase, change));
    test.message = absl::StrJoin(parts, "; ");
    if (phase.limit_verdict() == "inconclusive") {
      test.outcome = JunitCase::Outcome::kSkipped;
      test.message = absl::StrCat("inconclusive: ", test.message);
    }
    if (!phase.changes_why().empty()) {
      test.outcome = JunitCase::Outcome::kSkipped;
      test.message = absl::StrCat("not shown: ", phase.changes_why());
    }
    if (phase.limit_verdict() == "below") test.outcome = JunitCase::Outcome::kFailed;
    cases.push_back(std::move(test));
  }
  PrintJunitSuite("history", report.runs().rbegin()->started_at(), properties, cases, out);
  PrintJunitEnd(out);
  return Flush(out, "JUnit");
}

}  // namespace iobench
