#include "coordinator/translate/job_words.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace iobench {
namespace {

std::string Stripped(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size())));
}

std::vector<std::string> Lines(std::string_view text) {
  return absl::StrSplit(absl::string_view(text.data(), text.size()), '\n');
}

// "key = value" as its two parts; the value is empty without an equals sign.
std::pair<std::string, std::string> KeyAndValue(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {Stripped(text), ""};
  return {Stripped(text.substr(0, equals)), Stripped(text.substr(equals + 1))};
}

// At commas that are in no parentheses.
std::vector<std::string> SplitOutsideOfLists(const std::string& text) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

}  // namespace

std::vector<std::string> ShellWords(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false, redirects = false;
  const auto end_word = [&] {
    if (in_word && redirects) words.pop_back();
    if (in_word) redirects = false;
    in_word = false;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool continues = c == '\\' && i + 1 < text.size() && text[i + 1] == '\n';
    if (continues) ++i;
    if (continues || c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      end_word();
      continue;
    }
    if (c == '|' || c == ';' || c == '&' || (c == '#' && !in_word)) {
      if (c != '&' || words.empty() || !in_word) break;
      continue;  // 2>&1
    }
    if (c == '>' || c == '<') {
      if (in_word && (words.back() == "2" || words.back() == "1")) words.back().clear();
      if (in_word && words.back().empty()) {
        words.pop_back();
        in_word = false;
      }
      end_word();
      redirects = true;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\'' || c == '"') {
      for (++i; i < text.size() && text[i] != c; ++i) {
        if (c == '"' && text[i] == '\\' && i + 1 < text.size()) ++i;
        words.back() += text[i];
      }
    } else if (c == '\\' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else {
      words.back() += c;
    }
  }
  end_word();
  return words;
}

std::vector<JobSection> JobSections(std::string_view text) {
  std::vector<JobSection> sections;
  for (const std::string& each : Lines(text)) {
    const std::string line = Stripped(each);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      sections.push_back({line.substr(1, line.find(']') - 1), {}});
    } else if (!sections.empty()) {
      std::string option = line;
      const size_t comment = std::min(option.find(" #"), option.find(" ;"));
      if (comment != std::string::npos) option.erase(comment);
      sections.back().options.push_back(KeyAndValue(option));
    }
  }
  return sections;
}

std::vector<Definition> Definitions(std::string_view text) {
  std::vector<Definition> definitions;
  bool continues = false;
  for (const std::string& each : Lines(text)) {
    std::string line = Stripped(each);
    if (line.empty() || line[0] == '#' || line[0] == '*' || line[0] == '/') continue;
    line.erase(std::min(line.find_first_of(" \t"), line.size()));  // the rest is a comment
    if (line == "eof") break;
    if (!continues) definitions.emplace_back();
    for (const std::string& piece : SplitOutsideOfLists(line)) {
      if (!piece.empty()) definitions.back().push_back(KeyAndValue(piece));
    }
    continues = absl::EndsWith(line, ",");
  }
  return definitions;
}

std::vector<std::string> ListElements(std::string_view text) {
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  return absl::StrSplit(absl::string_view(text.data(), text.size()), ',', absl::SkipWhitespace());
}

}  // namespace iobench
