// Names of the sheets of a workbook.
#ifndef COORDINATOR_REPORT_WORKBOOK_SHEET_NAMES_H_
#define COORDINATOR_REPORT_WORKBOOK_SHEET_NAMES_H_

#include <set>
#include <string>
#include <string_view>

namespace iobench {

// Makes any names into names that spreadsheet programs accept and that differ from each other: at most 31 characters,
// none of []:*?/\ and ', not blank, not "History", different without regard to case.
class SheetNames {
 public:
  // Returns the name for the next sheet. A name that is taken gets a number: "write (2)".
  std::string Next(std::string_view wanted);

 private:
  std::set<std::string> taken_;  // in lower case
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_WORKBOOK_SHEET_NAMES_H_
