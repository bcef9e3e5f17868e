#include "common/text/shell_word.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace iobench {
namespace {

std::string AsTheShellReads(const std::string& word) {
  FILE* const shell = popen(absl::StrCat("printf %s ", word).c_str(), "r");
  REQUIRE(shell != nullptr);
  std::array<char, 256> text{};
  const size_t size = fread(text.data(), 1, text.size(), shell);
  REQUIRE(pclose(shell) == 0);
  return {text.data(), size};
}

TEST_CASE("a word that needs no quotes has none") {
  for (const char* word : {"/mnt/nfs", "nfs://[::1]", "host:9400", "a_b-c.d+e,f@g%h=i"}) {
    INFO(word);
    CHECK((ShellWord(word) == word) == (std::string(word).find('[') == std::string::npos));
  }
}

TEST_CASE("a shell reads back what was meant") {
  for (const std::string text :
       {"", "a b", "it's", "$HOME `id` \"x\" \\", "nfs://h/p?a=1&b=2", "~root", "#x", "a\nb", "*"}) {
    INFO(text);
    CHECK(AsTheShellReads(ShellWord(text)) == text);
  }
}

TEST_CASE("a shell takes a command apart into the words that it was made of") {
  const std::vector<std::string> words = {"--require", "write>=900MiB/s", "--label", "it's 5 o'clock; $HOME",
                                          "--path",    "/mnt/a b",        "",        "-i",
                                          "0",         "*",               "a\\b",    "\"q\""};
  const std::string command = ShellCommand(words);
  FILE* const shell = popen(absl::StrCat("printf '%s\\n' ", command).c_str(), "r");
  REQUIRE(shell != nullptr);
  std::array<char, 1024> text{};
  const size_t size = fread(text.data(), 1, text.size(), shell);
  REQUIRE(pclose(shell) == 0);
  CHECK(std::string(text.data(), size) == absl::StrCat(absl::StrJoin(words, "\n"), "\n"));

  const auto read = WordsOfCommand(command);
  REQUIRE(read.has_value());
  std::vector<std::string> texts;
  for (const QuotedWord& word : *read) texts.push_back(word.text);
  CHECK(texts == words);
  CHECK((*read)[1].quoted);
  CHECK_FALSE((*read)[0].quoted);
}

TEST_CASE("what only a shell can take apart is not guessed") {
  CHECK_FALSE(WordsOfCommand("it's").has_value());
  CHECK_FALSE(WordsOfCommand("a $HOME").has_value());
  CHECK_FALSE(WordsOfCommand("write>=900MiB/s").has_value());
}

}  // namespace
}  // namespace iobench
