// A line of another tool as one of ours, with what differs.
#ifndef COORDINATOR_TRANSLATE_TRANSLATION_H_
#define COORDINATOR_TRANSLATE_TRANSLATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/translate/foreign_line.h"
#include "coordinator/translate/foreign_tool.h"
#include "coordinator/translate/our_line.h"

namespace iobench {

// What some workers do while the others do something else.
struct TranslatedPart {
  std::string name;
  OurLine options;
  uint32_t workers = 1;  // with one lane each
};

// A command of ours. If it has parts, or phases to leave out, only a plan can say it.
struct TranslatedCommand {
  std::vector<std::string> launcher;  // mpirun -np 32
  std::string command;                // "validate"; empty: run
  OurLine options;
  std::vector<TranslatedPart> parts;        // all at the same time
  std::vector<std::string> without_phases;  // names of phases of the suite in `options`

  bool needs_plan() const { return !parts.empty() || !without_phases.empty(); }
  // The whole line: mpirun -np 32 cluster-iobench --path … REQUIRES: !needs_plan().
  std::vector<std::string> Words() const;
};

// How an option of the other tool differs from what it became.
struct Difference {
  std::string option;
  std::string text;
};

struct Translation {
  const ForeignTool* tool = nullptr;
  std::vector<TranslatedCommand> commands;  // one after the other
  std::vector<Difference> differences;

  // Once, however often it is said.
  void Say(std::string option, std::string text);
};

// Translates a command line. `words`: of one of the tools, perhaps with what launches it; or one word that is the whole
// line, which is taken apart as a shell would. NotFound: no word is the name of one of the tools. InvalidArgument: why
// it cannot be translated.
absl::StatusOr<Translation> TranslateWords(std::vector<std::string> words);

// Translates a job file of fio or a parameter file of vdbench, whichever its text is. NotFound: it is neither.
absl::StatusOr<Translation> TranslateJobFile(const std::string& text);

// The file that the words name as a job file: `fio FILE`, `vdbench -f FILE` or FILE alone; empty: none, the words say all.
std::string JobFileIn(const std::vector<std::string>& words);

// The tool that has most of these options, which our program does not know. Null: no tool has any of them.
const ForeignTool* ToolWith(std::span<const std::string> unknown_names);

// A line of ours on which options of the tool stand, without the program's name: the translated line, with those of our
// options that the tool does not know. nullopt: it cannot be translated, or needs a plan.
std::optional<std::vector<std::string>> TranslateMixedWords(const ForeignTool& tool,
                                                            std::span<const std::string> words);

// The same for a line that only has letters, which are ours, too: it is translated if it is a typical one of a tool.
struct MeantLine {
  const ForeignTool* tool;
  std::vector<std::string> words;  // empty: it becomes a plan, or several lines
};
std::optional<MeantLine> LineOfLetters(std::span<const std::string> words);

// Adds what the rows of the table say to the line of ours, and the differences. For the tools' functions. InvalidArgument:
// an option without which the line would be another one, or a wrong value.
absl::Status AddByTable(const ForeignLine& line, OurLine& ours, Translation& into);

}  // namespace iobench

#endif  // COORDINATOR_TRANSLATE_TRANSLATION_H_
