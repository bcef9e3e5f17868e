#include "coordinator/translate/foreign_help.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/text/display_text.h"
#include "common/text/shell_word.h"
#include "coordinator/translate/our_line.h"
#include "coordinator/translate/translation.h"

namespace iobench {
namespace {

constexpr size_t kHelpColumns = 80;

// "--bs SIZE", "-b SIZE", "xfersize=SIZE": as the tool's users write it, with its other names.
std::string TheirNames(const ForeignTool& tool, const ForeignOption& option) {
  std::vector<std::string> names = absl::StrSplit(std::string(option.names), ' ');
  for (std::string& name : names) {
    if (tool.dashes != ForeignDashes::kNone) name = absl::StrCat(name.size() == 1 ? "-" : "--", name);
  }
  return absl::StrJoin(names, ", ");
}

std::string TheirArgument(const ForeignTool& tool, const ForeignOption& option) {
  if (option.argument.empty()) return "";
  return absl::StrCat(tool.dashes == ForeignDashes::kLong || tool.dashes == ForeignDashes::kNone ? "=" : " ",
                      std::string(option.argument));
}

std::string BecomesText(const ForeignOption& option) {
  switch (option.becomes) {
    case Becomes::kOption:
    case Becomes::kTogether:
      return OursOf(option);
    case Becomes::kNothing:
      return "needs nothing";
    case Becomes::kLost:
      return "nothing like it";
    case Becomes::kRefused:
      return "not supported";
  }
  return "";
}

// A cell of a table in Markdown.
std::string Cell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}});
}

std::string TranslatedExample(const ForeignTool& tool) {
  const auto translation = TranslateWords({std::string(tool.example)});
  if (!translation.ok() || translation->commands.empty() || translation->commands[0].needs_plan()) return "";
  return ShellCommand(translation->commands[0].Words());
}

// Lines of at most `columns`, each but the last with a backslash at its end.
std::string Continued(const std::string& command, size_t columns) {
  const std::vector<std::string> lines = Wrapped(command, columns - 6);
  return absl::StrJoin(lines, " \\\n    ");
}

}  // namespace

std::string OursOf(const ForeignOption& option) {
  if (option.becomes != Becomes::kOption) return std::string(option.ours);
  const size_t equals = option.ours.find('=');
  OurLine line;
  const std::string fixed =
      equals == std::string_view::npos ? "" : std::string(option.ours.substr(equals + 1));
  const bool takes = option.value != ForeignValue::kFlag && option.value != ForeignValue::kYesNo;
  line.Add(option.ours.substr(0, equals), !fixed.empty() ? fixed : takes ? std::string(option.argument) : "");
  return absl::StrJoin(line.Words(), " ");
}

std::string ForeignHelp(const ForeignTool& tool) {
  const std::string program(tool.called.substr(0, tool.called.find(' ')));
  std::string text = absl::StrCat(
      std::string(tool.name), "'s options and what they are here. To translate a ",
      tool.translate == nullptr ? "file:\n  cluster-iobench translate FILE\n\n"
                                : absl::StrCat("line:\n  cluster-iobench translate '", program, " …'\n\n"));
  constexpr size_t kIndent = 4;
  for (const ForeignOption& option : tool.options) {
    for (const std::string& line :
         Wrapped(absl::StrCat(TheirNames(tool, option), TheirArgument(tool, option)), kHelpColumns - 2))
      absl::StrAppend(&text, "  ", line, "\n");
    const std::string note(option.note);
    for (const std::string& line :
         Wrapped(absl::StrCat(BecomesText(option), note.empty() ? "" : absl::StrCat(": ", note)),
                 kHelpColumns - kIndent))
      absl::StrAppend(&text, std::string(kIndent, ' '), line, "\n");
  }
  return text;
}

std::string ComingFromDocument() {
  std::string text =
      "# Coming from fio, IOR, mdtest, elbencho, Bonnie++, smallfile or vdbench\n"
      "\n"
      "For users of other tools: which of our options is theirs, and what differs. The program makes this page from the tables by\n"
      "which it translates: `cluster-iobench --generate coming-from`. IOzone has [a page of its own](iozone.md).\n"
      "\n"
      "```\n"
      "cluster-iobench translate 'fio --name=t --rw=randread --bs=4k --size=1g'   # prints our line, and what differs\n"
      "cluster-iobench translate jobs.fio                                         # a job file of fio or vdbench\n"
      "cluster-iobench --help fio                                                 # this page's table, in the terminal\n"
      "```\n"
      "\n"
      "Lines that can be translated give exit code 0. Jobs that run at the same time become a plan, which is printed as a shell\n"
      "command that writes it. An option of another tool on a command line of ours is answered with the translated line.\n";
  for (const ForeignTool& tool : ForeignTools()) {
    if (tool.options.empty()) continue;
    absl::StrAppend(&text, "\n## ", std::string(tool.name), "\n\n");
    if (const std::string ours = TranslatedExample(tool); !ours.empty()) {
      absl::StrAppend(&text, "```\n", Continued(std::string(tool.example), 120), "\n", Continued(ours, 120),
                      "\n```\n\n");
    }
    absl::StrAppend(&text, "| ", std::string(tool.name), " | here | what differs |\n|---|---|---|\n");
    for (const ForeignOption& option : tool.options) {
      const std::string note(option.note);
      absl::StrAppend(&text, "| `", Cell(absl::StrCat(TheirNames(tool, option), TheirArgument(tool, option))),
                      "` | ", Cell(BecomesText(option)), " | ", Cell(note), " |\n");
    }
  }
  return text;
}

}  // namespace iobench
