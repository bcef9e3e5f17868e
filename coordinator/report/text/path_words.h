// How the paths of a run with --each-path compare, in words.
#ifndef COORDINATOR_REPORT_TEXT_PATH_WORDS_H_
#define COORDINATOR_REPORT_TEXT_PATH_WORDS_H_

#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns "85 %": the rate on a path relative to that on the first one; "-" if one of them is unknown.
std::string RatioText(const v1::EachPathCell& cell);
// Returns what the repetitions show: "better (+3 % to +9 %)", "worse (…)", "not shown (-4 % to +7 %)"; without repetitions
// "".
std::string VerdictText(const v1::EachPathCell& cell);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_PATH_WORDS_H_
