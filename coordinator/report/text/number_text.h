// The number format that all result files use.
#ifndef COORDINATOR_REPORT_TEXT_NUMBER_TEXT_H_
#define COORDINATOR_REPORT_TEXT_NUMBER_TEXT_H_

#include <string>

namespace iobench {

// Appends the shortest text that reads back as the same number, avoiding an exponent for values that people would write
// without one. REQUIRES: std::isfinite(value).
void AppendShortest(double value, std::string& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_NUMBER_TEXT_H_
