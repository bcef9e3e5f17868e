#include "coordinator/report/text/junit_text.h"

#include "absl/strings/str_format.h"
#include "common/text/display_text.h"

namespace iobench {
namespace {

std::string XmlOf(const std::string& text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string XmlLines(const JunitCase& test) {
  std::string lines = XmlOf(test.message);
  for (const std::string& line : test.details) lines += "\n" + XmlOf(line);
  return lines;
}

void PrintCase(const JunitCase& test, std::ostream& out) {
  out << "    <testcase name=\"" << XmlOf(test.name) << "\" classname=\"" << XmlOf(test.class_name)
      << "\" time=\"" << absl::StrFormat("%.6g", test.seconds) << "\">\n";
  switch (test.outcome) {
    case JunitCase::Outcome::kFailed:
      out << "      <failure type=\"" << XmlOf(test.failure_type) << "\" message=\"" << XmlOf(test.message)
          << "\">" << XmlLines(test) << "</failure>\n";
      break;
    case JunitCase::Outcome::kSkipped:
      out << "      <skipped message=\"" << XmlOf(test.message) << "\"/>\n";
      break;
    case JunitCase::Outcome::kPassed:
      out << "      <system-out>" << XmlLines(test) << "</system-out>\n";
      break;
  }
  out << "    </testcase>\n";
}

}  // namespace

void PrintJunitHead(std::ostream& out) {
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
}

void PrintJunitSuite(const std::string& name, const std::string& started_at,
                   const std::vector<std::string>& properties, const std::vector<JunitCase>& cases,
                   std::ostream& out) {
  size_t failed = 0, skipped = 0;
  double seconds = 0;
  for (const JunitCase& test : cases) {
    failed += test.outcome == JunitCase::Outcome::kFailed ? 1 : 0;
    skipped += test.outcome == JunitCase::Outcome::kSkipped ? 1 : 0;
    seconds += test.seconds;
  }
  // The schema's type has neither fractions of a second nor a time zone.
  const std::string timestamp = started_at.size() >= 19 ? started_at.substr(0, 19) : "1970-01-01T00:00:00";
  out << "  <testsuite name=\"" << XmlOf(name) << "\" tests=\"" << cases.size() << "\" failures=\"" << failed
      << "\" errors=\"0\" skipped=\"" << skipped << "\" time=\"" << absl::StrFormat("%.6g", seconds)
      << "\" timestamp=\"" << XmlOf(timestamp) << "\" hostname=\"localhost\">\n    <properties>\n";
  for (size_t i = 0; i + 1 < properties.size(); i += 2) {
    out << "      <property name=\"" << XmlOf(properties[i]) << "\" value=\"" << XmlOf(properties[i + 1])
        << "\"/>\n";
  }
  out << "    </properties>\n";
  for (const JunitCase& test : cases) PrintCase(test, out);
  out << "    <system-out></system-out>\n    <system-err></system-err>\n  </testsuite>\n";
}

void PrintJunitEnd(std::ostream& out) {
  out << "</testsuites>\n";
}

}  // namespace iobench
