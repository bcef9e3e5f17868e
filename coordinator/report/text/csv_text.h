// Titles and text cells of CSV files.
#ifndef COORDINATOR_REPORT_TEXT_CSV_TEXT_H_
#define COORDINATOR_REPORT_TEXT_CSV_TEXT_H_

#include <span>
#include <string>
#include <string_view>

namespace iobench {

// RFC 4180: a value with a comma, a quote, a tab or a line break is quoted, and quotes in it are doubled. Values with
// spaces at their ends are quoted too, since readers differ on whether these belong to the value. Names come from other
// hosts: one that a spreadsheet would compute (it begins with = + - @, a tab or a carriage return, and is no number) gets
// an apostrophe in front, and a control character is written as \x1b. web/src/dom.js does the same.
std::string CsvText(std::string_view value);

// A column of a CSV file of ours, as `--help csv` lists it.
struct CsvColumn {
  enum class Holds { kNumbers, kTexts };  // kTexts: also a text that looks like a number

  std::string_view name;     // ends in the unit, if there is one
  std::string_view unit;     // "" for texts, counts and ratios
  std::string_view meaning;  // one clause
  Holds holds = Holds::kNumbers;
};

// Returns the first line of a file with these columns.
std::string CsvTitles(std::span<const CsvColumn> columns);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_CSV_TEXT_H_
