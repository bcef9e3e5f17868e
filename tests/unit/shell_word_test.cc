#include "common/text/shell_word.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"

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

}  // namespace
}  // namespace iobench
