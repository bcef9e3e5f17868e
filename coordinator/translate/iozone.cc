// IOzone: its letters are options of ours, so only those that are refused are left out.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/options/iozone_letters.h"
#include "coordinator/translate/foreign_tool.h"
#include "coordinator/translate/translation.h"

namespace iobench {
namespace {

// The refused letter that the word gives, alone or before its argument; null: none.
const RefusedLetter* IozoneRefused(const std::string& word) {
  for (const RefusedLetter& letter : RefusedLetters()) {
    const std::string typed = absl::StrCat("-", std::string(letter.letter));
    const bool plus = letter.letter.size() > 1;
    const bool argument_follows =
        word.size() > typed.size() && word[typed.size()] >= '0' && word[typed.size()] <= '9';
    if (word == typed || (word.starts_with(typed) && (plus || (letter.takes_argument && argument_follows))))
      return &letter;
  }
  return nullptr;
}

absl::Status TranslateIozone(const ForeignLine& line, Translation& into) {
  TranslatedCommand command;
  command.launcher = line.launcher();
  const std::vector<std::string>& words = line.words();
  for (size_t at = 0; at < words.size(); ++at) {
    const RefusedLetter* const refused = IozoneRefused(words[at]);
    if (refused == nullptr) {
      command.options.AddWord(words[at]);
      continue;
    }
    const std::string typed = absl::StrCat("-", std::string(refused->letter));
    into.Say(typed, absl::StrCat(std::string(refused->meaning), ": ", std::string(refused->why)));
    if (refused->takes_argument && words[at] == typed) ++at;
  }
  into.Say("all",
           "the letters are the same here; docs/iozone.md says what differs, --help iozone lists them");
  into.commands.push_back(std::move(command));
  return absl::OkStatus();
}

}  // namespace

const ForeignTool kIozoneTool = {
    .name = "IOzone",
    .called = "iozone iozone3",
    .dashes = ForeignDashes::kNone,
    .options = {},
    .example = "iozone -t 8 -i 0 -i 1 -s 1g -r 1m -c -e",
    .translate = TranslateIozone,
};

}  // namespace iobench
