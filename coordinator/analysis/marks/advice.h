// Advice on a phase, without what the phase does already or its engine cannot do.
#ifndef COORDINATOR_ANALYSIS_MARKS_ADVICE_H_
#define COORDINATOR_ANALYSIS_MARKS_ADVICE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iobench/v1/plan.pb.h"

namespace iobench {

// The options that advice names and that help no more: "-I", "-e", "--cold" … that the phase has, or that its engine
// refuses; of several operations, those of any.
std::vector<std::string_view> OptionsOfNoUse(const v1::Phase& phase);

// Writes out the alternatives in `text`: "use {-I|--cold|larger files}" becomes "use -I, --cold or larger files", without
// those that begin with an option of no use. Empty if braces have no alternative left. Options in advice on marks and limits
// are in braces (tests/structure/test_advice.py).
std::string AdviceFor(std::string_view text, std::span<const std::string_view> of_no_use);
std::string AdviceFor(std::string_view text, const v1::Phase& phase);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_ADVICE_H_
