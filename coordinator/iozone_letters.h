// IOzone's letters: which option of ours each one is, which ones are refused and why. `--help iozone`, docs/iozone.md's
// test and the refusals are made from this and the option table.
#ifndef COORDINATOR_IOZONE_LETTERS_H_
#define COORDINATOR_IOZONE_LETTERS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

// A letter that has no option here.
struct RefusedLetter {
  std::string_view letter;  // "d", "+X"
  bool takes_argument;
  std::string_view meaning;  // IOzone's
  std::string_view why;      // it is refused, and what to do
};
std::span<const RefusedLetter> RefusedLetters();

// An option that is not in the option table: it says where things run, or what is printed.
struct PlaceLetter {
  std::string_view letter;
  std::string_view name;
  bool takes_argument;
  std::string_view help;
};
std::span<const PlaceLetter> PlaceLetters();

// "-+d (…): why". InvalidArgument always.
absl::Status RefusalOf(const RefusedLetter& letter);

// CLI11 refuses `-+`, so one pass over argv comes first: "-+p 50" and "-+p50" become "--mix-percent=50", "-+V" becomes
// "--shared-file". InvalidArgument: a refused letter, or none that anybody knows; a missing argument. Everything else
// stays as it is; nothing after "--" is looked at.
absl::StatusOr<std::vector<std::string>> WithLongOptions(const std::vector<std::string>& arguments);

// Every letter with ours beside, and the operations by number: `--help iozone`.
std::string IozoneHelp();

}  // namespace iobench

#endif  // COORDINATOR_IOZONE_LETTERS_H_
