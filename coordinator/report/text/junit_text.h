// JUnit XML, which CI servers show. The elements are those of the Ant task's schema (junit.xsd of
// windyroad/JUnit-Schema) that Jenkins and GitLab read.
#ifndef COORDINATOR_REPORT_TEXT_JUNIT_TEXT_H_
#define COORDINATOR_REPORT_TEXT_JUNIT_TEXT_H_

#include <ostream>
#include <string>
#include <vector>

namespace iobench {

// Text may hold any characters: what XML or a terminal cannot show is escaped.
struct JunitCase {
  enum class Outcome { kPassed, kFailed, kSkipped };
  std::string name, class_name;
  Outcome outcome = Outcome::kPassed;
  std::string message;                    // one line
  std::vector<std::string> details = {};  // more lines, after the message
  double seconds = 0;
  std::string failure_type = "below limit";
};

// Write one document: head, suites, end. Nothing is flushed.
void PrintJunitHead(std::ostream& out);
// `started_at`: ISO 8601. `properties`: names and values in turn.
void PrintJunitSuite(const std::string& name, const std::string& started_at,
                   const std::vector<std::string>& properties, const std::vector<JunitCase>& cases,
                   std::ostream& out);
void PrintJunitEnd(std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_JUNIT_TEXT_H_
