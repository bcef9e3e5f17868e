// Bonnie and Bonnie++: their options and command lines.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/translate/foreign_tool.h"
#include "coordinator/translate/translation.h"

namespace iobench {
namespace {

using B = Becomes;
using V = ForeignValue;

// clang-format off
constexpr ForeignOption kBonnieRows[] = {
    {"d", "DIR", V::kText, B::kTogether, "--path", ""},
    {"s", "MIB[:CHUNK]", V::kText, B::kTogether, "-s, -r", ""},
    {"n", "N[:MAX:MIN:DIRS:CHUNK]", V::kText, B::kTogether, "--items N × 1024, --file-bytes MAX, --min-file-bytes MIN, --tree-branching DIRS", ""},
    {"x", "N", V::kNumber, B::kOption, "repeat", ""},
    {"m", "NAME", V::kText, B::kOption, "label", ""},
    {"u", "USER", V::kText, B::kTogether, "--user", ""},
    {"g", "GROUP", V::kText, B::kLost, "", "the group is that of --user"},
    {"r", "MIB", V::kNumber, B::kNothing, "", "memory is measured on every client; -s 2xram makes files larger than it, and --cold checks that reads are cold"},
    {"b", "", V::kFlag, B::kOption, "sync", "every write is on disk when it returns (O_SYNC)"},
    {"f", "[MIB]", V::kFlag, B::kTogether, "without putc and getc", ""},
    {"D", "", V::kFlag, B::kOption, "direct", "O_DIRECT in all block tests, not only in the first two"},
    {"c", "N", V::kNumber, B::kOption, "spawn", "N processes really run at once; in Bonnie++ the number is a label"},
    {"z", "SEED", V::kNumber, B::kOption, "seed", ""},
    {"Z", "FILE", V::kText, B::kLost, "", "--seed N repeats a run"},
    {"q", "", V::kFlag, B::kNothing, "", "--format bonnie-csv prints Bonnie++'s CSV, --format bonnie its table"},
    {"p", "N", V::kNumber, B::kLost, "", "workers on all hosts start each test at one instant, without semaphores"},
    {"y", "KIND", V::kText, B::kLost, "", "workers on all hosts start each test at one instant, without semaphores"},
};
constexpr std::string_view kBonnieCharacters[] = {"characters out", "characters in"};
constexpr std::string_view kBonnieBlocks[] = {"blocks out", "rewrite", "blocks in", "seeks"};
constexpr std::string_view kBonnieFiles[] = {"create in order", "stat in order", "delete in order",
                                             "create in random order", "stat in random order", "delete in random order"};
// clang-format on

void BonnieWithout(std::span<const std::string_view> phases, TranslatedCommand& command) {
  for (const std::string_view phase : phases) command.without_phases.emplace_back(phase);
}

// -s 1024, 20g, 3000:64k. 0: no tests of data.
absl::Status BonnieSize(const std::string& text, TranslatedCommand& command) {
  if (text.empty()) return absl::OkStatus();
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes, ForeignBytes(parts[0], 1_MiB));
  if (bytes == 0) {
    BonnieWithout(kBonnieCharacters, command);
    BonnieWithout(kBonnieBlocks, command);
    command.options.Add("size", "1m");  // of no phase that is left
    return absl::OkStatus();
  }
  command.options.AddBytes("size", bytes);
  if (parts.size() > 1 && !parts[1].empty()) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t chunk, ForeignBytes(parts[1], 1));
    command.options.AddBytes("record", chunk);
  }
  return absl::OkStatus();
}

// -n 16:100000:16:64. 0: no tests of files.
absl::Status BonnieFileNumber(const std::string& text, Translation& into, TranslatedCommand& command) {
  if (text.empty()) return absl::OkStatus();
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t thousands, ForeignBytes(parts[0], 1));
  if (thousands == 0) {
    BonnieWithout(kBonnieFiles, command);
    return absl::OkStatus();
  }
  constexpr uint64_t kPerUnit = 1024;
  command.options.Add("items", absl::StrCat(thousands * kPerUnit));
  const auto part = [&parts](size_t i) { return i < parts.size() ? parts[i] : std::string(); };
  if (part(1) == "-1" || part(1) == "-2") {
    into.Say("-n", "links are not made in place of files; --op link and symlink make them");
    return absl::OkStatus();
  }
  for (const auto& [index, name] : {std::pair(size_t{1}, "file-bytes"), {size_t{2}, "min-file-bytes"}}) {
    if (part(index).empty()) continue;
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes, ForeignBytes(part(index), 1));
    if (bytes > 0 && part(1) != part(2)) command.options.AddBytes(name, bytes);
    if (bytes > 0 && part(1) == part(2)) command.options.AddBytes("file-bytes", bytes);
  }
  if (!part(4).empty()) into.Say("-n", "the chunks of files have no size of their own here");
  if (!part(3).empty() && part(3) != "0") {
    command.options.Add("tree-depth", "1");
    command.options.Add("tree-branching", part(3));
  }
  return absl::OkStatus();
}

absl::Status TranslateBonnie(const ForeignLine& line, Translation& into) {
  TranslatedCommand command;
  OurLine& ours = command.options;
  IOBENCH_RETURN_IF_ERROR(AddDirectory(line.Has("d") ? line.Text("d") : ".", ours));
  ours.Add("suite", "bonnie");
  IOBENCH_RETURN_IF_ERROR(BonnieSize(line.Text("s"), command));
  const std::string number = line.Text("n");
  IOBENCH_RETURN_IF_ERROR(BonnieFileNumber(number, into, command));
  if (line.Has("f")) {
    BonnieWithout(kBonnieCharacters, command);
  } else {
    into.Say("characters", "putc and getc move 3 MiB through stdio; their cost is the processor's");
  }
  if (const std::string user = line.Text("u"); !user.empty())
    ours.Add("user", user.substr(0, user.find(':')));
  IOBENCH_RETURN_IF_ERROR(AddByTable(line, ours, into));
  into.Say(
      "all",
      "no figure is replaced by +++++: one that was too short has a mark; --format bonnie prints Bonnie++'s own table");
  into.commands.push_back(std::move(command));
  return absl::OkStatus();
}

}  // namespace

const ForeignTool kBonnieTool = {
    .name = "Bonnie++",
    .called = "bonnie++ bonnie",
    .dashes = ForeignDashes::kOne,
    .options = kBonnieRows,
    .example = "bonnie++ -d /mnt/nfs -s 64g -n 16 -m filer1 -x 3 -u nobody",
    .typical =
        [](const ForeignLine& line) {
          return line.words().empty() && absl::StrContains(line.Text("d"), "/");
        },
    .translate = TranslateBonnie,
};

}  // namespace iobench
