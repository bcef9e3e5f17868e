// A validation as JUnit XML: one test suite, a test case per check.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/junit_text.h"
#include "coordinator/report/validate/validate_formats.h"

namespace iobench {
namespace {

JunitCase JunitCaseOf(const v1::ValidateCheck& check) {
  JunitCase test{.name = check.name(), .class_name = "validate", .message = check.found()};
  test.seconds = check.duration_s();
  test.failure_type = "wrong";
  test.details.assign(check.evidence().begin(), check.evidence().end());
  if (!check.advice().empty()) test.details.push_back(absl::StrCat("what to do: ", check.advice()));
  if (check.verdict() == "fail") test.outcome = JunitCase::Outcome::kFailed;
  if (check.verdict() == "skipped") test.outcome = JunitCase::Outcome::kSkipped;
  if (check.verdict() == "follows") {
    test.outcome = JunitCase::Outcome::kSkipped;
    test.message = absl::StrCat("follows from ", check.follows_from(), ": ", check.found());
  }
  if (check.verdict() == "known") {
    test.outcome = JunitCase::Outcome::kSkipped;
    test.message = absl::StrCat("known: ", check.waiver(), ": ", check.found());
  }
  return test;
}

}  // namespace

absl::Status WriteValidateJunit(const v1::ValidateReport& report, const ConsoleStyle&, std::ostream& out) {
  std::vector<std::string> properties = {
      "path", report.path(), "filesystem", report.filesystem(), "mount_source", report.mount_source()};
  for (const v1::ValidateClient& client : report.clients()) {
    properties.insert(properties.end(), {absl::StrCat("client.", client.host()), client.mount_options()});
  }
  for (const v1::ValidateFact& fact : report.facts()) {
    const std::string clients = absl::StrJoin(fact.clients(), ",");
    properties.insert(properties.end(),
                      {absl::StrCat("fact.", fact.name(), clients.empty() ? "" : absl::StrCat(".", clients)),
                       absl::StrCat(fact.answer(), " (", fact.decided_by(), ")")});
  }
  std::vector<JunitCase> cases;
  for (const v1::ValidateCheck& check : report.checks()) cases.push_back(JunitCaseOf(check));
  PrintJunitHead(out);
  PrintJunitSuite(absl::StrCat("validate ", report.path()), report.started_at(), properties, cases, out);
  PrintJunitEnd(out);
  return Flush(out, "JUnit");
}

}  // namespace iobench
