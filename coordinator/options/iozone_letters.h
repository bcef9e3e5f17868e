// IOzone's letters: the option that each one maps to, and which are refused and why. `--help iozone`, the test of
// docs/iozone.md and the refusals are derived from this file and the option table.
#ifndef COORDINATOR_OPTIONS_IOZONE_LETTERS_H_
#define COORDINATOR_OPTIONS_IOZONE_LETTERS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

// An IOzone letter that is not supported.
struct RefusedLetter {
  std::string_view letter;  // "d", "+X"
  bool takes_argument;
  std::string_view meaning;  // its meaning in IOzone
  std::string_view why;      // why it is refused and what to do instead
};
// Every letter of IOzone that is neither in the option table nor a LaunchLetter. A test compares them with
// what IOzone has.
std::span<const RefusedLetter> RefusedLetters();

// An option outside the option table: it selects where things run or what is printed.
struct LaunchLetter {
  std::string_view letter;  // "+m", "h"
  std::string_view name;
  bool takes_argument;
  std::string_view help;
};
std::span<const LaunchLetter> LaunchLetters();

// Returns InvalidArgument with the message "-+d (…): why".
absl::Status RefusalOf(const RefusedLetter& letter);

// Replaces letters with `+` by long options before CLI11 parses the arguments, because CLI11 does not accept `-+`: "-+p
// 50" and "-+p50" become "--mix-percent=50", "-+V" becomes "--shared-file". All other arguments stay unchanged; nothing
// after "--" is examined. InvalidArgument: a refused or unknown letter, or a missing argument.
absl::StatusOr<std::vector<std::string>> WithLongOptions(const std::vector<std::string>& arguments);

// Returns the text of `--help iozone` in lines of at most `columns`: every letter with the corresponding option, and the
// operations by number.
std::string IozoneHelp(size_t columns);

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_IOZONE_LETTERS_H_
