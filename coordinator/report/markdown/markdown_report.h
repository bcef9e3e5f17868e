// The chapters of the document that show what was measured, where, and how far to trust it.
#ifndef COORDINATOR_REPORT_MARKDOWN_MARKDOWN_REPORT_H_
#define COORDINATOR_REPORT_MARKDOWN_MARKDOWN_REPORT_H_

#include <ostream>
#include <string_view>

#include "coordinator/report/tables/table_list.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes tables of the report, each below the heading of its chapter and its intro.
class ChapterWriter {
 public:
  ChapterWriter(const v1::RunReport& report, std::ostream& out) : report_(report), out_(out) {}
  void Write(const TableSource& source);
  // The caller has written the heading of the next tables.
  void HasHeading(std::string_view chapter) { chapter_ = chapter; }

 private:
  const v1::RunReport& report_;
  std::ostream& out_;
  std::string_view chapter_;
};

// Each writes what no table has; nothing if there is nothing to say.

void WriteEnvironment(const v1::RunReport& report, std::ostream& out);  // heading and what took part
void WriteNotes(const v1::RunReport& report, std::ostream& out);
void WriteLegend(const v1::RunReport& report, std::ostream& out);   // of the figures of phases
void WriteErrors(const v1::RunReport& report, std::ostream& out);   // of the run, and of each phase

}  // namespace iobench

#endif  // COORDINATOR_REPORT_MARKDOWN_MARKDOWN_REPORT_H_
