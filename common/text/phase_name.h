// What a phase of a run is called, the same in every output.
#ifndef COMMON_TEXT_PHASE_NAME_H_
#define COMMON_TEXT_PHASE_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace iobench {

// Returns the phase's name, and its round or repetition (from 0) if there are several: "read, round 2", "read, 2 of 5".
// `repetitions`: of the plan. `in_rounds`: it is repeated in rounds (a soak, or until steady).
std::string NameInRun(std::string_view name, uint32_t repetition, uint32_t repetitions, bool in_rounds);

}  // namespace iobench

#endif  // COMMON_TEXT_PHASE_NAME_H_
