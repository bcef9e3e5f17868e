// The options of other tools, one row each, and what becomes of them here. Translations, `--help fio`, the answers to
// unknown options and docs/coming-from.md all come from these rows.
#ifndef COORDINATOR_TRANSLATE_FOREIGN_TOOL_H_
#define COORDINATOR_TRANSLATE_FOREIGN_TOOL_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace iobench {

class ForeignLine;
struct Translation;

// How the argument is written. Its tool's own units are converted by the tool's function, if it has any.
enum class ForeignValue {
  kFlag,     // none
  kYesNo,    // 0, 1, yes, no …; may be left out, for yes
  kText,     // any word
  kNumber,   // a number
  kSize,     // 4k, 1g …
  kSeconds,  // 60, 60s, 2m …
};

enum class Becomes {
  kOption,    // the option `ours` with the same value, or with the value that it names: "engine=mmap"
  kTogether,  // what `ours` says, together with other options: the tool's function makes it
  kNothing,   // nothing needs to be said here; `note` says why
  kLost,      // there is nothing like it here: the line is translated without it, and `note` says so
  kRefused,   // a line with it is not translated, for the reason in `note`
};

struct ForeignOption {
  std::string_view names;  // separated by blanks; the first is the one that the tool's users write most
  std::string_view argument = {};  // "SIZE"; empty: a flag
  ForeignValue value = ForeignValue::kFlag;
  Becomes becomes = Becomes::kNothing;
  std::string_view ours =
      {};  // kOption: a long name of ours, with "=VALUE" if that is fixed; kTogether: what it becomes
  std::string_view note = {};  // what differs; shown with each translation, unless it becomes nothing
};

// How a tool's options begin on its command line.
enum class ForeignDashes {
  kOne,   // -x; flags may be joined
  kBoth,  // -x and --long
  kLong,  // --long, and -long, too
  kNone,  // the table has no options of its command line
};

struct ForeignTool {
  std::string_view name;    // as its users write it: "fio", "IOR"
  std::string_view called;  // the names of its program, in lower case, separated by blanks
  ForeignDashes dashes = ForeignDashes::kOne;
  std::span<const ForeignOption> options;
  std::string_view example;  // a line of it, in docs/coming-from.md
  // True if the options can hardly be meant as ours although their letters are letters of ours. Null: they never are.
  bool (*typical)(const ForeignLine& line) = nullptr;
  // Translates a line of the tool, and the text of a job file. InvalidArgument: why it cannot be. Null: it has none.
  absl::Status (*translate)(const ForeignLine& line, Translation& into) = nullptr;
  absl::Status (*translate_file)(const std::string& text, Translation& into) = nullptr;
};

// All tools, in the order of the documents.
std::span<const ForeignTool> ForeignTools();

// The tool whose program has this name, perhaps in a directory and with .py at its end; null: none.
const ForeignTool* FindForeignTool(std::string_view program);

// The row with this name; null: none.
const ForeignOption* FindForeignOption(const ForeignTool& tool, std::string_view name);

// Defined in NAME.cc.
extern const ForeignTool kFioTool, kIorTool, kMdtestTool, kElbenchoTool, kBonnieTool, kSmallfileTool,
    kIozoneTool, kVdbenchTool;

}  // namespace iobench

#endif  // COORDINATOR_TRANSLATE_FOREIGN_TOOL_H_
