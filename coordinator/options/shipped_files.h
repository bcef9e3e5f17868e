// The YAML files that come with the program: plans (suites) and mixes, in deploy/.
#ifndef COORDINATOR_OPTIONS_SHIPPED_FILES_H_
#define COORDINATOR_OPTIONS_SHIPPED_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

// One kind of shipped files, in a directory of its own.
struct ShippedKind {
  std::string_view directory;  // "plans"
  std::string_view word;       // "suite": what one of them is called
  std::string_view words;      // "suites"
};
inline constexpr ShippedKind kSuiteFiles{.directory = "plans", .word = "suite", .words = "suites"};
inline constexpr ShippedKind kMixFiles{.directory = "mixes", .word = "mix", .words = "mixes"};
inline constexpr ShippedKind kExpectationFiles{.directory = "expect", .word = "expectation", .words = "expectations"};

// Returns the directory of the kind's files: next to the installed program (PREFIX/share/cluster-iobench/plans),
// otherwise in the source tree that the program was built from. NotFound: there is neither. The same holds for the
// functions below.
absl::StatusOr<std::string> ShippedDirectory(const ShippedKind& kind);

// Returns the names of all files of the kind, sorted, without ".yaml".
absl::StatusOr<std::vector<std::string>> ShippedNames(const ShippedKind& kind);

// True if a word means a file of the user and not a shipped one: it has a slash, or the extension of YAML.
bool IsYamlFile(const std::string& word);

// Returns the path of one file. NotFound: the message lists the names, and those similar to `name`.
absl::StatusOr<std::string> ShippedFile(const ShippedKind& kind, const std::string& name);

// Returns a list for people: each name with the first line of the file's comment, below a line "TITLE in DIRECTORY:".
absl::StatusOr<std::string> ShippedList(const ShippedKind& kind, const std::string& title);

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_SHIPPED_FILES_H_
