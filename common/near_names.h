// "Did you mean …?": the names nearest to what was typed.
#ifndef COMMON_NEAR_NAMES_H_
#define COMMON_NEAR_NAMES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iobench {

// The names at the smallest distance from `typed`, whatever its case, unless even that is more than half of what was
// typed.
std::vector<std::string> NamesNear(std::string_view typed, std::span<const std::string_view> names);

// "; did you mean --lanes or --lane?", each name behind `prefix`; empty where no name is near.
std::string DidYouMean(std::string_view typed, std::span<const std::string_view> names,
                       std::string_view prefix = "");

}  // namespace iobench

#endif  // COMMON_NEAR_NAMES_H_
