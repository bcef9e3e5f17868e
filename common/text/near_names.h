// Suggestions for mistyped names ("did you mean …?").
#ifndef COMMON_TEXT_NEAR_NAMES_H_
#define COMMON_TEXT_NEAR_NAMES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iobench {

// Returns the names with the smallest edit distance from `typed`, ignoring its case, in the order of `names`. A
// replaced letter counts as an insertion and a deletion, so that abbreviations are nearer than other words. Empty if
// that distance exceeds half the length of `typed`. REQUIRES: names are in lower case.
std::vector<std::string> NamesNear(std::string_view typed, std::span<const std::string_view> names);

// Returns "; did you mean --lanes or --lane?" with `prefix` before each name, or "" if no name is near.
std::string DidYouMean(std::string_view typed, std::span<const std::string_view> names,
                       std::string_view prefix = "");

}  // namespace iobench

#endif  // COMMON_TEXT_NEAR_NAMES_H_
