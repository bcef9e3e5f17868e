// Text of shells, job files and parameter files, taken apart into words and definitions.
#ifndef COORDINATOR_TRANSLATE_JOB_WORDS_H_
#define COORDINATOR_TRANSLATE_JOB_WORDS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iobench {

// The words of the first command in `text`, as a shell takes them apart: quotes, backslashes, continued lines; without
// comments and redirections. Variables stay as they are.
std::vector<std::string> ShellWords(std::string_view text);

// A [section] of a job file of fio, with its options in order.
struct JobSection {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;
};
std::vector<JobSection> JobSections(std::string_view text);

// A definition in a parameter file of vdbench: sd=sd1,lun=/mnt/f,size=1g. The first pair is its kind and name.
// Parentheses hold lists together: (1,2,4).
using Definition = std::vector<std::pair<std::string, std::string>>;
std::vector<Definition> Definitions(std::string_view text);

// "(1,2,4)" and "1,2,4" as their elements.
std::vector<std::string> ListElements(std::string_view text);

}  // namespace iobench

#endif  // COORDINATOR_TRANSLATE_JOB_WORDS_H_
