// Text cells of CSV files.
#ifndef COORDINATOR_REPORT_TEXT_CSV_TEXT_H_
#define COORDINATOR_REPORT_TEXT_CSV_TEXT_H_

#include <string>
#include <string_view>

namespace iobench {

// RFC 4180: a value with a comma, a quote or a line break is quoted, and quotes in it are doubled. Values with spaces
// at their ends are quoted too, since readers differ on whether these belong to the value.
std::string CsvText(std::string_view value);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_CSV_TEXT_H_
