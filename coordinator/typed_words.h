// What was typed and is no option: which one was meant.
#ifndef COORDINATOR_TYPED_WORDS_H_
#define COORDINATOR_TYPED_WORDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace iobench {

// Names without their dashes.
struct LongNames {
  std::vector<std::string> known;
  std::vector<std::string> shown;  // that the help shows: a typo is likely to be one of these
};

// Long names as CLI11 will read them, up to a "--". InvalidArgument: one that there is not, a dash that a word processor
// has made of two hyphens, a long name behind a single hyphen; with the name that was likely meant.
absl::Status CheckLongNames(const std::vector<std::string>& arguments, const LongNames& names);

// A word of `run` that belongs to no option: a directory to test in, which needs no --path before it.
bool NamesDirectory(std::string_view word);

// InvalidArgument: the word that stands first is nearly a command.
absl::Status CheckFirstWord(const std::string& word, std::span<const std::string_view> commands);

// InvalidArgument: what a word that names no directory may have been meant for.
absl::Status RefusalOfWord(const std::string& word, const std::vector<std::string>& arguments);

}  // namespace iobench

#endif  // COORDINATOR_TYPED_WORDS_H_
