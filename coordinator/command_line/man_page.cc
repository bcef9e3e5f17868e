// The man page: cluster-iobench(1), in the macros of man(7).
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/version.h"
#include "coordinator/command_line/command_help.h"
#include "coordinator/command_line/examples.h"

namespace iobench {
namespace {

// Returns text that roff shows as it is. A line must not begin with a control character, and hyphens in options must
// stay minus signs that can be copied.
std::string Roff(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '|') {
      result += "|\\:";  // lists of names may be broken here
    } else if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n')) {
      absl::StrAppend(&result, "\\&", std::string(1, c));
    } else if (text.substr(i).starts_with("…")) {
      result += "...";
      i += std::string_view("…").size() - 1;
    } else {
      result += c;
    }
  }
  return result;
}

std::string OptionEntry(const OptionHelp& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(absl::StrCat("\\fB", Roff(name), "\\fR"));
  const std::string argument =
      option.argument.empty() ? "" : absl::StrCat(" \\fI", Roff(option.argument), "\\fR");
  return absl::StrCat(".TP\n", absl::StrJoin(names, ", "), argument, "\n", Roff(option.help), "\n");
}

// The options of a command, under the titles of its help. Positional arguments come first.
std::string OptionEntries(const CommandHelp& command, bool with_groups) {
  std::string text, group;
  for (const bool positional : {true, false}) {
    for (const OptionHelp& option : command.options) {
      if (option.positional != positional) continue;
      if (with_groups && option.group != group) absl::StrAppend(&text, ".SS \"", Roff(option.group), "\"\n");
      group = option.group;
      absl::StrAppend(&text, OptionEntry(option));
    }
  }
  return text;
}

// Those of `run`, and the first of every other command.
std::string Examples(const std::vector<CommandHelp>& commands) {
  std::string text = ".SH EXAMPLES\n";
  for (const CommandHelp& command : commands) {
    std::span<const Example> examples = ExamplesOf(command.name);
    if (command.name != "run") examples = examples.first(std::min<size_t>(examples.size(), 1));
    for (const Example& example : examples)
      absl::StrAppend(&text, ".TP\n.B ", Roff(example.line), "\n", Roff(example.does), "\n");
  }
  return text;
}

constexpr char kBegin[] = R"(.SH NAME
cluster\-iobench \- measure what a shared file system can do, from many clients at once
.SH SYNOPSIS
)";

constexpr char kDescription[] = R"(.SH DESCRIPTION
.B cluster\-iobench
runs synchronised phases of I/O on workers on many clients and reports what they moved together,
with marks that say how far each figure can be trusted.
Workers run in this process, in other processes on this host, on clients over ssh, or as MPI ranks.
The default command is
.BR run .
)";

constexpr char kEnd[] = R"(.SH FILES
.TP
.I DIR/cluster\-iobench.data/
test data; removed at the end unless
.B \-\-keep
is given
.TP
.I cluster\-iobench.out/TIME/
results: report.html, result.json, phases.csv, result.csv, and raw/ with the measured data
.SH EXIT STATUS
.TP
.B 0
everything was measured, and every criterion was met
.TP
.B 1
bad usage or plan; nothing was written
.TP
.B 2
I/O or verification failed
.TP
.B 3
a worker was lost
.TP
.B 4
a criterion was not met
.TP
.B 130
interrupted
.SH SEE ALSO
.BR fio (1),
.BR iozone (1),
.BR nfs (5)
)";

}  // namespace

std::string ManPage(const std::vector<CommandHelp>& commands) {
  std::string page = absl::StrCat(".TH CLUSTER-IOBENCH 1 \"\" \"cluster-iobench ", Roff(kProgramVersion),
                                  "\" \"User Commands\"\n", kBegin);
  std::string synopsis, list, chapters;
  for (const CommandHelp& command : commands) {
    std::string arguments;
    for (const OptionHelp& option : command.options) {
      if (option.positional) absl::StrAppend(&arguments, " \\fI", Roff(option.names.front()), "\\fR");
    }
    absl::StrAppend(&synopsis, synopsis.empty() ? "" : ".br\n", ".B cluster\\-iobench ",
                    command.name == "run" ? "" : Roff(command.name), command.name == "run" ? "" : "\n", "");
    absl::StrAppend(&synopsis, command.name == "run" ? "\n" : "", "[\\fIoption\\fR ...]", arguments, "\n");
    absl::StrAppend(&list, ".TP\n.B ", Roff(command.name), "\n", Roff(command.help), "\n");
    const bool is_run = command.name == "run";
    absl::StrAppend(&chapters, ".SH \"OPTIONS OF ", Roff(command.name), "\"\n",
                    OptionEntries(command, is_run));
  }
  return absl::StrCat(page, synopsis, Examples(commands), kDescription, ".SH COMMANDS\n", list, chapters, kEnd);
}

}  // namespace iobench
