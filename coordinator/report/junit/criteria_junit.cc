#include "coordinator/report/junit/criteria_junit.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/criterion_text.h"
#include "coordinator/report/text/junit_text.h"

namespace iobench {
namespace {

constexpr int kExitOfCriteria = 4;  // a criterion was not met, which its own case says

JunitCase CaseOfRun(const v1::RunReport& report) {
  const v1::RunInfo& run = report.run();
  JunitCase test{.name = "run", .class_name = "run", .message = {}};
  test.failure_type = "run";
  for (const v1::ErrorReport& problem : run.problems()) test.details.push_back(ErrorText(problem));
  for (const v1::PhaseReport& phase : report.phases()) {
    if (phase.not_whole().empty()) continue;
    test.details.push_back(absl::StrCat(PhaseTitle(report, phase), ": ", phase.not_whole()));
  }
  for (const v1::MissingPhase& missing : run.missing_phases())
    test.details.push_back(absl::StrCat(missing.file(), ": ", missing.problem(), " (", missing.name(), ")"));
  if (!run.has_exit_code()) {
    test.message = "the run has not ended";
  } else if (run.exit_code() != 0 && run.exit_code() != kExitOfCriteria) {
    test.message = absl::StrCat("the run ended with exit code ", run.exit_code());
  } else if (!run.missing_phases().empty()) {
    test.message = absl::StrCat(run.missing_phases_size(), " of its phases are missing or damaged");
  }
  test.outcome = test.message.empty() ? JunitCase::Outcome::kPassed : JunitCase::Outcome::kFailed;
  if (test.message.empty()) test.message = "ended as planned";
  return test;
}

JunitCase CaseOfCriterion(const v1::CriterionReport& criterion) {
  JunitCase test{.name = criterion.criterion(), .class_name = "criteria", .message = {}};
  test.message = absl::StrCat(VerdictText(criterion), ": ", MeasuredText(criterion));
  if (!criterion.phase().empty()) absl::StrAppend(&test.message, " in ", criterion.phase());
  if (!criterion.problem().empty()) absl::StrAppend(&test.message, "; ", criterion.problem());
  if (!criterion.met()) test.outcome = JunitCase::Outcome::kFailed;
  test.failure_type = VerdictText(criterion);
  return test;
}

}  // namespace

absl::Status WriteCriteriaJunit(const v1::RunReport& report, std::ostream& out) {
  const v1::RunInfo& run = report.run();
  std::vector<std::string> properties = {"run", run.id(), "command", run.command(), "version", run.program_version()};
  if (!run.label().empty()) properties.insert(properties.end(), {"label", run.label()});
  std::vector<JunitCase> cases = {CaseOfRun(report)};
  for (const v1::CriterionReport& criterion : report.criteria()) cases.push_back(CaseOfCriterion(criterion));
  PrintJunitHead(out);
  PrintJunitSuite(absl::StrCat("cluster-iobench ", run.label().empty() ? run.id() : run.label()), run.started_at(),
                  properties, cases, out);
  PrintJunitEnd(out);
  return Flush(out, "JUnit");
}

}  // namespace iobench
