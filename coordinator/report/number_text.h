// How a figure is written in files, the same in all of them.
#ifndef COORDINATOR_REPORT_NUMBER_TEXT_H_
#define COORDINATOR_REPORT_NUMBER_TEXT_H_

#include <string>

namespace iobench {

// Appends the shortest text that reads back as the same number, without an exponent where people would not write one.
// REQUIRES: std::isfinite(value).
void AppendShortest(double value, std::string& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_NUMBER_TEXT_H_
