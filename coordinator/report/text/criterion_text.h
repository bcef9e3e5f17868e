// A run's criteria and their figures as text.
#ifndef COORDINATOR_REPORT_TEXT_CRITERION_TEXT_H_
#define COORDINATOR_REPORT_TEXT_CRITERION_TEXT_H_

#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// "met", "not met" or "undecided" (which counts as not met).
const char* VerdictText(const v1::CriterionReport& criterion);

// "912 MiB/s", "5,210 ops/s", "9.8 ms", "0.98": what was measured; "-" if nothing was. If rounding would make it equal
// the limit although the limit was missed, it has all digits.
std::string MeasuredText(const v1::CriterionReport& criterion);

// The verdict on the run: "All 3 criteria are met.", "2 of 3 criteria are not met." … Empty: there are none.
std::string RunVerdictText(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_CRITERION_TEXT_H_
